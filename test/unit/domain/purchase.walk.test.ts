/** Checks the laws of a purchase on every path: every answer, every lost race, every database failure. */

import { describe, expect, test } from 'bun:test'
import { statusOf, StoreUnavailable, isFailure } from '../../../server/domain/failure.ts'
import type { Target } from '../../../server/domain/purchase/payment.ts'
import { buy } from '../../../server/domain/purchase/purchase-script.ts'
import type { BuyOrder, Outcome, ScriptRequest, Verb } from '../../../server/domain/purchase/purchase.ts'
import { resolveTarget, getPosition } from '../../../server/domain/purchase/target.ts'
import { deniesCharge, DENIALS } from '../../endurance/sim/samples.ts'
import { walkPaths, formatSteps, type Path, type Reply, type Step } from './every-path.ts'
import {
  DOWN,
  ELSEWHERE,
  createFlawedOrders,
  HEAD,
  HERE,
  ledgerVerbs,
  createOrder,
  OLDER_PAYMENT,
  NOW,
  PAYMENT,
  REPEATS,
  createRepeatedOrders,
  listReplies,
} from './purchase-answers.ts'

type Walk = { readonly name: string; readonly order: BuyOrder; readonly paths: readonly Path<Outcome>[] }

// The requested target, and the target of the payment if the payment is known. They may be the same.
const pairs: readonly (readonly [string, Target, Target])[] = [
  ['a coordinate', HERE, HERE],
  ['next', 'next', 'next'],
  ['the block that a payment for next holds', HERE, 'next'],
  ['a block other than that of the payment', ELSEWHERE, HERE],
  ['next with a payment for a coordinate', 'next', HERE],
  ['an area', '3,4,4x3', '3,4,4x3'],
  ['the area that a payment for the next one holds', '3,4,4x3', 'next,4x3'],
  ['a block with a payment for an area that begins there', HERE, '3,4,4x3'],
]

// Invalid orders behave the same whatever the payment was used for.
const createOddOrders = (asked: Target) => ({ ...createFlawedOrders(asked), ...createRepeatedOrders(asked) })

const walks: readonly Walk[] = pairs.flatMap(([name, asked, used]) =>
  Object.entries({ good: createOrder(asked), ...(used === HERE ? createOddOrders(asked) : {}) }).map(
    ([kind, order]) => ({
      name: `${name}, order ${kind}`,
      order,
      paths: [
        ...walkPaths(
          () => buy(order),
          (request) => listRepliesAndFailures(request, asked, used),
        ),
      ],
    }),
  ),
)

function listRepliesAndFailures(request: ScriptRequest, asked: Target, used: Target): readonly Reply[] {
  const replies = listReplies(request, asked, used)
  return ledgerVerbs.has(request.do) ? [...replies, DOWN] : replies
}

/** Checks a law on every path. `broken` returns `true` for a path that breaks it; the first such path is shown. */
function testLaw(promise: string, broken: (path: Path<Outcome>, order: BuyOrder) => unknown) {
  test(promise, () => {
    let checked = 0
    for (const { name, order, paths } of walks) {
      for (const path of paths) {
        if (broken(path, order) === true)
          throw new Error(`broken for ${name}: ${formatSteps(path.steps)} -> ${nameEnding(path)}`)
        checked += 1
      }
    }
    expect(checked).toBeGreaterThan(1000)
  })
}

const nameEnding = ({ end }: Path<Outcome>): string => {
  if (end.kind === 'threw') return end.error instanceof StoreUnavailable ? 'store fails' : String(end.error)
  return end.value.kind === 'bought' ? 'bought' : end.value.code
}

/** The charge details in the outcome of a path. */
const readCharge = ({ end }: Path<Outcome>): { readonly charged?: unknown; readonly tx?: unknown } =>
  end.kind === 'threw' || end.value.kind === 'bought' ? {} : (end.value.details ?? {})

const readStatus = ({ end }: Path<Outcome>): number =>
  end.kind === 'threw' || end.value.kind === 'bought' ? 500 : statusOf[end.value.code]

const listLabels = (steps: readonly Step[], verb: Verb): readonly string[] =>
  steps.flatMap(({ request, reply }) => (request.do === verb ? reply.label : []))

