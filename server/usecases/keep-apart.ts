/** Keeps runs of one payment apart across processes, as far as answers need it: money never rests on a lease. */

import { keyOf, type PaymentKey } from '../domain/payment.ts'
import type { Clock, Leases } from '../ports.ts'

/** How runs wait for those of other processes. */
export type Apart = {
  /** Runs `work` once no other process is at the payment, or `late` where one is for longer than a payer waits. */
  whenFree<T>(key: PaymentKey, work: () => Promise<T>, late: () => Promise<T>): Promise<T>
  /** Runs `work` unless another process is at the payment. */
  unlessTaken<T>(key: PaymentKey, work: () => Promise<T>): Promise<T | 'elsewhere'>
  /** Whether a run of this process is at the payment, and not only waiting for others. */
  isHere(key: PaymentKey): boolean
}

/** For the only process on its store. */
export const ALONE: Apart = {
  whenFree: (_, work) => work(),
  unlessTaken: (_, work) => work(),
  isHere: () => true,
}

// Long enough for a process that is kept from its work for some seconds, short enough for the payers of one that died.
export const LEASE_MS = 15_000
const RENEW_EVERY_MS = 5000

const FIRST_WAIT_MS = 50
const WAIT_MAX_MS = 1000

// A settlement mostly takes some seconds; who waits for longer is told to come back.
const PATIENCE_MS = 60_000

/** For one of several processes on one store. */
export function keepApart(leases: Leases, clock: Clock): Apart {
  const here = new Set<string>()
  // An answer does not wait for its lease to be given back; the next run of this process for the payment does.
  const giving = new Map<string, Promise<void>>()
  const take = async (key: PaymentKey): Promise<boolean> => {
    await giving.get(keyOf(key))
    return await leases.take(key, LEASE_MS)
  }
  const give = async (key: PaymentKey, renewed: Promise<void>): Promise<void> => {
    await renewed
    await untroubled(leases.give(key))
    giving.delete(keyOf(key))
  }
  const holding = async <T>(key: PaymentKey, work: () => Promise<T>): Promise<T> => {
    const done = new AbortController()
    const renewed = renewUntil(done.signal, leases, clock, key)
    here.add(keyOf(key))
    try {
      return await work()
    } finally {
      here.delete(keyOf(key))
      done.abort()
      giving.set(keyOf(key), give(key, renewed))
    }
  }
  return {
    async whenFree(key, work, late) {
      const deadline = clock.elapsed() + PATIENCE_MS
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, WAIT_MAX_MS)) {
        const taken = await untroubled(take(key))
        if (taken === true) return await holding(key, work)
        // A store that knows no lease now may still know what became of the payment.
        if (taken === undefined) return await work()
        if (clock.elapsed() >= deadline) return await late()
        await clock.wait(waitMs)
      }
    },
    async unlessTaken(key, work) {
      return (await take(key)) ? await holding(key, work) : 'elsewhere'
    },
    isHere: (key) => here.has(keyOf(key)),
  }
}

async function renewUntil(done: AbortSignal, leases: Leases, clock: Clock, key: PaymentKey): Promise<void> {
  while (!done.aborted) {
    await clock.wait(RENEW_EVERY_MS, done)
    if (!done.aborted) await untroubled(leases.take(key, LEASE_MS))
  }
}

/** What a store answers, if it does: without a lease a payment may be settled twice, and is charged once all the same. */
async function untroubled<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking
  } catch {
    return undefined
  }
}
