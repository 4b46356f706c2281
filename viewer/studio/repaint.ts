/**
 * A button that repaints an area: it requests a signature, sends the order and shows the progress. After a lost
 * request, a retry uses the same signature.
 */

import { formatBlocks } from '../../shared/money.ts'
import { differsIn } from '../state.ts'
import { queryElement } from '../ui/dom.ts'
import { type RepaintFields, type RepaintOrder, createOrder, formatSignedText } from './order/order.ts'
import { type EditResult, sendEdit } from './service.ts'
import { type Component, type Studio, getArea } from './sketch.ts'
import { type BrowserWallet, type WalletRefusal, personalSign } from './wallet.ts'

const NO_SIGNER = 'To sign here, connect the wallet that owns these blocks. You can also give the order to your agent.'

const states: Readonly<Record<Exclude<Progress['state'], 'failed'>, string>> = {
  signing: 'Waiting for your signature…',
  sending: 'Sending…',
  done: 'Done. Your picture is on the wall.',
}

/** A wallet that can sign, and the address it signs for. */
export type Signer = { readonly wallet: BrowserWallet; readonly address: string }

/** Shows the button if the sketch can be repainted, and runs the repaint. */
export function createRepaintPanel(studio: Studio, signer: () => Signer | undefined): Component {
  const begin = queryElement('repaint', HTMLButtonElement)
  const status = queryElement('repaint-status', HTMLElement)
  const clock = { ahead: 0 }
  let progress: Progress | undefined

  const isRunning = () => progress?.state === 'signing' || progress?.state === 'sending'
  const showProgress = () => {
    const sketch = studio.getSketch()
    const order = createOrder(sketch, location.origin)
    const isTheirs = order?.kind === 'repaint'
    begin.hidden = !isTheirs || signer() === undefined || isRunning()
    const { w, h } = getArea(sketch)
    begin.textContent = progress?.state === 'failed' ? 'Try again' : `Repaint ${formatBlocks(w * h)}`
    if (progress === undefined) status.textContent = isTheirs && signer() === undefined ? NO_SIGNER : ''
    else status.textContent = progress.state === 'failed' ? progress.words : states[progress.state]
  }
  const startRepaint = ({ wallet, address }: Signer) => {
    const order = createOrder(studio.getSketch(), location.origin)
    if (order?.kind !== 'repaint') return
    const kept = progress?.state === 'failed' ? progress.signed : undefined
    const deps = {
      host: location.hostname,
      clock,
      signText: (text: string) => personalSign(wallet, address, text),
      sendRepaint: sendEdit,
      reportProgress(next: Progress) {
        progress = next
        showProgress()
      },
    }
    void repaint(order, deps, kept)
  }

  begin.addEventListener('click', () => {
    const by = signer()
    if (by !== undefined && !isRunning()) startRepaint(by)
  })
  return {
    update(next, before) {
      // A signature is valid only for one picture, position, text and owner.
      const isOther = differsIn(next, before, 'painted', 'at', 'words', 'mine')
      if (isOther && !isRunning()) progress = undefined
      if (isOther || next.wall !== before.wall) showProgress()
    },
  }
}

/** The progress of a repaint. `words` gives the reason for a failure. */
export type Progress =
  | { readonly state: 'signing' | 'sending' | 'done' }
  | { readonly state: 'failed'; readonly words: string; readonly signed?: RepaintSignature }

/** The signature of a wallet for one order. */
export type RepaintSignature = { readonly ts: number; readonly signature: string }

/** The values and functions that a repaint needs; `host` is the host name in the signed text. */
export type RepaintDeps = {
  readonly host: string
  readonly clock: { ahead: number } // milliseconds that the service's clock is ahead of ours, as far as known
  signText(text: string): Promise<string | WalletRefusal>
  sendRepaint(area: string, body: RepaintFields & RepaintSignature): Promise<EditResult>
  reportProgress(progress: Progress): void
}

// The service accepts a signature for five minutes; this leaves one minute for the request to arrive.
const SIGNED_GOOD_MS = 4 * 60_000

/** Repaints an area; `kept` is the signature from an earlier, lost request for the same order. */
export async function repaint(order: RepaintOrder, deps: RepaintDeps, kept?: RepaintSignature): Promise<void> {
  const { clock, sendRepaint, reportProgress } = deps
  reportProgress({ state: 'signing' })
  const isGood = kept && Math.abs(Date.now() + clock.ahead - kept.ts) < SIGNED_GOOD_MS
  const signed = isGood ? kept : await signOrder(order, deps)
  if ('declined' in signed) return reportProgress({ state: 'failed', words: signed.words })
  reportProgress({ state: 'sending' })
  const edited = await sendRepaint(order.area, { ...order.body, ...signed })
  if (edited.kind === 'done') return reportProgress({ state: 'done' })
  // The signature of a lost request is kept, so that a retry cannot repaint twice: each signature repaints at most
  // once.
  if (edited.kind === 'lost') return reportProgress({ state: 'failed', words: edited.words, signed })
  if (edited.now !== undefined) clock.ahead = edited.now - Date.now()
  reportProgress({ state: 'failed', words: edited.words })
}

async function signOrder(order: RepaintOrder, deps: RepaintDeps): Promise<RepaintSignature | WalletRefusal> {
  const ts = Date.now() + deps.clock.ahead
  const signature = await deps.signText(formatSignedText(order, deps.host, ts))
  return typeof signature === 'string' ? { ts, signature } : signature
}
