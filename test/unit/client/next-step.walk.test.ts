/**
 * Checks the laws of the client with every response in every situation: every status, body, header and lost response.
 */

import { expect, test } from 'bun:test'
import { decideNextStep, type Answer, type Situation, type Step } from '../../../server/client/next-step.ts'
import { EXIT_STATUS } from '../../../server/client/wall-error.ts'
import { BODIES, listAnswers, listSituations, TERMS } from './answers.ts'

const walk = [...listSituations()].flatMap(({ name: asked, situation }) =>
  Array.from(listAnswers(), ({ name, answer }) => ({
    name: `${name} (${asked})`,
    situation,
    answer,
    step: decideNextStep(answer, situation),
  })),
)

/**
 * Checks a law on every pair of situation and response. `isBroken` returns whether a pair breaks the law; the first
 * such pair is shown.
 */
function testLaw(promise: string, isBroken: (step: Step, answer: Answer | undefined, situation: Situation) => boolean) {
  test(promise, () => {
    const broken = walk.find(({ step, answer, situation }) => isBroken(step, answer, situation))
    expect(broken?.name).toBeUndefined()
    expect(walk.length).toBeGreaterThan(100_000)
  })
}

const readMember = (answer: Answer | undefined, name: string): unknown => ({ ...answer?.body })[name as never]

const hasCharged = (answer: Answer | undefined, charged: string) =>
  readMember(answer, 'charged') === charged && typeof readMember(answer, 'error') === 'string'

const isReceipt = (answer: Answer | undefined) =>
  answer !== undefined && answer.status < 300 && answer.body === BODIES['receipt']

const keepsPayment = (step: Step) => step.do === 'resend' || (step.do === 'stop' && step.saved === 'kept')

testLaw(
  'a payment that was sent is kept until the wall returns its receipt, or `charged: yes` or `charged: no` for it',
  (step, answer, { sent }) =>
    sent !== undefined &&
    !isReceipt(answer) &&
    !hasCharged(answer, 'yes') &&
    !hasCharged(answer, 'no') &&
    !keepsPayment(step),
)

testLaw(
  'a receipt for the wallet ends the purchase, whatever else the response contains',
  (step, answer, { sent }) => sent !== undefined && isReceipt(answer) && step.do !== 'deliver',
)

testLaw(
  'the client returns a receipt only if the receipt is for its wallet and for a payment that was sent',
  (step, answer, { sent }) => step.do === 'deliver' && (sent === undefined || !isReceipt(answer)),
)

testLaw('only a payment that was charged without a purchase is set aside as proof', (step, answer, { sent }) => {
  const isSetAside = step.do === 'stop' && step.saved === 'set aside'
  return isSetAside !== (sent !== undefined && !isReceipt(answer) && hasCharged(answer, 'yes'))
})

testLaw('nothing is signed while a payment is open', (step, _, { sent }) => sent !== undefined && step.do === 'sign')

testLaw(
  'the client signs only supported terms from a 402 response, for no more than the maximum',
  (step, answer, { max }) =>
    step.do === 'sign' && (answer?.status !== 402 || answer.terms !== TERMS['good terms'] || step.terms.amount > max),
)

testLaw(
  'a call that may not sign anything requests no terms',
  (step, _, { signaturesLeft }) => step.do === 'ask' && signaturesLeft === 0,
)

testLaw(
  'a request is not sent again after its last try',
  (step, _, { sent }) => step.do === 'resend' && (sent === undefined || sent.tries >= sent.triesMax),
)

testLaw(
  'the client waits at most thirty seconds between two tries',
  (step) => step.do === 'resend' && !(step.afterMs >= 0 && step.afterMs <= 30_000),
)

testLaw('a report of an open payment never says that nothing was charged, and the exit status is 3', (step) => {
  if (!keepsPayment(step)) return false
  if (step.do === 'resend') return /not charged|nothing was/i.test(step.why)
  if (step.do !== 'stop') return true
  const { kind, message, charged } = step.failure
  return EXIT_STATUS[kind] !== 3 || charged !== 'unknown' || /not charged|nothing was/i.test(message)
})

testLaw(
  'a report of an open payment says until when the payment may be charged, if that is known',
  (step, _, { sent }) => {
    if (step.do !== 'stop' || step.saved !== 'kept') return false
    return (step.failure.until === undefined) !== (sent?.until === undefined)
  },
)

testLaw(
  'without an open payment, the exit status says that nothing was paid, or that the payment was charged',
  (step) => {
    if (step.do !== 'stop' || step.saved === 'kept') return false
    return (
      EXIT_STATUS[step.failure.kind] === 3 || (step.saved === 'set aside') !== (EXIT_STATUS[step.failure.kind] === 5)
    )
  },
)

testLaw(
  'if a request without a payment fails, there is no payment to keep',
  (step, _, { sent }) => sent === undefined && step.do === 'stop' && step.saved !== 'none',
)
