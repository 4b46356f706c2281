/** Leases of several processes on one store, in memory, with the clock of the test. */

import { toPaymentKey, type PaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { Leases } from '../../../server/ports.ts'

export type FakeLeases = {
  /** The port of one process, identified by any object. */
  createLeases(process: object): Leases
  /** Ends the lease on a payment, as if the lease had expired. */
  endLease(key: PaymentKey): void
}

export function createFakeLeases(elapsed: () => number): FakeLeases {
  const taken = new Map<string, { readonly by: object; readonly until: number }>()
  return {
    createLeases: (process) => ({
      async take(key, forMs) {
        const lease = taken.get(toPaymentKey(key))
        if (lease !== undefined && lease.by !== process && lease.until > elapsed()) return false
        taken.set(toPaymentKey(key), { by: process, until: elapsed() + forMs })
        return lease === undefined || lease.by === process ? 'first' : 'again'
      },
      async isTaken(key) {
        const lease = taken.get(toPaymentKey(key))
        return lease !== undefined && lease.by !== process && lease.until > elapsed()
      },
      async release(key) {
        if (taken.get(toPaymentKey(key))?.by === process)
          taken.set(toPaymentKey(key), { by: process, until: -Infinity })
      },
    }),
    endLease(key) {
      const lease = taken.get(toPaymentKey(key))
      if (lease !== undefined) taken.set(toPaymentKey(key), { ...lease, until: -Infinity })
    },
  }
}
