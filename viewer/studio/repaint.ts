/** Repaints an area: signs, sends, and reports the progress. A request that was lost is sent again with the same signature. */

import { textOf, type Face, type RepaintOrder } from './order/order.ts'
import type { EditResult } from './service.ts'
import type { WalletRefusal } from './wallet.ts'

/** How far a repaint is. `words` say why it failed. */
export type Progress =
  | { readonly state: 'signing' | 'sending' | 'done' }
  | { readonly state: 'failed'; readonly words: string; readonly signed?: RepaintSignature }

/** What a wallet has signed for one order. */
export type RepaintSignature = { readonly ts: number; readonly signature: string }

/** `host` is the name in the signed text. */
export type RepaintDeps = {
  readonly host: string
  readonly clock: { ahead: number } // milliseconds that the service's clock is ahead of ours, as far as is known
  sign(text: string): Promise<string | WalletRefusal>
  send(area: string, body: Face & RepaintSignature): Promise<EditResult>
  tell(progress: Progress): void
}

// The service accepts a signature for five minutes; one minute is left for the transport.
const SIGNED_GOOD_MS = 4 * 60_000

/** Repaints; `kept` is the signature of the same order whose request was lost before. */
export async function repaint(order: RepaintOrder, deps: RepaintDeps, kept?: RepaintSignature): Promise<void> {
  const { clock, send, tell } = deps
  tell({ state: 'signing' })
  const isGood = kept && Math.abs(Date.now() + clock.ahead - kept.ts) < SIGNED_GOOD_MS
  const signed = isGood ? kept : await sign(order, deps)
  if ('declined' in signed) return tell({ state: 'failed', words: signed.words })
  tell({ state: 'sending' })
  const edited = await send(order.area, { ...order.body, ...signed })
  if (edited.kind === 'done') return tell({ state: 'done' })
  // A lost request keeps its signature: sent again, it repaints no more than once.
  if (edited.kind === 'lost') return tell({ state: 'failed', words: edited.words, signed })
  if (edited.now !== undefined) clock.ahead = edited.now - Date.now()
  tell({ state: 'failed', words: edited.words })
}

async function sign(
  order: RepaintOrder,
  { host, clock, sign: ask }: RepaintDeps,
): Promise<RepaintSignature | WalletRefusal> {
  const ts = Date.now() + clock.ahead
  const signature = await ask(textOf(order, host, ts))
  return typeof signature === 'string' ? { ts, signature } : signature
}
