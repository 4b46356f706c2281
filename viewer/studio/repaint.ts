/** Repaints block after block: each is signed for, sent, and told how it ended. A run can be gone on with. */

import { editMessage } from '../../shared/signing.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import type { Face } from './order.ts'
import type { Edited } from './service.ts'
import type { Unwilling } from './wallet.ts'

/** How far one block is. `words` say why it is not done. */
export type Stroke = {
  readonly block: BlockIndex
  readonly face: Face
  readonly state: 'waiting' | 'signing' | 'sending' | 'done' | 'failed'
  readonly words?: string
  readonly signed?: Signed
}

type Signed = { readonly ts: number; readonly signature: string }

/** What a run needs. `host` is the name that stands in the signed text. */
export type Brush = {
  readonly host: string
  readonly clock: { ahead: number } // milliseconds that the service's clock is ahead of ours, as far as it has told
  sign(text: string): Promise<string | Unwilling>
  send(coord: ReturnType<typeof coordOf>, body: Face & Signed): Promise<Edited>
  tell(strokes: readonly Stroke[]): void
}

// The service takes a signature for five minutes; one minute is left for the way.
const SIGNED_GOOD_MS = 4 * 60_000

/** Goes through all that is not done; ends early when the wallet's owner says no. */
export async function repaint(strokes: readonly Stroke[], brush: Brush): Promise<readonly Stroke[]> {
  const all = [...strokes]
  for (const [at, stroke] of all.entries()) {
    if (stroke.state === 'done') continue
    const put = (next: Stroke) => {
      all[at] = next
      brush.tell([...all])
    }
    if (!(await paintOne(stroke, brush, put))) break
  }
  return all
}

/** Paints one block; answers whether to go on with the next. */
async function paintOne(stroke: Stroke, brush: Brush, put: (next: Stroke) => void): Promise<boolean> {
  const { block, face } = stroke
  put({ block, face, state: 'signing' })
  const signed = stillGood(stroke.signed, brush) ?? (await sign(stroke, brush))
  if ('declined' in signed) {
    put({ block, face, state: 'failed', words: signed.words })
    return !signed.declined
  }
  put({ block, face, state: 'sending', signed })
  const edited = await brush.send(coordOf(block), { ...face, ...signed })
  if (edited.kind === 'done') put({ block, face, state: 'done' })
  // Of a request that was lost the signature is kept: sent again, it cannot do more than once what it says.
  else if (edited.kind === 'lost') put({ block, face, state: 'failed', words: edited.words, signed })
  else {
    if (edited.now !== undefined) brush.clock.ahead = edited.now - Date.now()
    put({ block, face, state: 'failed', words: edited.words })
  }
  return true
}

const stillGood = (signed: Signed | undefined, { clock }: Brush) =>
  signed && Math.abs(Date.now() + clock.ahead - signed.ts) < SIGNED_GOOD_MS ? signed : undefined

async function sign({ block, face }: Stroke, { host, clock, sign: ask }: Brush): Promise<Signed | Unwilling> {
  const ts = Date.now() + clock.ahead
  const signature = await ask(editMessage(host, coordOf(block), ts, face))
  return typeof signature === 'string' ? { ts, signature } : signature
}