const asksFor = ({ steps }: Path<Outcome>, verb: Verb) => steps.some(({ request }) => request.do === verb)
// Ignores whether a status is final, because that affects only what is stored.
const readLastStatus = (steps: readonly Step[]) => listLabels(steps, 'ask-chain').at(-1)?.replace(' for good', '')
const isVoidForGood = (steps: readonly Step[]) => listLabels(steps, 'ask-chain').at(-1) === 'void for good'
const listStepsBefore = (path: Path<Outcome>, verb: Verb) =>
  path.steps.slice(
    0,
    path.steps.findIndex(({ request }) => request.do === verb),
  )
const readRememberedState = ({ steps }: Path<Outcome>) => steps[0]?.reply.label ?? ''
const hasSeenPaid = ({ steps }: Path<Outcome>) =>
  listLabels(steps, 'ask-chain').some((label) => label.startsWith('paid'))
const isKnown = (label: string) => !['unknown', 'released', 'final', 'store fails'].includes(label)
const isPending = (label: string) => label === 'reserved' || label === 'uncertain'

const provesNothingSent = new Set(['unsent', 'definite refusal', 'busy'])

describe('before money can move', () => {
  testLaw(
    'the facilitator is not called before the chain reports the authorization as unspent',
    (path) => asksFor(path, 'verify') && listLabels(listStepsBefore(path, 'verify'), 'read-chain').at(-1) !== 'unspent',
  )

  testLaw('a block is held only for a payment that was verified or is on the chain', (path) => {
    const before = listStepsBefore(path, 'claim')
    return (
      asksFor(path, 'claim') && listLabels(before, 'verify').at(-1) !== 'valid' && readLastStatus(before) !== 'paid'
    )
  })

  testLaw(
    'a payment is settled only while its block is held',
    (path) =>
      asksFor(path, 'settle') &&
      !listLabels(listStepsBefore(path, 'settle'), 'claim').includes('claimed') &&
      !isPending(readRememberedState(path)),
  )

  testLaw(
    'a held purchase is settled again only while the chain reports the authorization as unspent',
    (path) =>
      asksFor(path, 'settle') &&
      isPending(readRememberedState(path)) &&
      readLastStatus(listStepsBefore(path, 'settle')) !== 'unspent',
  )

  testLaw('the stored chain height is the one that was read before the facilitator was called', ({ steps }) =>
    steps.some(({ request }, at) => {
      if (request.do === 'claim') return request.head !== HEAD
      return request.do === 'read-chain' && listLabels(steps.slice(0, at), 'verify').length > 0
    }),
  )

  testLaw(
    'a payment that loses the last block is not answered with sold_out, because a held block may be released',
    (path) => {
      return asksFor(path, 'claim') && nameEnding(path) === 'sold_out'
    },
  )

  testLaw(
    'one run claims blocks at most once and settles its payment at most once',
    ({ steps }) => listLabels(steps, 'settle').length > 1 || listLabels(steps, 'claim').length > 1,
  )

  testLaw('a new authorization is not settled while an older one of the same payer may still settle', (path) => {
    const [prior = ''] = listLabels(path.steps, 'check-availability')
    if (!asksFor(path, 'settle') || !prior.startsWith('prior') || isPending(readRememberedState(path))) return false
    const [other] = listLabels(listStepsBefore(path, 'settle'), 'resolve-other')
    return !prior.startsWith('prior open') || other === undefined || other === 'still open' || other === 'sold'
  })

  testLaw(
    'a prior purchase is revealed only for a new, unspent payment that the same payer signed',
    (path) =>
      (asksFor(path, 'resolve-other') || asksFor(path, 'hand-over')) &&
      (listLabels(path.steps, 'check-signature').at(-1) !== 'good' ||
        listLabels(path.steps, 'read-chain').at(-1) !== 'unspent'),
  )

  testLaw(
    'no third party is called for a new payment before its signature is verified',
    (path) =>
      readRememberedState(path) === 'unknown' &&
      (asksFor(path, 'read-chain') || asksFor(path, 'verify') || asksFor(path, 'ask-chain')) &&
      listLabels(path.steps, 'check-signature')[0] !== 'good',
  )

  testLaw(
    'the facilitator is not called for an order that cannot be accepted',
    (path, { armed, isDenied, listing, now }) =>
      readRememberedState(path) === 'unknown' &&
      (!armed || isDenied || isFailure(listing) || now !== NOW) &&
      asksFor(path, 'verify'),
  )

  testLaw(
    'an invalid order is refused for the reason that makes it invalid',
    (path, { armed, isDenied, listing, now }) => {
      const isPayers = listLabels(path.steps, 'check-signature')[0] === 'good'
      const isOpen = listLabels(path.steps, 'check-availability')[0] === 'open'
      if (readRememberedState(path) !== 'unknown' || !isPayers) return false
      if (isDenied) return nameEnding(path) !== 'payer_denied'
      if (!isOpen) return false
      if (!armed) return nameEnding(path) !== 'facilitator_unavailable'
      if (listLabels(path.steps, 'read-chain')[0] !== 'unspent') return false
      if (now !== NOW) return nameEnding(path) !== 'payment_required'
      return isFailure(listing) && nameEnding(path) !== 'invalid_listing'
    },
  )

  testLaw(
    'a payment that cannot buy anything is looked up on the chain only within a budget',
    ({ steps }, { now }) =>
      now !== NOW &&
      steps.some(({ request }) => request.do === 'read-chain' && !request.isRefused) &&
      listLabels(steps, 'look-up')[0] === 'unknown',
  )
})

