/** A facilitator in memory, honest unless told how to answer. */

import type { Payment } from '../../server/domain/payment.ts'
import type { Settling, Verification } from '../../server/domain/purchase.ts'
import type { Facilitator } from '../../server/ports.ts'
import type { FakeChain } from './chain.ts'

export type FakeFacilitator = Facilitator & {
  verification: Verification
  settling: Settling | 'honest'
  readonly verified: Payment[]
  readonly settled: Payment[]
}

export function fakeFacilitator(chain: FakeChain): FakeFacilitator {
  const facilitator: FakeFacilitator = {
    verification: { kind: 'valid' },
    settling: 'honest',
    verified: [],
    settled: [],
    async verify(_, payment) {
      facilitator.verified.push(payment)
      return facilitator.verification
    },
    async settle(_, payment) {
      facilitator.settled.push(payment)
      return facilitator.settling === 'honest' ? { kind: 'success', tx: chain.land(payment) } : facilitator.settling
    },
    supports: async () => 'yes',
  }
  return facilitator
}
