import { expect, test } from 'bun:test'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { SignatureCheck } from '../../../server/domain/purchase/facilitator-errors.ts'
import { overloaded } from '../../../server/domain/purchase/refusals.ts'
import { paymentAdmission } from '../../../server/http/request/admit-payment.ts'
import type { BudgetName, RateLimits } from '../../../server/wall/rate-limits.ts'
import { unlimited, usedUp } from '../../support/fakes/limits.ts'
import { paymentOf, uncertainPurchase } from '../../support/samples.ts'

// Goal: which payments come before other requests, which wait, and which are refused before any work is done for them.

type Given = {
  readonly known?: boolean
  readonly isStoreAway?: boolean
  readonly check?: SignatureCheck
  readonly limits?: RateLimits
  readonly isFull?: boolean
}

async function admitted({
  known = false,
  isStoreAway = false,
  check = 'signed',
  limits = unlimited,
  isFull = false,
}: Given) {
  const turns: string[] = []
  const admit = paymentAdmission({
    ledger: {
      async find() {
        if (isStoreAway) throw new StoreUnavailable('away')
        return known ? uncertainPurchase(1) : undefined
      },
    },
    wallets: { signedPayment: async () => check },
    limits,
    queue: {
      async turn() {
        turns.push('other requests')
        return isFull ? overloaded() : undefined
      },
      knownPaymentTurn: async () => void turns.push('known payments'),
      newPaymentTurn: async () => void turns.push('new payments'),
    },
  })
  const refusal = await admit(paymentOf(1, 1), 'here')
  return [refusal?.code ?? 'admitted', ...turns]
}

const rejectedTooOften = usedUp('payments')
const nothingLeft = usedUp('payments', 'wallet payments')

test.each<[string, Given, readonly string[]]>([
  ['a new payment signed by its payer comes before other requests', {}, ['admitted', 'new payments']],
  ['a payment that the ledger knows waits with the others', { known: true }, ['admitted', 'known payments']],
  [
    'a payment that the ledger knows is admitted whatever its address has used up',
    { known: true, check: 'not-signed', limits: nothingLeft, isFull: true },
    ['admitted', 'known payments'],
  ],
  [
    'while the ledger does not respond every payment is admitted, so that its purchase says why it failed',
    { isStoreAway: true, check: 'not-signed', limits: nothingLeft },
    ['admitted', 'known payments'],
  ],
  ['a payment that nobody signed waits with the others', { check: 'not-signed' }, ['admitted', 'other requests']],
  [
    'a payment of a contract that cannot be asked waits with the others',
    { check: 'busy' },
    ['admitted', 'other requests'],
  ],
  [
    'an unsigned payment is refused if too many wait',
    { check: 'not-signed', isFull: true },
    ['server_busy', 'other requests'],
  ],
  [
    'after too many rejected payments an unsigned one is refused without a turn',
    { check: 'not-signed', limits: rejectedTooOften },
    ['too_many_requests'],
  ],
  [
    'after too many rejected payments a signed one waits with the others',
    { limits: rejectedTooOften },
    ['admitted', 'other requests'],
  ],
  ['a wallet that used up its own budget is refused without a turn', { limits: nothingLeft }, ['too_many_requests']],
])('%s', async (_, given, expected) => {
  expect(await admitted(given)).toEqual([...expected])
})

test('a signed payment takes nothing from any budget while few payments of its address were rejected', async () => {
  const taken: BudgetName[] = []
  const take: RateLimits['take'] = (name) => void taken.push(name)
  await admitted({ limits: { ...unlimited, take } })
  expect(taken).toEqual([])
})
