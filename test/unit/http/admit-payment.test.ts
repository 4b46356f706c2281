import { expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { SignatureCheck } from '../../../server/domain/purchase/facilitator-errors.ts'
import { createOverloadFailure } from '../../../server/domain/purchase/refusals.ts'
import { createPaymentAdmission } from '../../../server/http/request/admit-payment.ts'
import type { BudgetName, RateLimits } from '../../../server/wall/rate-limits.ts'
import { unlimited, createUsedUpLimits } from '../../support/fakes/limits.ts'
import { createTestPayment, createUncertainPurchase } from '../../support/samples.ts'

// Goal: each payment waits for the right turn, and a payment to refuse costs no more work than a signature check.

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
  ['a new payment of any signer waits for its turn', {}, ['admitted', 'new payments']],
  ['a payment that the ledger knows waits with other requests', { known: true }, ['admitted', 'known payments']],
  [
    'a payment that the ledger knows is admitted whatever its address has used up',
    { known: true, limits: nothingLeft, isFull: true },
    ['admitted', 'known payments'],
  ],
  [
    'while the ledger does not respond every payment is admitted, so that its purchase says why it failed',
    { isStoreAway: true, limits: nothingLeft },
    ['admitted', 'known payments'],
  ],
  [
    'a new payment is refused unchecked if too many payments of its client wait',
    { isFull: true },
    ['server_busy', 'new payments'],
  ],
  [
    'after too many rejected payments, a payment without a valid signature is refused',
    { check: 'not-signed', limits: rejectedTooOften },
    ['too_many_requests', 'new payments', 'check'],
  ],
  [
    'after too many rejected payments, a payment of a contract wallet that cannot be called is refused',
    { check: 'busy', limits: rejectedTooOften },
    ['too_many_requests', 'new payments', 'check'],
  ],
  [
    'after too many rejected payments, a signed payment is admitted',
    { limits: rejectedTooOften },
    ['admitted', 'new payments', 'check'],
  ],
  [
    'a wallet that used up its own budget is refused',
    { limits: nothingLeft },
    ['too_many_requests', 'new payments', 'check'],
  ],
])('%s', async (_, given, expected) => {
  expect(await admitWith(given)).toEqual([...expected])
})

test('a signed payment takes nothing from any budget while few payments of its address were rejected', async () => {
  const taken: BudgetName[] = []
  const take: RateLimits['take'] = (name) => void taken.push(name)
  await admitWith({ limits: { ...unlimited, take } })
  expect(taken).toEqual([])
})
