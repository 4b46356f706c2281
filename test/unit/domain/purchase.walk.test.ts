/** The laws of a purchase, held against every path there is: every answer, every lost race, every failure of the store. */

import { describe, expect, test } from 'bun:test'
import { statusOf, StoreUnavailable } from '../../../server/domain/failure.ts'
import type { Target } from '../../../server/domain/purchase/payment.ts'
import { buy } from '../../../server/domain/purchase/purchase-script.ts'
import type { Order, Outcome, Request, Verb } from '../../../server/domain/purchase/purchase.ts'
import { ownTarget, placeOf } from '../../../server/domain/purchase/target.ts'
import { DENIALS } from '../../endurance/sim/samples.ts'
import { everyPath, trace, type Path, type Reply, type Step } from './every-path.ts'
import {
  DOWN,
  ELSEWHERE,
  flawedOrders,
  HEAD,
  HERE,
  ledgerVerbs,
  orderOf,
  OLDER_PAYMENT,
  NOW,
  PAYMENT,
  REPEATS,
  repeatedOrders,
  repliesFor,
} from './purchase-answers.ts'

type Walk = { readonly name: string; readonly order: Order; readonly paths: readonly Path<Outcome>[] }

// Asked for, and what the payment was used for if it is known: the same, or not.
const pairs: readonly (readonly [string, Target, Target])[] = [
  ['a coordinate', HERE, HERE],
  ['next', 'next', 'next'],
  ['the block that a payment for next holds', HERE, 'next'],
  ['another block than the payment', ELSEWHERE, HERE],
  ['next with a payment for a coordinate', 'next', HERE],
  ['an area', '3,4,4x3', '3,4,4x3'],
  ['the area that a payment for the next one holds', '3,4,4x3', 'next,4x3'],
  ['a block with a payment for an area that begins there', HERE, '3,4,4x3'],
]

// What is odd about an order is the same whatever the payment was used for.
const oddOrders = (asked: Target) => ({ ...flawedOrders(asked), ...repeatedOrders(asked) })

const walks: readonly Walk[] = pairs.flatMap(([name, asked, used]) =>
  Object.entries({ good: orderOf(asked), ...(used === HERE ? oddOrders(asked) : {}) }).map(([kind, order]) => ({
    name: `${name}, order ${kind}`,
    order,
    paths: [
      ...everyPath(
        () => buy(order),
        (request) => withFailures(request, asked, used),
      ),
    ],
  })),
)

function withFailures(request: Request, asked: Target, used: Target): readonly Reply[] {
  const replies = repliesFor(request, asked, used)
  return ledgerVerbs.has(request.do) ? [...replies, DOWN] : replies
}

/** Holds a law against every path; a law returns what is wrong, and the first path that breaks it is shown. */
function law(promise: string, broken: (path: Path<Outcome>, order: Order) => unknown) {
  test(promise, () => {
    let held = 0
    for (const { name, order, paths } of walks) {
      for (const path of paths) {
        if (broken(path, order) === true) throw new Error(`broken for ${name}: ${trace(path.steps)} -> ${ending(path)}`)
        held += 1
      }
    }
    expect(held).toBeGreaterThan(1000)
  })
}

const ending = ({ end }: Path<Outcome>): string => {
  if (end.kind === 'threw') return end.error instanceof StoreUnavailable ? 'store fails' : String(end.error)
  return end.value.kind === 'bought' ? 'bought' : end.value.failure.code
}

/** What the end of a path tells of the payment. */
const chargeIn = ({ end }: Path<Outcome>): { readonly charged?: unknown; readonly tx?: unknown } =>
  end.kind === 'threw' || end.value.kind === 'bought' ? {} : (end.value.failure.details ?? {})

const statusIn = ({ end }: Path<Outcome>): number =>
  end.kind === 'threw' || end.value.kind === 'bought' ? 500 : statusOf[end.value.failure.code]

const labelled = (steps: readonly Step[], verb: Verb): readonly string[] =>
  steps.flatMap(({ request, reply }) => (request.do === verb ? reply.label : []))

const asks = ({ steps }: Path<Outcome>, verb: Verb) => steps.some(({ request }) => request.do === verb)
// Whether a reorganisation could undo it matters only to what is remembered.
const lastStatus = (steps: readonly Step[]) => labelled(steps, 'ask-chain').at(-1)?.replace(' for good', '')
const isForGood = (steps: readonly Step[]) => labelled(steps, 'ask-chain').at(-1) === 'void for good'
const until = (path: Path<Outcome>, verb: Verb) =>
  path.steps.slice(
    0,
    path.steps.findIndex(({ request }) => request.do === verb),
  )
