/** Checks the laws of a purchase on every path: every answer, every lost race, every database failure. */

import { describe, expect, test } from 'bun:test'
import { statusOf, StoreUnavailable, isFailure } from '../../../server/domain/failure.ts'
import type { Target } from '../../../server/domain/purchase/payment.ts'
import { buy } from '../../../server/domain/purchase/purchase-script.ts'
import type { BuyOrder, Outcome, ScriptRequest, Verb } from '../../../server/domain/purchase/purchase.ts'
import { resolveTarget, positionOf } from '../../../server/domain/purchase/target.ts'
import { deniesCharge, DENIALS } from '../../endurance/sim/samples.ts'
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

type Walk = { readonly name: string; readonly order: BuyOrder; readonly paths: readonly Path<Outcome>[] }

// The requested target, and the target of the payment if it is known. They may be the same.
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

// Invalid orders behave the same whatever the payment was used for.
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

function withFailures(request: ScriptRequest, asked: Target, used: Target): readonly Reply[] {
  const replies = repliesFor(request, asked, used)
  return ledgerVerbs.has(request.do) ? [...replies, DOWN] : replies
}

/** Checks a law on every path. `broken` returns `true` for a path that breaks it; the first such path is shown. */
function law(promise: string, broken: (path: Path<Outcome>, order: BuyOrder) => unknown) {
  test(promise, () => {
    let checked = 0
    for (const { name, order, paths } of walks) {
      for (const path of paths) {
        if (broken(path, order) === true) throw new Error(`broken for ${name}: ${trace(path.steps)} -> ${ending(path)}`)
        checked += 1
      }
    }
    expect(checked).toBeGreaterThan(1000)
  })
}

const ending = ({ end }: Path<Outcome>): string => {
  if (end.kind === 'threw') return end.error instanceof StoreUnavailable ? 'store fails' : String(end.error)
  return end.value.kind === 'bought' ? 'bought' : end.value.code
}

/** What the outcome of a path says about the charge. */
const chargeIn = ({ end }: Path<Outcome>): { readonly charged?: unknown; readonly tx?: unknown } =>
  end.kind === 'threw' || end.value.kind === 'bought' ? {} : (end.value.details ?? {})

const statusIn = ({ end }: Path<Outcome>): number =>
  end.kind === 'threw' || end.value.kind === 'bought' ? 500 : statusOf[end.value.code]

const labelled = (steps: readonly Step[], verb: Verb): readonly string[] =>
  steps.flatMap(({ request, reply }) => (request.do === verb ? reply.label : []))

