/** What the store could not take when it was to be written; kept until it can, for as long as the process lives. */

import { Overtaken } from '../domain/failure.ts'
import { keyOf, type Address, type Hash, type PaymentKey } from '../domain/payment.ts'
import { isSold, type Landed, type Purchase } from '../domain/purchase.ts'
import type { Clock, Ledger } from '../ports.ts'

export type Unwritten = {
  /**
   * The payer of a block that is held, or was sold by the run that is left, got no answer: the purchase is in doubt, or its
   * receipt owed. Until that is written, nothing new may be sold to the payer.
   */
  doubt(purchase: Purchase): void
  /** Nothing is held for a payment any more. */
  release(key: PaymentKey): void
  /** A payment moved the money while nothing was held for it. */
  land(purchase: Landed, tx: Hash): void
  /** Writes down that a payment landed, if that is to be done. Throws `StoreUnavailable`, and keeps the note. */
  writeLanding(key: PaymentKey): Promise<void>
  /** Writes down the doubts over a payer's purchases. Throws `StoreUnavailable`, and keeps the note. */
  writeDoubts(payer: Address): Promise<void>
  /** Writes down everything. Throws `StoreUnavailable`, and keeps what is left. */
  writeAll(): Promise<void>
}

export function unwritten(ledger: Ledger, clock: Clock): Unwritten {
  const doubts = new Map<string, Purchase>()
  const landings = new Map<string, { readonly purchase: Landed; readonly tx: Hash }>()

  const writeLanding = async (key: PaymentKey) => {
    const landing = landings.get(keyOf(key))
    if (landing === undefined) return
    await unlessOvertaken(ledger.owe(landing.purchase, landing.tx, clock.now()))
    landings.delete(keyOf(key))
  }
  const writeDoubts = async (payer: Address) => {
    const noted = () => doubts.entries().find(([, purchase]) => purchase.payment.payer === payer)
    // What was noted as held may be sold, and noted again, while that is written.
    for (let next = noted(); next !== undefined; next = noted()) {
      const [key, purchase] = next
      if (isSold(purchase)) await ledger.oweReceipt(purchase.payment)
      else await unlessOvertaken(ledger.doubt(purchase))
      if (doubts.get(key) === purchase) doubts.delete(key)
    }
  }

  return {
    doubt: (purchase) => void doubts.set(keyOf(purchase.payment), purchase),
    release: (key) => void doubts.delete(keyOf(key)),
    land: (purchase, tx) => void landings.set(keyOf(purchase.payment), { purchase, tx }),
    writeLanding,
    writeDoubts,
    async writeAll() {
      for (const { purchase } of landings.values()) await writeLanding(purchase.payment)
      for (const { payment } of doubts.values()) await writeDoubts(payment.payer)
    },
  }
}

/** What was to be noted of a payment means nothing any more once another run has moved it on. */
async function unlessOvertaken(writing: Promise<unknown>): Promise<void> {
  try {
    await writing
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
  }
}