const remembered = ({ steps }: Path<Outcome>) => steps[0]?.reply.label ?? ''
const sawPaid = ({ steps }: Path<Outcome>) => labelled(steps, 'ask-chain').some((label) => label.startsWith('paid'))
const isKnown = (label: string) => !['unknown', 'released', 'final', 'store fails'].includes(label)
const isHeld = (label: string) => label === 'reserved' || label === 'uncertain'

const provesNothingSent = new Set(['unsent', 'definite refusal', 'busy'])

describe('before money can move', () => {
  law(
    'the facilitator is asked nothing before the chain said that the authorization is unspent',
    (path) => asks(path, 'verify') && labelled(until(path, 'verify'), 'read-chain').at(-1) !== 'unspent',
  )

  law('a block is held only for a payment that was verified, or that the chain has seen', (path) => {
    const before = until(path, 'claim')
    return asks(path, 'claim') && labelled(before, 'verify').at(-1) !== 'valid' && lastStatus(before) !== 'paid'
  })

  law(
    'money is asked to move only for a held block',
    (path) =>
      asks(path, 'settle') &&
      !labelled(until(path, 'settle'), 'claim').includes('claimed') &&
      !isHeld(remembered(path)),
  )

  law(
    'a held block is settled again only while the chain says that the authorization is unspent',
    (path) => asks(path, 'settle') && isHeld(remembered(path)) && lastStatus(until(path, 'settle')) !== 'unspent',
  )

  law('the height remembered is the one read before the facilitator was asked', ({ steps }) =>
    steps.some(({ request }, at) => {
      if (request.do === 'claim') return request.head !== HEAD
      return request.do === 'read-chain' && labelled(steps.slice(0, at), 'verify').length > 0
    }),
  )

  law('a wall that sells out under a payment is no final answer, since a block may come back', (path) => {
    return asks(path, 'claim') && ending(path) === 'sold_out'
  })

  law(
    'one run claims and settles at most once',
    ({ steps }) => labelled(steps, 'settle').length > 1 || labelled(steps, 'claim').length > 1,
  )

  law('a new authorization waits while an older one of the same payer may pay', (path) => {
    const [prior = ''] = labelled(path.steps, 'check-availability')
    if (!asks(path, 'settle') || !prior.startsWith('prior') || isHeld(remembered(path))) return false
    const [other] = labelled(until(path, 'settle'), 'resolve-other')
    return !prior.startsWith('prior open') || other === undefined || other === 'still open' || other === 'sold'
  })

  law(
    "nobody asks after a payer's prior purchase but the payer, with a payment that is new and unspent",
    (path) =>
      (asks(path, 'resolve-other') || asks(path, 'hand-over')) &&
      (labelled(path.steps, 'check-signature').at(-1) !== 'good' ||
        labelled(path.steps, 'read-chain').at(-1) !== 'unspent'),
  )

  law(
    'nothing leaves the process for a new payment that its payer is not known to have signed',
    (path) =>
      remembered(path) === 'unknown' &&
      (asks(path, 'read-chain') || asks(path, 'verify') || asks(path, 'ask-chain')) &&
      labelled(path.steps, 'check-signature')[0] !== 'good',
  )

  law(
    'an order that cannot be taken asks the facilitator nothing',
    (path, { armed, listing, now }) =>
      remembered(path) === 'unknown' && (!armed || 'code' in listing || now !== NOW) && asks(path, 'verify'),
  )

  law('an order is refused for what is wrong with it', (path, { armed, listing, now }) => {
    const isPayers = labelled(path.steps, 'check-signature')[0] === 'good'
    const isOpen = labelled(path.steps, 'check-availability')[0] === 'open'
    if (remembered(path) !== 'unknown' || !isPayers || !isOpen) return false
    if (!armed) return ending(path) !== 'facilitator_unavailable'
    if (labelled(path.steps, 'read-chain')[0] !== 'unspent') return false
    if (now !== NOW) return ending(path) !== 'payment_required'
    return 'code' in listing && ending(path) !== 'invalid_listing'
  })

  law(
    'what buys nothing is looked up on the chain within a budget',
    ({ steps }, { now }) =>
      now !== NOW &&
      steps.some(({ request }) => request.do === 'read-chain' && !request.isRefused) &&
      labelled(steps, 'look-up')[0] === 'unknown',
  )
})