describe('once money may have moved', () => {
  testLaw(
    'after an attempt to settle, an outcome denies a charge only if there is proof that nothing was charged',
    (path) => {
      if (!asksFor(path, 'settle') || !DENIALS.has(nameEnding(path))) return false
      if (readLastStatus(path.steps) === 'void') return false
      const [settling = ''] = listLabels(path.steps, 'settle')
      return (
        isPending(readRememberedState(path)) ||
        readLastStatus(path.steps) !== 'unspent' ||
        !provesNothingSent.has(settling)
      )
    },
  )

  testLaw(
    'no outcome denies the charge for a payment that is on the chain',
    (path) => hasSeenPaid(path) && DENIALS.has(nameEnding(path)),
  )

  testLaw(
    'a payment that is on the chain ends in a sale, a credit or payment_unmatched',
    (path) =>
      hasSeenPaid(path) &&
      !asksFor(path, 'finalize') &&
      !asksFor(path, 'fulfil-late-payment') &&
      nameEnding(path) !== 'payment_unmatched',
  )

  testLaw(
    'a payment that was spent before it was first received buys nothing',
    (path) =>
      readRememberedState(path) === 'unknown' &&
      listLabels(path.steps, 'read-chain')[0] === 'spent' &&
      ['claim', 'finalize', 'record-unclaimed', 'fulfil-late-payment'].some((verb) => asksFor(path, verb as Verb)),
  )

  testLaw('if the payer was charged, the outcome says so and contains the transaction', (path) => {
    const { charged, tx } = readCharge(path)
    if (charged !== 'yes') return hasSeenPaid(path) && readStatus(path) < 500
    return tx === undefined
  })

  testLaw(
    'an outcome says that nothing was charged only if nothing was sent, or if the payment can no longer settle',
    (path) => {
      if (readCharge(path).charged !== 'no') return false
      const isOver = isVoidForGood(path.steps) || readRememberedState(path) === 'final'
      return hasSeenPaid(path) || (!isOver && (readRememberedState(path) !== 'unknown' || asksFor(path, 'settle')))
    },
  )

  testLaw('no message with `charged: unknown` denies the charge', (path) => {
    const { end } = path
    if (end.kind === 'threw' || end.value.kind === 'bought' || readCharge(path).charged !== 'unknown') return false
    return deniesCharge(end.value.message)
  })

  testLaw('only the payer can see whether its payment was charged', (path, { payment }) => {
    const isProven = listLabels(path.steps, 'check-signature').at(-1) === 'good'
    return (
      readCharge(path).charged !== undefined &&
      !isProven &&
      (readRememberedState(path) === 'unknown' || payment !== PAYMENT)
    )
  })

  testLaw(
    'a released payment that was spent later is checked on the chain before the response',
    (path) =>
      readRememberedState(path) === 'released' &&
      listLabels(path.steps, 'read-chain').includes('spent') &&
      path.steps.at(-1)?.request.do === 'read-chain',
  )

  testLaw('no payer is asked to pay while an older payment of the same payer may have gone through', (path) => {
    const [prior = ''] = listLabels(path.steps, 'check-availability')
    if (nameEnding(path) !== 'payment_required' || !prior.startsWith('prior')) return false
    if (listLabels(path.steps, 'check-signature').at(-1) === 'bad') return false // sent by somebody other than the payer
    if (readLastStatus(path.steps) === 'void' && asksFor(path, 'release')) return false
    return !asksFor(path, 'resolve-other') && !asksFor(path, 'hand-over')
  })

  testLaw('no payer is asked to retry a payment that can never settle', (path) => {
    const [prior = ''] = listLabels(path.steps, 'check-availability')
    return isVoidForGood(path.steps) && nameEnding(path) === 'settlement_unknown' && !prior.startsWith('prior')
  })

  testLaw('a purchase whose payer is asked to retry is marked as uncertain', (path) => {
    const code = nameEnding(path)
    if (code !== 'settlement_unknown' && code !== 'deed_not_persisted') return false
    const held = isPending(readRememberedState(path)) || listLabels(path.steps, 'claim').includes('claimed')
    return held && readRememberedState(path) !== 'uncertain' && !asksFor(path, 'mark-uncertain')
  })

  testLaw('a held, sold or credited payment gets the same answer whatever the new order says', (path, order) => {
    if (!isKnown(readRememberedState(path)) || order.payment !== PAYMENT) return false
    return nameEnding(path) === 'invalid_listing' || asksFor(path, 'check-availability')
  })

  testLaw(
    'a released payment buys the target and listing that it was first sent with, whatever the new order says',
    (path) =>
      !isKnown(readRememberedState(path)) &&
      readRememberedState(path) !== 'unknown' &&
      nameEnding(path) === 'invalid_listing',
  )

  testLaw(
    'a known payment is revealed only to its payer, and its receipt is returned only for the payment as signed',
    (path, { payment }) => {
      if (!isKnown(readRememberedState(path)) || payment === PAYMENT) return false
      const isOpened = payment === REPEATS['other signature'] && listLabels(path.steps, 'check-signature')[0] === 'good'
      const isSigned = listLabels(path.steps, 'check-signature')[0] === 'good'
      return !isOpened && (nameEnding(path) === 'bought' || (nameEnding(path) === 'payment_used' && !isSigned))
    },
  )

  testLaw(
    'if a payer signs the nonce of a known payment again, the response is payment_used or payment_credited',
    (path, { payment }) => {
      const isAnew = payment === REPEATS['other time'] || payment === REPEATS['other money']
      const isRenewed = readRememberedState(path) === 'released' || readRememberedState(path) === 'final'
      if (!isAnew || listLabels(path.steps, 'check-signature')[0] !== 'good') return false
      if (isRenewed ? payment !== REPEATS['other money'] : !isKnown(readRememberedState(path))) return false
      return nameEnding(path) !== (readRememberedState(path) === 'credited' ? 'payment_credited' : 'payment_used')
    },
  )

  testLaw(
    'resending a known payment does not use up a receipt that the payer is owed',
    (path) => isKnown(readRememberedState(path)) && asksFor(path, 'hand-over'),
  )
})

