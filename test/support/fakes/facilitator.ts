/** A facilitator in memory, honest by default. */

import type { SettleResult, VerifyResult } from '../../../server/domain/purchase/facilitator-errors.ts'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import type { FacilitatorProbe, Manner, RingMember } from '../../../server/ports.ts'
import type { FakeChain } from './chain.ts'

export type FakeFacilitator = RingMember & {
  verification: VerifyResult
  settling: SettleResult | 'honest'
  supported: 'yes' | 'no' | 'unavailable'
  readonly verified: Payment[]
  readonly settled: Payment[]
  readonly probes: (FacilitatorProbe | undefined)[]
  readonly manners: (Manner | undefined)[] // of all calls, in order
}

const NONCE_USED = 'invalid_exact_evm_nonce_already_used'

export function createFakeFacilitator(chain: FakeChain, host = 'facilitator.example'): FakeFacilitator {
  const facilitator: FakeFacilitator = {
    host,
    manners: [],
    probes: [],
    verification: { kind: 'valid' },
    settling: 'honest',
    supported: 'yes',
    verified: [],
    settled: [],
    async verify(_, payment, manner) {
      facilitator.manners.push(manner)
      facilitator.verified.push(payment)
      return facilitator.verification
    },
    async settle(_, payment, manner) {
      facilitator.manners.push(manner)
      facilitator.settled.push(payment)
      if (facilitator.settling !== 'honest') return facilitator.settling
      const seen = await chain.readAuthorization(payment)
      const isSpent = seen !== 'silent' && seen.spent
      return isSpent ? { kind: 'refused', reason: NONCE_USED } : { kind: 'success', tx: chain.transferPayment(payment) }
    },
    async checkSupport(probe) {
      facilitator.probes.push(probe)
      return facilitator.supported
    },
  }
  return facilitator
}
