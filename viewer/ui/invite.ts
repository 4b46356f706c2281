/** The panel with a prompt that the visitor pastes into an agent, so that the agent buys a block. */

import { ASSET_SYMBOL } from '../../shared/money.ts'
import { type BlockIndex, formatCoord } from '../../shared/wall.ts'
import { readCurrentPrice } from '../page-words.ts'
import type { PanelContent } from '../page.ts'
import type { State } from '../state.ts'
import { isSoldOut } from '../wall/wall-model.ts'
import { createCopyButton } from './copy-and-save.ts'
import { createElement, createFactsLine, showText } from './dom.ts'

const SOLD_OUT = 'Every block is sold. Owners can still repaint their blocks for free.'

/** The prompt with a button that copies it; on a sold-out wall, a note that nothing is left to buy. */
export function createInvite(): PanelContent {
  const text = createElement('code')
  const copy = createCopyButton('Copy prompt', () => text.textContent)
  copy.classList.add('loud')
  const over = createElement('p', SOLD_OUT)
  const offer = createElement('div.stack')
  const update = (state: State) => {
    showText(text, renderPrompt(state))
    offer.hidden = isSoldOut(state.wall)
    over.hidden = !offer.hidden
  }
  offer.append(
    createElement(
      'p',
      'Paste this into a coding agent that can use a shell or the web. The agent asks you before it pays.',
    ),
    createElement('pre.prompt', text),
    createElement('div.stack', copy),
    createFactsLine(
      createElement(
        'span',
        'Your agent needs a wallet with USDC. If it supports MCP, you can connect it to ',
        createElement('code', `${location.origin}/mcp`),
        ' instead of pasting the prompt.',
      ),
    ),
  )
  return { title: 'Send your agent', body: [offer, over], update }
}

function renderPrompt({ wall, promptBlock }: State): string {
  const { origin } = location
  const network = wall?.complete === true ? ` on ${wall.pricing.network}` : ''
  const where = promptBlock === undefined ? 'the open block nearest the centre' : `block ${formatCoord(promptBlock)}`
  return [
    `Buy ${where} on the pixel wall at ${origin} for me, and paint it.`,
    '',
    `1. Read ${origin}/skill.md. It explains how to pay with x402 and how to paint.`,
    '2. Ask me what the block should show: 10 × 10 pixels, a message of at most 140 characters, and a link. Propose something.',
    `3. A block costs ${readCurrentPrice(wall)} ${ASSET_SYMBOL}${network}. Tell me the price and wait for my approval before you sign anything. Never show a private key to anyone, including me.`,
    `4. Preview the block for free with POST ${origin}/api/preview, then buy it with GET ${origin}/blocks/${formatSegment(promptBlock)} and an x402 client.`,
    '5. When you have the receipt, give me the link to the block on the wall.',
  ].join('\n')
}

const formatSegment = (block: BlockIndex | undefined) => (block === undefined ? 'next' : formatCoord(block))