const asks = ({ steps }: Path<Outcome>, verb: Verb) => steps.some(({ request }) => request.do === verb)
// Whether a reorganisation could undo a status affects only what is stored.
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
    'the facilitator is not called before the chain reports the authorization as unspent',
    (path) => asks(path, 'verify') && labelled(until(path, 'verify'), 'read-chain').at(-1) !== 'unspent',
  )

  law('a block is held only for a payment that was verified or is on the chain', (path) => {
    const before = until(path, 'claim')
    return asks(path, 'claim') && labelled(before, 'verify').at(-1) !== 'valid' && lastStatus(before) !== 'paid'
  })

  law(
    'a payment is settled only while its block is held',
    (path) =>
      asks(path, 'settle') &&
      !labelled(until(path, 'settle'), 'claim').includes('claimed') &&
      !isHeld(remembered(path)),
  )

  law(
    'a held purchase is settled again only while the chain reports the authorization as unspent',
    (path) => asks(path, 'settle') && isHeld(remembered(path)) && lastStatus(until(path, 'settle')) !== 'unspent',
  )

  law('the stored height is the one that was read before the facilitator was called', ({ steps }) =>
    steps.some(({ request }, at) => {
      if (request.do === 'claim') return request.head !== HEAD
      return request.do === 'read-chain' && labelled(steps.slice(0, at), 'verify').length > 0
    }),
  )

  law(
    'a payment that loses the last block is not answered with sold_out, because a held block may be released',
    (path) => {
      return asks(path, 'claim') && ending(path) === 'sold_out'
    },
  )

  law(
    'one run claims and settles at most once',
    ({ steps }) => labelled(steps, 'settle').length > 1 || labelled(steps, 'claim').length > 1,
  )

  law('a new authorization is not settled while an older one of the same payer may still settle', (path) => {
    const [prior = ''] = labelled(path.steps, 'check-availability')
    if (!asks(path, 'settle') || !prior.startsWith('prior') || isHeld(remembered(path))) return false
    const [other] = labelled(until(path, 'settle'), 'resolve-other')
    return !prior.startsWith('prior open') || other === undefined || other === 'still open' || other === 'sold'
  })

  law(
    'a prior purchase is revealed only for a new, unspent payment that its payer signed',
    (path) =>
      (asks(path, 'resolve-other') || asks(path, 'hand-over')) &&
      (labelled(path.steps, 'check-signature').at(-1) !== 'good' ||
        labelled(path.steps, 'read-chain').at(-1) !== 'unspent'),
  )

  law(
    'no third party is called for a new payment before its signature is verified',
    (path) =>
      remembered(path) === 'unknown' &&
      (asks(path, 'read-chain') || asks(path, 'verify') || asks(path, 'ask-chain')) &&
      labelled(path.steps, 'check-signature')[0] !== 'good',
  )

  law(
    'the facilitator is not called for an order that cannot be accepted',
    (path, { armed, isDenied, listing, now }) =>
      remembered(path) === 'unknown' &&
      (!armed || isDenied || isFailure(listing) || now !== NOW) &&
      asks(path, 'verify'),
  )

  law('an invalid order is refused for the reason that makes it invalid', (path, { armed, isDenied, listing, now }) => {
    const isPayers = labelled(path.steps, 'check-signature')[0] === 'good'
    const isOpen = labelled(path.steps, 'check-availability')[0] === 'open'
    if (remembered(path) !== 'unknown' || !isPayers) return false
    if (isDenied) return ending(path) !== 'payer_denied'
    if (!isOpen) return false
    if (!armed) return ending(path) !== 'facilitator_unavailable'
    if (labelled(path.steps, 'read-chain')[0] !== 'unspent') return false
    if (now !== NOW) return ending(path) !== 'payment_required'
    return isFailure(listing) && ending(path) !== 'invalid_listing'
  })

  law(
    'a payment that cannot buy is looked up on the chain only within a budget',
    ({ steps }, { now }) =>
      now !== NOW &&
      steps.some(({ request }) => request.do === 'read-chain' && !request.isRefused) &&
      labelled(steps, 'look-up')[0] === 'unknown',
  )
})

