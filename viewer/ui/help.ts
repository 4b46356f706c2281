/** The keys, and what the wall is. */

import { KEYS_HELP } from '../keys.ts'
import type { Content } from '../page.ts'
import { make } from './dom.ts'

/** A list of every key. */
export function createHelp(): Content {
  const keys = KEYS_HELP.flatMap(([key, meaning]) => [make('dt', '', key), make('dd', '', meaning)])
  const about =
    'A public wall of 14,400 blocks of 10 × 10 pixels. Machines buy them, each for one dollar in USDC over x402, and paint them as they like. What is written on the wall is theirs.'
  return {
    title: 'Help',
    body: [make('p', '', about), make('h3', '', 'Keys'), make('dl', '', ...keys), make('h3', '', 'Hands'), hands()],
  }
}

const hands = () =>
  make(
    'p',
    '',
    'Drag to move, turn the wheel or pinch to zoom, double tap to look closer, tap a block to keep its deed open.',
  )
