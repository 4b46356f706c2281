/** The action of each key. */

import type { Action } from '../state.ts'

/** The relevant part of a key press. */
export type Press = {
  readonly key: string
  readonly code: string // the key's position, so that W A S D are the same keys on every keyboard layout
  readonly shiftKey: boolean
  readonly onWall: boolean // whether the wall itself has the focus
}

/** The zoom factor of one press of a key or a button. */
export const ZOOM_STEP = 1.5

const PAN_PX = 80
const LEAP_BLOCKS = 10

/** The keys and their actions, as the page's help lists them. */
export const KEYS_HELP: readonly (readonly [keys: string, meaning: string])[] = [
  ['W A S D, arrows', 'move the wall'],
  ['+ and −', 'zoom'],
  ['0', 'show the whole wall'],
  ['Tab, then arrows', 'move from block to block; hold Shift to move ten'],
  ['Enter', 'pin an artwork’s details'],
  ['/', 'search'],
  ['N, P', 'next and previous stop of a tour'],
  ['V', 'colours and theme'],
  ['T', 'history of the wall'],
  ['L', 'share'],
  ['?', 'about the wall, and these keys'],
  ['Esc', 'close'],
]

const directions: Readonly<Record<string, readonly [right: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

const wasd: Record<string, string> = { KeyA: 'ArrowLeft', KeyD: 'ArrowRight', KeyW: 'ArrowUp', KeyS: 'ArrowDown' }

const others: Readonly<Record<string, Action>> = {
  '+': { do: 'zoom', factor: ZOOM_STEP },
  '=': { do: 'zoom', factor: ZOOM_STEP },
  '-': { do: 'zoom', factor: 1 / ZOOM_STEP },
  '0': { do: 'fit' },
  '/': { do: 'open', panel: 'find' },
  n: { do: 'turn', by: 1 },
  p: { do: 'turn', by: -1 },
  v: { do: 'open', panel: 'view' },
  t: { do: 'open', panel: 'time' },
  l: { do: 'open', panel: 'share' },
  '?': { do: 'open', panel: 'about' },
  Escape: { do: 'dismiss' },
}

/** The action of a press; `undefined` if there is none. */
export function findAction({ key, code, shiftKey, onWall }: Press): Action | undefined {
  const arrow = directions[key]
  if (arrow && onWall) {
    const blocks = shiftKey ? LEAP_BLOCKS : 1
    return { do: 'walk', right: arrow[0] * blocks, down: arrow[1] * blocks }
  }
  const way = arrow ?? directions[wasd[code] ?? '']
  // The wall moves in the opposite direction to the view. Subtracting from zero avoids a negative zero.
  if (way) return { do: 'pan', dx: 0 - way[0] * PAN_PX, dy: 0 - way[1] * PAN_PX }
  if (onWall && (key === 'Enter' || key === ' ')) return { do: 'pin' }
  return others[key.length === 1 ? key.toLowerCase() : key]
}
