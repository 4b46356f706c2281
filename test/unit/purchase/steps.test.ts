import { expect, test } from 'bun:test'
import type { ClaimResult } from '../../../server/domain/purchase/purchase.ts'
import {
  findHandedOver,
  hasAsked,
  hasClaimed,
  isWaiting,
  findKnownState,
  type RunStep,
} from '../../../server/purchase/steps.ts'
import { HEAD, paymentOf, SILENT } from '../../support/samples.ts'
import { HERE, purchaseOf, RESERVED, SOLD_UNANSWERED, UNCERTAIN } from '../domain/purchase-answers.ts'

// Goal: what a run knows of its payment, and what other runs must know of the run, follows from its steps alone.

const payment = paymentOf(1, 1)
const held = purchaseOf(payment, HERE, HERE, RESERVED)
const sold = { ...held, state: SOLD_UNANSWERED }
const claim = { do: 'claim', target: HERE, payment, listing: SILENT, head: HEAD } as const
const handOver = { do: 'hand-over', purchase: sold, isReceipt: true } as const

test('a block counts as reserved as soon as it is requested, unless the ledger refuses it', () => {
  const claiming = (step: Partial<RunStep>) => hasClaimed([{ ...claim, state: 'answered', ...step } as RunStep])
  const lost: ClaimResult = { kind: 'lost', space: 'reserved' }
  expect([
    claiming({ state: 'asked' }),
    claiming({ state: 'failed' }),
    claiming({ answer: { kind: 'claimed', purchase: held } }),
    claiming({ answer: lost }),
  ]).toEqual([true, true, true, false])
})

test('a receipt counts as stored as soon as that is requested, unless it fails or is refused', () => {
  const handing = (step: Partial<RunStep>) => findHandedOver([{ ...handOver, state: 'answered', ...step } as RunStep])
  expect([handing({ state: 'asked' }), handing({ answer: true })]).toEqual([sold, sold])
  expect([handing({ state: 'failed' }), handing({ answer: false })]).toEqual([undefined, undefined])
})

test('a run waits for another purchase until that purchase has ended or failed', () => {
  const waiting = (state: RunStep['state']) => isWaiting([{ do: 'resolve-other', key: payment, state }])
  expect([waiting('asked'), waiting('answered'), waiting('failed')]).toEqual([true, false, false])
})

test('the chain counts as asked once it has answered', () => {
  const asked = (state: RunStep['state']) => hasAsked([{ do: 'ask-chain', payment, head: HEAD, wait: 'none', state }])
  expect([asked('asked'), asked('answered'), asked('failed')]).toEqual([false, true, false])
})

test('a run knows the state of its payment from its look-up and its later writes, but not from a failed one', () => {
  const steps: RunStep[] = [{ do: 'look-up', key: payment, state: 'answered', answer: undefined }]
  const states = [findKnownState([]), findKnownState(steps)]
  for (const step of [
    { ...claim, state: 'answered', answer: { kind: 'lost', space: 'reserved' } },
    { ...claim, state: 'answered', answer: { kind: 'claimed', purchase: held } },
    { do: 'finalize', purchase: held, tx: SOLD_UNANSWERED.tx, settled: true, state: 'failed' },
    { do: 'mark-uncertain', purchase: held, state: 'answered', answer: { ...held, state: UNCERTAIN } },
    { do: 'resolve-other', key: paymentOf(1, 2), state: 'answered', answer: sold },
    { do: 'release', purchase: held, isFinal: false, state: 'answered' },
  ] as const satisfies readonly RunStep[]) {
    steps.push(step)
    states.push(findKnownState(steps))
  }
  const [unknown, reserved] = [undefined, 'reserved'] as const
  expect(states).toEqual([unknown, unknown, unknown, reserved, reserved, reserved, reserved, 'released'])
})