describe('once money may have moved', () => {
  law('after a settlement nothing is denied without proof', (path) => {
    if (!asks(path, 'settle') || !DENIALS.has(ending(path))) return false
    if (lastStatus(path.steps) === 'void') return false
    const [settling = ''] = labelled(path.steps, 'settle')
    return isHeld(remembered(path)) || lastStatus(path.steps) !== 'unspent' || !provesNothingSent.has(settling)
  })

  law('a payment that the chain saw is never denied', (path) => sawPaid(path) && DENIALS.has(ending(path)))

  law(
    'a payment that the chain saw ends in a block, a credit or a promise',
    (path) =>
      sawPaid(path) &&
      !asks(path, 'finalize') &&
      !asks(path, 'fulfil-late-payment') &&
      ending(path) !== 'payment_unmatched',
  )

  law(
    'nothing is sold for a payment that was spent before it was first seen',
    (path) =>
      remembered(path) === 'unknown' &&
      labelled(path.steps, 'read-chain')[0] === 'spent' &&
      ['claim', 'finalize', 'record-unclaimed', 'fulfil-late-payment'].some((verb) => asks(path, verb as Verb)),
  )

  law('whoever was charged is told so, and of the transaction', (path) => {
    const { charged, tx } = chargeIn(path)
    if (charged !== 'yes') return sawPaid(path) && statusIn(path) < 500
    return tx === undefined
  })

  law('that nothing was charged is told only where nothing was sent, or nothing can land any more', (path) => {
    if (chargeIn(path).charged !== 'no') return false
    const isOver = isForGood(path.steps) || remembered(path) === 'final'
    return sawPaid(path) || (!isOver && (remembered(path) !== 'unknown' || asks(path, 'settle')))
  })

  law('only its payer is told whether a payment was charged', (path, { payment }) => {
    const isProven = labelled(path.steps, 'check-signature').at(-1) === 'good'
    return chargeIn(path).charged !== undefined && !isProven && (remembered(path) === 'unknown' || payment !== PAYMENT)
  })

  law(
    'a payment given up earlier and spent since is looked at before it is answered',
    (path) =>
      remembered(path) === 'released' &&
      labelled(path.steps, 'read-chain').includes('spent') &&
      path.steps.at(-1)?.request.do === 'read-chain',
  )

  law('nobody is asked to pay while an older payment of theirs may have gone through', (path) => {
    const [prior = ''] = labelled(path.steps, 'check-availability')
    if (ending(path) !== 'payment_required' || !prior.startsWith('prior')) return false
    if (labelled(path.steps, 'check-signature').at(-1) === 'bad') return false // somebody else names the payer
    if (lastStatus(path.steps) === 'void' && asks(path, 'release')) return false
    return !asks(path, 'resolve-other') && !asks(path, 'hand-over')
  })

  law('nobody waits for a payment that can never land', (path) => {
    const [prior = ''] = labelled(path.steps, 'check-availability')
    return isForGood(path.steps) && ending(path) === 'settlement_unknown' && !prior.startsWith('prior')
  })

  law('a payer who is told to wait is remembered as waiting', (path) => {
    const code = ending(path)
    if (code !== 'settlement_unknown' && code !== 'deed_not_persisted') return false
    const held = isHeld(remembered(path)) || labelled(path.steps, 'claim').includes('claimed')
    return held && remembered(path) !== 'uncertain' && !asks(path, 'mark-uncertain')
  })

  law('a payment that is held, sold or credited is answered alike whatever the order says now', (path, order) => {
    if (!isKnown(remembered(path)) || order.payment !== PAYMENT) return false
    return ending(path) === 'invalid_listing' || asks(path, 'check-availability')
  })

  law(
    'a payment that was given up buys what it was first sent for, whatever the order says now',
    (path) => !isKnown(remembered(path)) && remembered(path) !== 'unknown' && ending(path) === 'invalid_listing',
  )

  law('a known payment opens to its payer only, and as it was signed', (path, { payment }) => {
    if (!isKnown(remembered(path)) || payment === PAYMENT) return false
    const isOpened = payment === REPEATS['other signature'] && labelled(path.steps, 'check-signature')[0] === 'good'
    const isSigned = labelled(path.steps, 'check-signature')[0] === 'good'
    return !isOpened && (ending(path) === 'bought' || (ending(path) === 'payment_used' && !isSigned))
  })

  law('a nonce that its payer signed anew is no forgery: the payment is used, or owed', (path, { payment }) => {
    const isAnew = payment === REPEATS['other time'] || payment === REPEATS['other money']
    const isRenewed = remembered(path) === 'released' || remembered(path) === 'final'
    if (!isAnew || labelled(path.steps, 'check-signature')[0] !== 'good') return false
    if (isRenewed ? payment !== REPEATS['other money'] : !isKnown(remembered(path))) return false
    return ending(path) !== (remembered(path) === 'credited' ? 'payment_credited' : 'payment_used')
  })

  law(
    'whoever shows a known payment ends nothing that is owed',
    (path) => isKnown(remembered(path)) && asks(path, 'hand-over'),
  )
})

