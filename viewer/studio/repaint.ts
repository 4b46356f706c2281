/** Repaints an area: signed for, sent, and told how it ended. A request that was lost is sent again as it was signed. */

import { textOf, type Face, type Repainting } from './order/order.ts'
import type { Edited } from './service.ts'
import type { Unwilling } from './wallet.ts'

/** How far a repaint is. `words` say why it is not done. */
export type Progress =
  | { readonly state: 'signing' | 'sending' | 'done' }
  | { readonly state: 'failed'; readonly words: string; readonly signed?: Signed }

/** What was signed for: an area and a body stay the same order while they are the same objects. */
export type Signed = { readonly ts: number; readonly signature: string }

/** What a repaint needs. `host` is the name that stands in the signed text. */
export type Brush = {
  readonly host: string
  readonly clock: { ahead: number } // milliseconds that the service's clock is ahead of ours, as far as it has told
  sign(text: string): Promise<string | Unwilling>
  send(area: string, body: Face & Signed): Promise<Edited>
  tell(progress: Progress): void
}

// The service takes a signature for five minutes; one minute is left for the way.
const SIGNED_GOOD_MS = 4 * 60_000

/** Repaints; `kept` is what was signed of the same order before, and lost. */
export async function repaint(order: Repainting, brush: Brush, kept?: Signed): Promise<void> {
  const { clock, send, tell } = brush
  tell({ state: 'signing' })
  const isGood = kept && Math.abs(Date.now() + clock.ahead - kept.ts) < SIGNED_GOOD_MS
  const signed = isGood ? kept : await sign(order, brush)
  if ('declined' in signed) return tell({ state: 'failed', words: signed.words })
  tell({ state: 'sending' })
  const edited = await send(order.area, { ...order.body, ...signed })
  if (edited.kind === 'done') return tell({ state: 'done' })
  // Of a request that was lost the signature is kept: sent again, it cannot do more than once what it says.
  if (edited.kind === 'lost') return tell({ state: 'failed', words: edited.words, signed })
  if (edited.now !== undefined) clock.ahead = edited.now - Date.now()
  tell({ state: 'failed', words: edited.words })
}

async function sign(order: Repainting, { host, clock, sign: ask }: Brush): Promise<Signed | Unwilling> {
  const ts = Date.now() + clock.ahead
  const signature = await ask(textOf(order, host, ts))
  return typeof signature === 'string' ? { ts, signature } : signature
}
