/** Repainting in sight: what there is to do, a button, and how each block fares. */

import { cellOf, coordOf, type BlockIndex } from '../../shared/wall.ts'
import { find, make } from '../ui/dom.ts'
import { blocksText } from '../wall/formatting.ts'
import { pictureAt } from '../wall/pixel-buffer.ts'
import { tallyOf } from './cost-summary.ts'
import { faceFor } from './order.ts'
import type { Part, Studio } from './parts.ts'
import { repaint, type Stroke } from './repaint.ts'
import { sendEdit } from './service.ts'
import { pixelsFor, type Sketch } from './sketch.ts'
import { personalSign, type BrowserWallet } from './wallet.ts'

const NOT_THERE = 'The picture covers none of its blocks. Move it there to repaint them.'
const NO_SIGNER =
  'To sign here, connect the wallet that owns them. The requests for your agent include them either way.'
const ALREADY = 'Your blocks show this picture already.'

const states: Readonly<Record<Stroke['state'], string>> = {
  waiting: 'waits',
  signing: 'sign it in your wallet',
  sending: 'being sent',
  done: 'repainted',
  failed: 'not repainted',
}

/** A wallet that can sign, and the address it signs for. */
export type Signer = { readonly wallet: BrowserWallet; readonly address: string }

/** Follows the sketch and runs the repainting. */
export function createRepainting(studio: Studio, signer: () => Signer | undefined): Part {
  const begin = find('repaint', HTMLButtonElement)
  const todo = find('repaint-todo', HTMLElement)
  const sum = find('repaint-sum', HTMLElement)
  const list = find('strokes', HTMLElement)
  let strokes: readonly Stroke[] = []
  let running = false
  const clock = { ahead: 0 }

  const show = () => {
    const sketch = studio.sketch()
    const left = toPaint(sketch).length
    const done = strokes.filter(({ state }) => state === 'done').length
    const isBroken = !running && done < strokes.length
    const mayBegin = signer() !== undefined && (isBroken || left > 0)
    begin.hidden = !mayBegin || running
    begin.textContent = isBroken ? 'Try the rest again' : `Repaint ${blocksText(left)}`
    todo.textContent = strokes.length > 0 ? '' : adviceFor(sketch, left, signer() !== undefined)
    sum.textContent = strokes.length === 0 ? '' : `${done} of ${blocksText(strokes.length)} repainted`
    list.replaceChildren(...strokes.map(lineOf))
  }
  const run = async ({ wallet, address }: Signer) => {
    running = true
    const sketch = studio.sketch()
    if (strokes.every(({ state }) => state === 'done'))
      strokes = toPaint(sketch).map((block) => ({ block, face: faceFor(sketch, block), state: 'waiting' }))
    strokes = await repaint(strokes, {
      host: location.hostname,
      clock,
      sign: (text) => personalSign(wallet, address, text),
      send: sendEdit,
      tell(next) {
        strokes = next
        show()
      },
    })
    running = false
    show()
  }

  begin.addEventListener('click', () => {
    const by = signer()
    if (by !== undefined && !running) void run(by)
  })
  return {
    update(next, before) {
      // What was signed for belongs to the picture, the place and the owner of that time.
      const isOther =
        next.painted !== before.painted ||
        next.at !== before.at ||
        next.words !== before.words ||
        next.mine !== before.mine
      if (isOther && !running) strokes = []
      if (isOther || next.wall !== before.wall) show()
    },
  }
}

function adviceFor(sketch: Sketch, left: number, canSign: boolean): string {
  if (sketch.mine.size === 0) return ''
  if (tallyOf(sketch).mine.length === 0) return NOT_THERE
  if (!canSign) return NO_SIGNER
  return left === 0 ? ALREADY : ''
}

const lineOf = ({ block, state, words }: Stroke) =>
  make('li', state, make('code', '', coordOf(block)), ` ${states[state]}${words === undefined ? '' : `: ${words}`}`)

/** Owned blocks that do not show the picture yet, or are to say something new. */
function toPaint(sketch: Sketch): BlockIndex[] {
  const { wall, words } = sketch
  return tallyOf(sketch).mine.filter((block) => {
    const wanted = pixelsFor(sketch, cellOf(block))
    const claim = wall?.claims.get(block)
    if (wanted === undefined || wall === undefined) return false
    const isPainted = isSame(wanted, pictureAt(wall.atlas, block))
    const isSaid =
      (words.message === '' || claim?.m === words.message) && (words.link === '' || claim?.l === words.link)
    return !(isPainted && isSaid)
  })
}

const isSame = (one: Uint8Array, other: Uint8Array) => one.every((byte, at) => byte === other[at])
