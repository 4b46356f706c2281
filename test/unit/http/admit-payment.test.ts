import { expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { SignatureCheck } from '../../../server/domain/purchase/facilitator-errors.ts'
import { createOverloadFailure } from '../../../server/domain/purchase/refusals.ts'
import { createPaymentAdmission } from '../../../server/http/request/admit-payment.ts'
import type { BudgetName, RateLimits } from '../../../server/wall/rate-limits.ts'
import { unlimited, createUsedUpLimits } from '../../support/fakes/limits.ts'
import { createTestPayment, createUncertainPurchase } from '../../support/samples.ts'

// Goal: each payment waits in the right queue, and refusing a payment takes no more work than a signature check.

type Given = {
  readonly known?: boolean
  readonly isStoreAway?: boolean
  readonly check?: SignatureCheck
  readonly limits?: RateLimits
  readonly isFull?: boolean
}

async function admitWith({
  known = false,
  isStoreAway = false,
  check = 'signed',
  limits = unlimited,
  isFull = false,
}: Given) {
  const turns: string[] = []
  const admit = createPaymentAdmission({
    ledger: {
      async find() {
        if (isStoreAway) throw new StoreUnavailable('away')
        return known ? createUncertainPurchase(1) : undefined
      },
    },
    wallets: {
      async checkPaymentSignature() {
        turns.push('check')
        return check
      },
    },
    limits,
    queue: {
      waitForKnownPayment: async () => void turns.push('known payments'),
      async waitForNewPayment() {
        turns.push('new payments')
        return isFull ? createOverloadFailure() : undefined
      },
    },
  })
  const refusal = await admit(createTestPayment(1, 1), 'here')
  return [refusal?.code ?? 'admitted', ...turns]
}

const rejectedTooOften = createUsedUpLimits('payments')
const nothingLeft = createUsedUpLimits('payments', 'wallet payments')

test.each<[string, Given, readonly string[]]>([
  [
    'a new payment waits in the line for new payments, and is admitted without a signature check',
    {},
    ['admitted', 'new payments'],
  ],
  [
    'a payment that the ledger knows waits in the line for ordinary requests',
    { known: true },
    ['admitted', 'known payments'],
  ],
  [
    'a payment that the ledger knows is admitted even if its client address has used up every budget',
    { known: true, limits: nothingLeft, isFull: true },
    ['admitted', 'known payments'],
  ],
  [
    'while the ledger does not respond, every payment is admitted, so that the purchase can report the failure',
    { isStoreAway: true, limits: nothingLeft },
    ['admitted', 'known payments'],
  ],
  [
    'if too many payments of a client wait, its next new payment is refused without a signature check',
    { isFull: true },
    ['server_busy', 'new payments'],
  ],
  [
    'after too many rejected payments from one address, its next payment is refused if the signature is invalid',
    { check: 'not-signed', limits: rejectedTooOften },
    ['too_many_requests', 'new payments', 'check'],
  ],
  [
    'after too many rejected payments from one address, its next payment is refused if the signature cannot be checked',
    { check: 'busy', limits: rejectedTooOften },
    ['too_many_requests', 'new payments', 'check'],
  ],
  [
    'after too many rejected payments from one address, its next payment is still admitted if the signature is valid',
    { limits: rejectedTooOften },
    ['admitted', 'new payments', 'check'],
  ],
  [
    'after too many rejected payments from one address, a signed payment is refused if its wallet has used up its own budget',
    { limits: nothingLeft },
    ['too_many_requests', 'new payments', 'check'],
  ],
])('%s', async (_, given, expected) => {
  expect(await admitWith(given)).toEqual([...expected])
})

test('until too many payments from an address have been rejected, a new payment from that address uses up no budget', async () => {
  const taken: BudgetName[] = []
  const take: RateLimits['take'] = (name) => void taken.push(name)
  await admitWith({ limits: { ...unlimited, take } })
  expect(taken).toEqual([])
})