describe('releases, sales and receipts', () => {
  testLaw('a held block is released only on proof that its payment was not settled', (path) => {
    if (!asksFor(path, 'release')) return false
    const before = listStepsBefore(path, 'release')
    const release = path.steps.find(({ request }) => request.do === 'release')
    const isFinal = release?.request.do === 'release' && release.request.isFinal
    if (readLastStatus(before) === 'void') return isFinal !== isVoidForGood(before)
    const [settling = ''] = listLabels(before, 'settle')
    const firstTry = listLabels(before, 'claim').includes('claimed')
    return isFinal || !firstTry || readLastStatus(before) !== 'unspent' || !provesNothingSent.has(settling)
  })

  testLaw('a refusal to settle is believed only after a later chain block confirms it', (path) => {
    const [settling] = listLabels(path.steps, 'settle')
    if (settling !== 'definite refusal' || !asksFor(path, 'release') || readLastStatus(path.steps) !== 'unspent')
      return false
    const last = path.steps.findLast(({ request }) => request.do === 'ask-chain')?.request
    return last?.do !== 'ask-chain' || last.wait !== 'next-block'
  })

  testLaw(
    'while a block is still held, no answer for it says that nothing was claimed',
    (path) =>
      nameEnding(path) === 'facilitator_unavailable' &&
      (listLabels(path.steps, 'claim').includes('claimed') || isPending(readRememberedState(path))) &&
      !listLabels(path.steps, 'release').includes('done'),
  )

  testLaw(
    'a sale counts as settled only after the chain reports it as paid, with the transaction from the chain',
    ({ steps }) =>
      steps.some(({ request }, at) => {
        if (request.do !== 'finalize') return false
        const asked = steps.slice(0, at).findLast((step) => step.request.do === 'ask-chain')
        if (request.settled)
          return asked?.reply.label.startsWith('paid') !== true || request.tx !== readTransaction(asked)
        const settling = steps.find((step) => step.request.do === 'settle')
        return (
          asked?.reply.label !== 'silent' ||
          settling?.reply.label !== 'success' ||
          request.tx !== readTransaction(settling)
        )
      }),
  )

  testLaw(
    'a late payment is fulfilled only after the chain reports it as paid',
    (path) =>
      asksFor(path, 'fulfil-late-payment') && readLastStatus(listStepsBefore(path, 'fulfil-late-payment')) !== 'paid',
  )

  testLaw('a receipt is for a sold block that the request asked for', ({ end }, { target }) => {
    if (end.kind === 'threw' || end.value.kind !== 'bought') return false
    const { purchase } = end.value
    if (purchase.state.kind !== 'sold') return true
    if (getPosition(target).at === 'next') return purchase.target !== target && purchase.payment === PAYMENT
    return target !== resolveTarget(purchase)
  })

  testLaw(
    'only one run at a time returns the receipt of a prior purchase',
    ({ steps, end }) =>
      end.kind === 'answered' &&
      end.value.kind === 'bought' &&
      end.value.purchase.payment === OLDER_PAYMENT &&
      listLabels(steps, 'hand-over').at(-1) !== 'given',
  )

  testLaw(
    'a receipt is marked as an earlier one exactly if it is for a prior purchase',
    ({ end }) =>
      end.kind === 'answered' &&
      end.value.kind === 'bought' &&
      (end.value.isEarlier === true) !== (end.value.purchase.payment === OLDER_PAYMENT),
  )
})

