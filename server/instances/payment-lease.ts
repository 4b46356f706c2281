/**
 * Keeps several processes from working on one payment in parallel. This only improves responses: no money depends on a
 * lease.
 */

import { toPaymentKey, type PaymentKey } from '../domain/purchase/payment.ts'
import type { Clock, Leases } from '../ports.ts'
import { TIMES } from '../times.ts'

/**
 * Work under a lease: `work` runs once the lease is free or `isOver` returns true; `giveUp` runs if the wait is too
 * long. The argument of `work` says whether this process has the lease. `onShared` is called as soon as another process
 * may have had the lease, even before or after `work`.
 */
export type LeasedWork<T> = {
  readonly isOver: () => Promise<boolean>
  readonly work: (isLeased: boolean) => Promise<T>
  readonly giveUp: () => Promise<T>
  readonly onShared: () => void
}

/** Makes work on a payment in this process wait for work on the same payment in other processes. */
export type PaymentLease = {
  /**
   * Runs `work` once no other process works on the payment, or `giveUp` if another process works on it for longer than
   * a payer waits.
   */
  runWhenFree<T>(key: PaymentKey, { isOver, work, giveUp }: LeasedWork<T>): Promise<T>
  /**
   * Renews the lease of a run. Returns whether this process still had the lease; if so, no other process has worked on
   * the payment.
   */
  renewIfKept(key: PaymentKey): Promise<boolean>
  /** Runs `work` unless another process works on the payment. */
  runUnlessTaken<T>(key: PaymentKey, work: () => Promise<T>): Promise<T | 'elsewhere'>
}

/** The lease for a store that only one process uses: work never waits. */
export const NO_LEASE: PaymentLease = {
  runWhenFree: (_, { work }) => work(true),
  renewIfKept: async () => true,
  runUnlessTaken: (_, work) => work(),
}

const FIRST_WAIT_MS = 50
const WAIT_MAX_MS = 1000

// A settlement usually takes a few seconds. After this time, the payer is asked to retry later.
const TIMEOUT_MS = 60_000

/** Makes the lease for a store that several processes use. */
export function createPaymentLease(leases: Leases, clock: Clock, times = TIMES): PaymentLease {
  // How many runs of this process share each lease. The last run releases the lease.
  const holders = new Map<string, number>()
  const changeHolderCount = (key: PaymentKey, more: 1 | -1) => {
    const count = (holders.get(toPaymentKey(key)) ?? 0) + more
    if (count > 0) holders.set(toPaymentKey(key), count)
    else holders.delete(toPaymentKey(key))
    return count
  }
  const renew = async (key: PaymentKey) => (await ignoreErrors(leases.take(key, times.leaseMs))) === 'first'
  // A response does not wait for the release of its lease, but this process's next run for the payment does.
  const giving = new Map<string, Promise<void>>()
  const takeLease = async (key: PaymentKey) => {
    await giving.get(toPaymentKey(key))
    return await leases.take(key, times.leaseMs)
  }
  const releaseLease = async (key: PaymentKey, renewed: Promise<void>): Promise<void> => {
    await renewed
    await ignoreErrors(leases.release(key))
    giving.delete(toPaymentKey(key))
  }
  const renewUntil = async (done: AbortSignal, key: PaymentKey, onShared: () => void): Promise<void> => {
    while (!done.aborted) {
      await clock.wait(times.leaseRenewedEveryMs, done)
      if (!done.aborted && !(await renew(key))) onShared()
    }
  }
  const runWithLease = async <T>(key: PaymentKey, work: () => Promise<T>, onShared = () => {}): Promise<T> => {
    const done = new AbortController()
    const renewed = renewUntil(done.signal, key, onShared)
    changeHolderCount(key, 1)
    try {
      return await work()
    } finally {
      done.abort()
      if (changeHolderCount(key, -1) === 0) giving.set(toPaymentKey(key), releaseLease(key, renewed))
    }
  }
  return {
    async runWhenFree(key, { isOver, work, giveUp, onShared }) {
      const deadline = clock.elapsed() + TIMEOUT_MS
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, WAIT_MAX_MS)) {
        const taken = await ignoreErrors(takeLease(key))
        if (taken === 'again' || taken === undefined) onShared()
        if (taken === 'first' || taken === 'again') return await runWithLease(key, () => work(true), onShared)
        // If the store cannot grant leases now, the work runs without one.
        if (taken === undefined) return await work(false)
        if ((await ignoreErrors(isOver())) === true) return await work(false)
        if (clock.elapsed() >= deadline) return await giveUp()
        await clock.wait(waitMs)
      }
    },
    async renewIfKept(key) {
      const askedAt = clock.elapsed()
      // A process that was suspended may have lost the lease in the meantime.
      return (await renew(key)) && clock.elapsed() - askedAt < times.leaseMs
    },
    async runUnlessTaken(key, work) {
      return (await takeLease(key)) === false ? 'elsewhere' : await runWithLease(key, work)
    },
  }
}

/**
 * Ignores errors of the store: without a lease, a payment may be sent for settlement twice, but it is charged only
 * once.
 */
async function ignoreErrors<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking
  } catch {
    return undefined
  }
}