describe('giving back and giving away', () => {
  law('a held block is given back only on proof', (path) => {
    if (!asks(path, 'release')) return false
    const before = until(path, 'release')
    const release = path.steps.find(({ request }) => request.do === 'release')
    const isFinal = release?.request.do === 'release' && release.request.isFinal
    if (lastStatus(before) === 'void') return isFinal !== isForGood(before)
    const [settling = ''] = labelled(before, 'settle')
    const firstTry = labelled(before, 'claim').includes('claimed')
    return isFinal || !firstTry || lastStatus(before) !== 'unspent' || !provesNothingSent.has(settling)
  })

  law('a refusal to settle is believed only in a block made after it', (path) => {
    const [settling] = labelled(path.steps, 'settle')
    if (settling !== 'definite refusal' || !asks(path, 'release') || lastStatus(path.steps) !== 'unspent') return false
    const last = path.steps.findLast(({ request }) => request.do === 'ask-chain')?.request
    return last?.do !== 'ask-chain' || last.wait !== 'next-block'
  })

  law(
    '"nothing was claimed" is never said of a block still held',
    (path) =>
      ending(path) === 'facilitator_unavailable' &&
      (labelled(path.steps, 'claim').includes('claimed') || isHeld(remembered(path))) &&
      !labelled(path.steps, 'release').includes('done'),
  )

  law('a sale counts as settled only after the chain said paid, and by the transaction the chain named', ({ steps }) =>
    steps.some(({ request }, at) => {
      if (request.do !== 'finalize') return false
      const asked = steps.slice(0, at).findLast((step) => step.request.do === 'ask-chain')
      if (request.settled) return asked?.reply.label.startsWith('paid') !== true || request.tx !== txOf(asked)
      const settling = steps.find((step) => step.request.do === 'settle')
      return asked?.reply.label !== 'silent' || settling?.reply.label !== 'success' || request.tx !== txOf(settling)
    }),
  )

  law(
    'a debt is written down only after the chain said paid',
    (path) => asks(path, 'fulfil-late-payment') && lastStatus(until(path, 'fulfil-late-payment')) !== 'paid',
  )

  law('a receipt names a block that was sold and that the request asked for', ({ end }, { target }) => {
    if (end.kind === 'threw' || end.value.kind !== 'bought') return false
    const { purchase } = end.value
    if (purchase.state.kind !== 'sold') return true
    if (placeOf(target).at === 'next') return purchase.target !== target && purchase.payment === PAYMENT
    return target !== ownTarget(purchase)
  })

  law(
    "a prior purchase's receipt is handed over by one run at a time",
    ({ steps, end }) =>
      end.kind === 'answered' &&
      end.value.kind === 'bought' &&
      end.value.purchase.payment === OLDER_PAYMENT &&
      labelled(steps, 'hand-over').at(-1) !== 'given',
  )

  law(
    'a receipt of a prior purchase is told as such',
    ({ end }) =>
      end.kind === 'answered' &&
      end.value.kind === 'bought' &&
      (end.value.isEarlier === true) !== (end.value.purchase.payment === OLDER_PAYMENT),
  )
})

describe('when the store fails', () => {
  law('the run ends there, unless the step can be made up for', ({ steps, end }) => {
    const at = steps.findIndex(({ reply }) => reply === DOWN)
    const verb = steps[at]?.request.do
    if (at < 0 || verb === 'mark-uncertain' || verb === 'finalize') return false
    return at !== steps.length - 1 || end.kind !== 'threw' || end.error !== ('fault' in DOWN && DOWN.fault)
  })

  law(
    'a sale that cannot be written is not denied',
    (path) => labelled(path.steps, 'finalize').includes('store fails') && ending(path) !== 'deed_not_persisted',
  )

  law(
    'only the store makes a run fail',
    ({ steps, end }) => end.kind === 'threw' && !steps.some(({ reply }) => reply === DOWN),
  )

  test('a fault of our own is never taken for a busy store', () => {
    const bug = new RangeError('a bug')
    const broken: Reply = { label: 'a bug', fault: bug }
    const replies = (request: Request) =>
      request.do === 'mark-uncertain' || request.do === 'finalize' ? [broken] : repliesFor(request, HERE)
    const reached = [...everyPath(() => buy(orderOf(HERE)), replies)].filter(
      ({ steps }) => steps.at(-1)?.reply === broken,
    )
    expect(reached.length).toBeGreaterThan(10)
    expect(reached.every(({ end }) => end.kind === 'threw' && end.error === bug)).toBe(true)
  })
})

function txOf(step: Step | undefined): string | undefined {
  const answer = step !== undefined && 'answer' in step.reply ? step.reply.answer : undefined
  return typeof answer === 'object' && 'tx' in answer ? answer.tx : undefined
}