describe('once money may have moved', () => {
  law('after a settlement, a payment is denied only on proof', (path) => {
    if (!asks(path, 'settle') || !DENIALS.has(ending(path))) return false
    if (lastStatus(path.steps) === 'void') return false
    const [settling = ''] = labelled(path.steps, 'settle')
    return isHeld(remembered(path)) || lastStatus(path.steps) !== 'unspent' || !provesNothingSent.has(settling)
  })

  law('a payment that is on the chain is never denied', (path) => sawPaid(path) && DENIALS.has(ending(path)))

  law(
    'a payment that is on the chain ends in a sale, a credit or payment_unmatched',
    (path) =>
      sawPaid(path) &&
      !asks(path, 'finalize') &&
      !asks(path, 'fulfil-late-payment') &&
      ending(path) !== 'payment_unmatched',
  )

  law(
    'a payment that was spent before it was first received buys nothing',
    (path) =>
      remembered(path) === 'unknown' &&
      labelled(path.steps, 'read-chain')[0] === 'spent' &&
      ['claim', 'finalize', 'record-unclaimed', 'fulfil-late-payment'].some((verb) => asks(path, verb as Verb)),
  )

  law('an outcome for a charged payer says so and has the transaction', (path) => {
    const { charged, tx } = chargeIn(path)
    if (charged !== 'yes') return sawPaid(path) && statusIn(path) < 500
    return tx === undefined
  })

  law('an outcome says that nothing was charged only if nothing was sent or nothing can settle any more', (path) => {
    if (chargeIn(path).charged !== 'no') return false
    const isOver = isForGood(path.steps) || remembered(path) === 'final'
    return sawPaid(path) || (!isOver && (remembered(path) !== 'unknown' || asks(path, 'settle')))
  })

  law('no message denies a charge beside `charged: unknown`', (path) => {
    const { end } = path
    if (end.kind === 'threw' || end.value.kind === 'bought' || chargeIn(path).charged !== 'unknown') return false
    return deniesCharge(end.value.message)
  })

  law('only the payer can see whether its payment was charged', (path, { payment }) => {
    const isProven = labelled(path.steps, 'check-signature').at(-1) === 'good'
    return chargeIn(path).charged !== undefined && !isProven && (remembered(path) === 'unknown' || payment !== PAYMENT)
  })

  law(
    'a released payment that was spent since then is checked on the chain before it is answered',
    (path) =>
      remembered(path) === 'released' &&
      labelled(path.steps, 'read-chain').includes('spent') &&
      path.steps.at(-1)?.request.do === 'read-chain',
  )

  law('no payer is asked to pay while an older payment of the same payer may have gone through', (path) => {
    const [prior = ''] = labelled(path.steps, 'check-availability')
    if (ending(path) !== 'payment_required' || !prior.startsWith('prior')) return false
    if (labelled(path.steps, 'check-signature').at(-1) === 'bad') return false // sent by somebody else than the payer
    if (lastStatus(path.steps) === 'void' && asks(path, 'release')) return false
    return !asks(path, 'resolve-other') && !asks(path, 'hand-over')
  })

  law('no payer is asked to retry a payment that can never settle', (path) => {
    const [prior = ''] = labelled(path.steps, 'check-availability')
    return isForGood(path.steps) && ending(path) === 'settlement_unknown' && !prior.startsWith('prior')
  })

  law('a purchase whose payer is asked to retry is marked as uncertain', (path) => {
    const code = ending(path)
    if (code !== 'settlement_unknown' && code !== 'deed_not_persisted') return false
    const held = isHeld(remembered(path)) || labelled(path.steps, 'claim').includes('claimed')
    return held && remembered(path) !== 'uncertain' && !asks(path, 'mark-uncertain')
  })

  law('a held, sold or credited payment gets the same answer whatever the new order says', (path, order) => {
    if (!isKnown(remembered(path)) || order.payment !== PAYMENT) return false
    return ending(path) === 'invalid_listing' || asks(path, 'check-availability')
  })

  law(
    'a released payment buys its first target and listing, whatever the new order says',
    (path) => !isKnown(remembered(path)) && remembered(path) !== 'unknown' && ending(path) === 'invalid_listing',
  )

  law('a known payment is revealed only to its payer, and only as it was signed', (path, { payment }) => {
    if (!isKnown(remembered(path)) || payment === PAYMENT) return false
    const isOpened = payment === REPEATS['other signature'] && labelled(path.steps, 'check-signature')[0] === 'good'
    const isSigned = labelled(path.steps, 'check-signature')[0] === 'good'
    return !isOpened && (ending(path) === 'bought' || (ending(path) === 'payment_used' && !isSigned))
  })

  law('a nonce that its payer signed again is answered with payment_used or payment_credited', (path, { payment }) => {
    const isAnew = payment === REPEATS['other time'] || payment === REPEATS['other money']
    const isRenewed = remembered(path) === 'released' || remembered(path) === 'final'
    if (!isAnew || labelled(path.steps, 'check-signature')[0] !== 'good') return false
    if (isRenewed ? payment !== REPEATS['other money'] : !isKnown(remembered(path))) return false
    return ending(path) !== (remembered(path) === 'credited' ? 'payment_credited' : 'payment_used')
  })

  law(
    'resending a known payment does not use up a receipt that the payer is owed',
    (path) => isKnown(remembered(path)) && asks(path, 'hand-over'),
  )
})