describe('when the database fails', () => {
  testLaw('a database failure ends the run, except in mark-uncertain and finalize', ({ steps, end }) => {
    const at = steps.findIndex(({ reply }) => reply === DOWN)
    const verb = steps[at]?.request.do
    if (at < 0 || verb === 'mark-uncertain' || verb === 'finalize') return false
    return at !== steps.length - 1 || end.kind !== 'threw' || end.error !== ('fault' in DOWN && DOWN.fault)
  })

  testLaw(
    'a sale that cannot be saved is answered with deed_not_persisted',
    (path) => listLabels(path.steps, 'finalize').includes('store fails') && nameEnding(path) !== 'deed_not_persisted',
  )

  testLaw(
    'only a database failure makes a run fail',
    ({ steps, end }) => end.kind === 'threw' && !steps.some(({ reply }) => reply === DOWN),
  )

  test('a bug in a port is never treated as a database failure', () => {
    const bug = new RangeError('a bug')
    const broken: Reply = { label: 'a bug', fault: bug }
    const listFailingReplies = (request: ScriptRequest) =>
      request.do === 'mark-uncertain' || request.do === 'finalize' ? [broken] : listReplies(request, HERE)
    const reached = [...walkPaths(() => buy(createOrder(HERE)), listFailingReplies)].filter(
      ({ steps }) => steps.at(-1)?.reply === broken,
    )
    expect(reached.length).toBeGreaterThan(10)
    expect(reached.every(({ end }) => end.kind === 'threw' && end.error === bug)).toBe(true)
  })
})

function readTransaction(step: Step | undefined): string | undefined {
  const answer = step !== undefined && 'answer' in step.reply ? step.reply.answer : undefined
  return typeof answer === 'object' && 'tx' in answer ? answer.tx : undefined
}
