import { expect, test } from 'bun:test'
import type { ClaimResult } from '../../../server/domain/purchase/purchase.ts'
import {
  findHandedOverPurchase,
  hasChainAnswer,
  hasClaimed,
  isWaiting,
  findKnownState,
  type RunStep,
} from '../../../server/purchase/steps.ts'
import { HEAD, createTestPayment, SILENT } from '../../support/samples.ts'
import { HERE, createPurchase, RESERVED, SOLD_UNANSWERED, UNCERTAIN } from '../domain/purchase-answers.ts'

// Goal: the steps of a run are enough to show what the run knows about its payment, and what other runs must know about
// the run.

const payment = createTestPayment(1, 1)
const held = createPurchase(payment, HERE, HERE, RESERVED)
const sold = { ...held, state: SOLD_UNANSWERED }
const claim = { do: 'claim', target: HERE, payment, listing: SILENT, head: HEAD } as const
const handOver = { do: 'hand-over', purchase: sold, isReceipt: true } as const

test('a block counts as reserved as soon as its claim is requested, unless the ledger refuses the claim', () => {
  const hasClaimedBy = (step: Partial<RunStep>) => hasClaimed([{ ...claim, state: 'answered', ...step } as RunStep])
  const lost: ClaimResult = { kind: 'lost', space: 'reserved' }
  expect([
    hasClaimedBy({ state: 'asked' }),
    hasClaimedBy({ state: 'failed' }),
    hasClaimedBy({ answer: { kind: 'claimed', purchase: held } }),
    hasClaimedBy({ answer: lost }),
  ]).toEqual([true, true, true, false])
})

test('a receipt counts as reused as soon as its reuse is requested, unless the reuse fails or is refused', () => {
  const findHandedOverBy = (step: Partial<RunStep>) =>
    findHandedOverPurchase([{ ...handOver, state: 'answered', ...step } as RunStep])
  expect([findHandedOverBy({ state: 'asked' }), findHandedOverBy({ answer: true })]).toEqual([sold, sold])
  expect([findHandedOverBy({ state: 'failed' }), findHandedOverBy({ answer: false })]).toEqual([undefined, undefined])
})

test('a run waits for another purchase until that purchase has ended or failed', () => {
  const isWaitingIn = (state: RunStep['state']) => isWaiting([{ do: 'resolve-other', key: payment, state }])
  expect([isWaitingIn('asked'), isWaitingIn('answered'), isWaitingIn('failed')]).toEqual([true, false, false])
})

test('the chain counts as queried once it has responded', () => {
  const hasAskedIn = (state: RunStep['state']) =>
    hasChainAnswer([{ do: 'ask-chain', payment, head: HEAD, wait: 'none', state }])
  expect([hasAskedIn('asked'), hasAskedIn('answered'), hasAskedIn('failed')]).toEqual([false, true, false])
})

test('a run knows the state of its payment from its look-up and its later writes, but not from failed writes', () => {
  const steps: RunStep[] = [{ do: 'look-up', key: payment, state: 'answered', answer: undefined }]
  const states = [findKnownState([]), findKnownState(steps)]
  for (const step of [
    { ...claim, state: 'answered', answer: { kind: 'lost', space: 'reserved' } },
    { ...claim, state: 'answered', answer: { kind: 'claimed', purchase: held } },
    { do: 'finalize', purchase: held, tx: SOLD_UNANSWERED.tx, settled: true, state: 'failed' },
    { do: 'mark-uncertain', purchase: held, state: 'answered', answer: { ...held, state: UNCERTAIN } },
    { do: 'resolve-other', key: createTestPayment(1, 2), state: 'answered', answer: sold },
    { do: 'release', purchase: held, isFinal: false, state: 'answered' },
  ] as const satisfies readonly RunStep[]) {
    steps.push(step)
    states.push(findKnownState(steps))
  }
  const [unknown, reserved] = [undefined, 'reserved'] as const
  expect(states).toEqual([unknown, unknown, unknown, reserved, reserved, reserved, reserved, 'released'])
})