describe('releases, sales and receipts', () => {
  law('a held block is released only on proof', (path) => {
    if (!asks(path, 'release')) return false
    const before = until(path, 'release')
    const release = path.steps.find(({ request }) => request.do === 'release')
    const isFinal = release?.request.do === 'release' && release.request.isFinal
    if (lastStatus(before) === 'void') return isFinal !== isForGood(before)
    const [settling = ''] = labelled(before, 'settle')
    const firstTry = labelled(before, 'claim').includes('claimed')
    return isFinal || !firstTry || lastStatus(before) !== 'unspent' || !provesNothingSent.has(settling)
  })

  law('a refusal to settle is believed only once a later block confirms it', (path) => {
    const [settling] = labelled(path.steps, 'settle')
    if (settling !== 'definite refusal' || !asks(path, 'release') || lastStatus(path.steps) !== 'unspent') return false
    const last = path.steps.findLast(({ request }) => request.do === 'ask-chain')?.request
    return last?.do !== 'ask-chain' || last.wait !== 'next-block'
  })

  law(
    'no answer says that nothing was claimed while the block is still held',
    (path) =>
      ending(path) === 'facilitator_unavailable' &&
      (labelled(path.steps, 'claim').includes('claimed') || isHeld(remembered(path))) &&
      !labelled(path.steps, 'release').includes('done'),
  )

  law(
    'a sale counts as settled only after the chain reports it as paid, with the transaction from the chain',
    ({ steps }) =>
      steps.some(({ request }, at) => {
        if (request.do !== 'finalize') return false
        const asked = steps.slice(0, at).findLast((step) => step.request.do === 'ask-chain')
        if (request.settled) return asked?.reply.label.startsWith('paid') !== true || request.tx !== txOf(asked)
        const settling = steps.find((step) => step.request.do === 'settle')
        return asked?.reply.label !== 'silent' || settling?.reply.label !== 'success' || request.tx !== txOf(settling)
      }),
  )

  law(
    'a late payment is fulfilled only after the chain reports it as paid',
    (path) => asks(path, 'fulfil-late-payment') && lastStatus(until(path, 'fulfil-late-payment')) !== 'paid',
  )

  law('a receipt names a sold block that the request asked for', ({ end }, { target }) => {
    if (end.kind === 'threw' || end.value.kind !== 'bought') return false
    const { purchase } = end.value
    if (purchase.state.kind !== 'sold') return true
    if (positionOf(target).at === 'next') return purchase.target !== target && purchase.payment === PAYMENT
    return target !== resolveTarget(purchase)
  })

  law(
    'only one run at a time returns the receipt of a prior purchase',
    ({ steps, end }) =>
      end.kind === 'answered' &&
      end.value.kind === 'bought' &&
      end.value.purchase.payment === OLDER_PAYMENT &&
      labelled(steps, 'hand-over').at(-1) !== 'given',
  )

  law(
    'the receipt of a prior purchase is marked as earlier',
    ({ end }) =>
      end.kind === 'answered' &&
      end.value.kind === 'bought' &&
      (end.value.isEarlier === true) !== (end.value.purchase.payment === OLDER_PAYMENT),
  )
})

describe('when the database fails', () => {
  law('a database failure ends the run, except in mark-uncertain and finalize', ({ steps, end }) => {
    const at = steps.findIndex(({ reply }) => reply === DOWN)
    const verb = steps[at]?.request.do
    if (at < 0 || verb === 'mark-uncertain' || verb === 'finalize') return false
    return at !== steps.length - 1 || end.kind !== 'threw' || end.error !== ('fault' in DOWN && DOWN.fault)
  })

  law(
    'a sale that cannot be saved is answered with deed_not_persisted',
    (path) => labelled(path.steps, 'finalize').includes('store fails') && ending(path) !== 'deed_not_persisted',
  )

  law(
    'only a database failure makes a run fail',
    ({ steps, end }) => end.kind === 'threw' && !steps.some(({ reply }) => reply === DOWN),
  )

  test('a bug in a port is never treated as a database failure', () => {
    const bug = new RangeError('a bug')
    const broken: Reply = { label: 'a bug', fault: bug }
    const replies = (request: ScriptRequest) =>
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
