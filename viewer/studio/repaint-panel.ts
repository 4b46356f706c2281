/** The button that repaints, and how far the repaint is. */

import { query } from '../ui/dom.ts'
import { blocksText } from '../wall/formatting.ts'
import type { Component, Studio } from './components.ts'
import { orderOf } from './order/order.ts'
import { repaint, type Progress } from './repaint.ts'
import { sendEdit } from './service.ts'
import { areaOf } from './sketch.ts'
import { personalSign, type BrowserWallet } from './wallet.ts'

const NO_SIGNER = 'To sign here, connect the wallet that owns them; or take the request away for your agent.'

const states: Readonly<Record<Exclude<Progress['state'], 'failed'>, string>> = {
  signing: 'Sign it in your wallet …',
  sending: 'Being sent …',
  done: 'Repainted: it is on the wall.',
}

/** A wallet that can sign, and the address it signs for. */
export type Signer = { readonly wallet: BrowserWallet; readonly address: string }

/** Follows the sketch and runs the repaint. */
export function createRepaintPanel(studio: Studio, signer: () => Signer | undefined): Component {
  const begin = query('repaint', HTMLButtonElement)
  const told = query('repaint-told', HTMLElement)
  const clock = { ahead: 0 }
  let progress: Progress | undefined

  const isRunning = () => progress?.state === 'signing' || progress?.state === 'sending'
  const show = () => {
    const sketch = studio.sketch()
    const order = orderOf(sketch, location.origin)
    const isTheirs = order?.kind === 'repaint'
    begin.hidden = !isTheirs || signer() === undefined || isRunning()
    const { w, h } = areaOf(sketch)
    begin.textContent = progress?.state === 'failed' ? 'Try again' : `Repaint ${blocksText(w * h)}`
    if (progress === undefined) told.textContent = isTheirs && signer() === undefined ? NO_SIGNER : ''
    else told.textContent = progress.state === 'failed' ? progress.words : states[progress.state]
  }
  const run = ({ wallet, address }: Signer) => {
    const order = orderOf(studio.sketch(), location.origin)
    if (order?.kind !== 'repaint') return
    const kept = progress?.state === 'failed' ? progress.signed : undefined
    const deps = {
      host: location.hostname,
      clock,
      sign: (text: string) => personalSign(wallet, address, text),
      send: sendEdit,
      tell(next: Progress) {
        progress = next
        show()
      },
    }
    void repaint(order, deps, kept)
  }

  begin.addEventListener('click', () => {
    const by = signer()
    if (by !== undefined && !isRunning()) run(by)
  })
  return {
    update(next, before) {
      // A signature is for one picture, place and owner.
      const isOther =
        next.painted !== before.painted ||
        next.at !== before.at ||
        next.words !== before.words ||
        next.mine !== before.mine
      if (isOther && !isRunning()) progress = undefined
      if (isOther || next.wall !== before.wall) show()
    },
  }
}
