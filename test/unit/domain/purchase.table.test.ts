/** Every path of a valid order for a block, as a readable table. A change in the script shows up here. */

import { expect, test } from 'bun:test'
import { statusOf } from '../../../server/domain/failure.ts'
import { buy, reconcile } from '../../../server/domain/purchase/purchase-script.ts'
import type { BuyOrder, Outcome, Purchase, ScriptRequest } from '../../../server/domain/purchase/purchase.ts'
import { walkPaths, type Path, type Step } from './every-path.ts'
import { renderPathTable, type Row } from './path-table.ts'
import { HERE, createOrder, PAYMENT, listReplies } from './purchase-answers.ts'

test('the table shows every path of a request to buy a block', () => {
  const order = createOrder(HERE)
  // purchase.walk.test.ts covers the rest: invalid orders, a database that fails, final chain states, and released
  // payments that are still valid, which buy like new ones.
  const listTableReplies = (request: ScriptRequest, before: readonly Step[]) =>
    listReplies(request, HERE).filter(
      ({ label }) =>
        !/^final$|for good$/.test(label) && !(before[0]?.reply.label === 'released' && label === 'unspent'),
    )
  const rows = Array.from(
    walkPaths(() => buy(order), listTableReplies),
    (path) => toRow(path),
  )
  expect(renderPathTable(rows)).toMatchInlineSnapshot(`
    "look-up: unknown > check-signature: good > prior purchase: none > check-availability: open > read-chain: unspent > verify: valid > [after verify: valid]
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: open > read-chain: unspent > verify: bad signature > [after verify: bad signature]
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: open > read-chain: unspent > verify: invalid > [after check-for-token: bad]
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: open > read-chain: unspent > verify: unavailable -> 502 facilitator_unavailable
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: open > read-chain: unspent > verify: busy -> 503 server_busy
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: open > read-chain: spent > [after read-chain: spent]
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: open > read-chain: silent -> 502 facilitator_unavailable
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: reserved | full > read-chain: unspent -> 409 purchase_pending
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: reserved | full > read-chain: spent > [after read-chain: spent]
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: reserved | full > read-chain: silent -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: claimed > read-chain: unspent -> 409 block_taken
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: claimed > read-chain: spent > [after read-chain: spent]
    look-up: unknown > check-signature: good > prior purchase: none > check-availability: claimed > read-chain: silent -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: none | released | credited > verify: valid > [after verify: valid]
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: none | released | credited > verify: bad signature > prior purchase: none > check-availability > [after verify: bad signature]
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: none | released | credited > verify: bad signature > prior purchase: open | sold | sold elsewhere > check-availability -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: none | released | credited > verify: invalid > prior purchase: none > check-availability > [after check-for-token: bad]
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: none | released | credited > verify: invalid > prior purchase: open | sold | sold elsewhere > check-availability -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: none | released | credited > verify: unavailable -> 502 facilitator_unavailable
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: none | released | credited > verify: busy -> 503 server_busy
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: still open -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: sold > hand-over: given -> bought with the prior payment
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: sold > hand-over: taken -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: sold elsewhere > hand-over: given -> 409 payment_used
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: unspent > resolve-other: sold elsewhere > hand-over: taken -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: spent > ask-chain: paid -> 409 payment_unmatched
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: spent > ask-chain: unspent | void | silent -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: open > check-availability > read-chain: silent -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: sold > check-availability > read-chain: unspent > hand-over: given -> bought with the prior payment
    look-up: unknown > check-signature: good > prior purchase: sold > check-availability > read-chain: unspent > hand-over: taken -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: sold > check-availability > read-chain: spent > [after read-chain: spent, 2]
    look-up: unknown > check-signature: good > prior purchase: sold > check-availability > read-chain: silent -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: sold elsewhere > check-availability > read-chain: unspent > hand-over: given -> 409 payment_used
    look-up: unknown > check-signature: good > prior purchase: sold elsewhere > check-availability > read-chain: unspent > hand-over: taken -> 503 settlement_unknown
    look-up: unknown > check-signature: good > prior purchase: sold elsewhere > check-availability > read-chain: spent > [after read-chain: spent, 2]
    look-up: unknown > check-signature: good > prior purchase: sold elsewhere > check-availability > read-chain: silent -> 503 settlement_unknown
    look-up: unknown > check-signature: bad > prior purchase: none > check-availability: open | full -> 402 payment_required
    look-up: unknown > check-signature: bad > prior purchase: none > check-availability: reserved -> 409 purchase_pending
    look-up: unknown > check-signature: bad > prior purchase: none > check-availability: claimed -> 409 block_taken
    look-up: unknown > check-signature: bad > prior purchase: open | sold | sold elsewhere > check-availability: open -> 402 payment_required
    look-up: unknown > check-signature: bad > prior purchase: open | sold | sold elsewhere > check-availability: claimed -> 409 block_taken
    look-up: unknown > check-signature: busy -> 503 server_busy
    look-up: unknown > check-signature: silent -> 502 facilitator_unavailable
    look-up: reserved > mark-uncertain > [after mark-uncertain]
    look-up: uncertain > [after mark-uncertain]
    look-up: sold | sold, unseen | sold, unanswered -> bought
    look-up: released > ask-chain: paid > [after ask-chain: paid]
    look-up: released > ask-chain: void > release and watch > prior purchase: none > check-availability -> 402 payment_required
    look-up: released > ask-chain: void > release and watch > prior purchase: open > check-availability -> 503 settlement_unknown
    look-up: released > ask-chain: void > release and watch > prior purchase: sold | sold elsewhere > check-availability -> 409 payment_used
    look-up: released > ask-chain: silent -> 503 settlement_unknown
    look-up: credited -> 409 payment_credited

    [after verify: valid]:
    claim: claimed > settle: success > ask-chain patiently: paid > finalize as seen -> bought
    claim: claimed > settle: success > ask-chain patiently: unspent > mark-uncertain -> 503 settlement_unknown
    claim: claimed > settle: success > ask-chain patiently: void > release and watch -> 402 payment_required
    claim: claimed > settle: success > ask-chain patiently: silent > finalize on its word -> bought
    claim: claimed > settle: definite refusal > ask-chain in the next block: paid > finalize as seen -> bought
    claim: claimed > settle: definite refusal > ask-chain in the next block: unspent | void > release and watch -> 402 payment_required
    claim: claimed > settle: definite refusal > ask-chain in the next block: silent > mark-uncertain -> 503 settlement_unknown
    claim: claimed > settle: vague refusal | unclear > ask-chain patiently: paid > finalize as seen -> bought
    claim: claimed > settle: vague refusal | unclear > ask-chain patiently: unspent | silent > mark-uncertain -> 503 settlement_unknown
    claim: claimed > settle: vague refusal | unclear > ask-chain patiently: void > release and watch -> 402 payment_required
    claim: claimed > settle: unsent > ask-chain: paid > finalize as seen -> bought
    claim: claimed > settle: unsent > ask-chain: unspent > release and watch -> 502 facilitator_unavailable
    claim: claimed > settle: unsent > ask-chain: void > release and watch -> 402 payment_required
    claim: claimed > settle: unsent > ask-chain: silent > mark-uncertain -> 503 settlement_unknown
    claim: claimed > settle: busy > ask-chain: paid > finalize as seen -> bought
    claim: claimed > settle: busy > ask-chain: unspent > release and watch -> 503 server_busy
    claim: claimed > settle: busy > ask-chain: void > release and watch -> 402 payment_required
    claim: claimed > settle: busy > ask-chain: silent > mark-uncertain -> 503 settlement_unknown
    claim: lost, reserved | lost, full > record-unclaimed > ask-chain: paid > [after ask-chain: paid]
    claim: lost, reserved | lost, full > record-unclaimed > ask-chain: unspent -> 409 purchase_pending
    claim: lost, reserved | lost, full > record-unclaimed > ask-chain: void > release and watch -> 402 payment_required
    claim: lost, reserved | lost, full > record-unclaimed > ask-chain: silent -> 503 settlement_unknown
    claim: lost, claimed > record-unclaimed > ask-chain: paid > [after ask-chain: paid]
    claim: lost, claimed > record-unclaimed > ask-chain: unspent -> 409 block_taken
    claim: lost, claimed > record-unclaimed > ask-chain: void > release and watch -> 402 payment_required
    claim: lost, claimed > record-unclaimed > ask-chain: silent -> 503 settlement_unknown
    claim: a prior one | abandoned -> 503 settlement_unknown

    [after ask-chain: paid]:
    fulfil-late-payment: its block -> bought
    fulfil-late-payment: another block -> 409 payment_used
    fulfil-late-payment: credit -> 409 payment_credited

    [after verify: bad signature]:
    check-for-token: good | silent -> 502 facilitator_unavailable
    check-for-token: bad > [after check-for-token: bad]
    check-for-token: busy -> 503 server_busy

    [after check-for-token: bad]:
    record-unclaimed > ask-chain: paid > [after ask-chain: paid]
    record-unclaimed > ask-chain: unspent -> 402 payment_required
    record-unclaimed > ask-chain: void > release and watch -> 402 payment_required
    record-unclaimed > ask-chain: silent -> 503 settlement_unknown

    [after read-chain: spent]:
    ask-chain: paid -> 409 payment_unmatched
    ask-chain: unspent | silent -> 503 settlement_unknown
    ask-chain: void -> 402 payment_required

    [after read-chain: spent, 2]:
    ask-chain: paid -> 409 payment_unmatched
    ask-chain: unspent | silent -> 503 settlement_unknown
    ask-chain: void -> 409 payment_used

    [after mark-uncertain]:
    ask-chain: paid > finalize as seen -> bought
    ask-chain: unspent > settle: success > ask-chain patiently: paid > finalize as seen -> bought
    ask-chain: unspent > settle: success > ask-chain patiently: unspent -> 503 settlement_unknown
    ask-chain: unspent > settle: success > ask-chain patiently: void > release and watch -> 402 payment_required
    ask-chain: unspent > settle: success > ask-chain patiently: silent > finalize on its word -> bought
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: paid > finalize as seen -> bought
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: unspent | silent -> 503 settlement_unknown
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: void > release and watch -> 402 payment_required
    ask-chain: void > release and watch -> 402 payment_required
    ask-chain: silent -> 503 settlement_unknown"
  `)
})

/** The rows of an order, grouped by whether its payment is unknown. */
function groupRows(order: BuyOrder) {
  const paths = walkPaths(
    () => buy(order),
    (request) => listReplies(request, HERE),
  )
  return Map.groupBy(Array.from(paths, toRow), ({ steps: [first] }) => first === 'look-up: unknown')
}

test('a payment that was signed for another order is refused right after its look-up, unless it is known', () => {
  const order = createOrder(HERE)
  const altered = groupRows({ ...order, payment: { ...order.payment, binding: 'mismatch' } })
  expect(altered.get(true)).toEqual([{ steps: ['look-up: unknown'], end: '400 order_mismatch' }])
  const known = groupRows(order)
    .get(false)
    ?.map(({ steps }) => steps)
  expect(altered.get(false)?.map(({ steps }) => steps)).toEqual(known)
  expect(altered.get(false)?.map(({ end }) => end)).not.toContain('400 order_mismatch')
})

test('a payer that the operator denies is refused once its signature is checked, unless the payment is known', () => {
  const order = createOrder(HERE)
  const denied = groupRows({ ...order, isDenied: true })
  expect(denied.get(true)?.filter(({ steps }) => steps.at(1) === 'check-signature: good')).toEqual([
    { steps: ['look-up: unknown', 'check-signature: good'], end: '403 payer_denied' },
  ])
  expect(denied.get(false)).toEqual(groupRows(order).get(false))
})

test('the table shows every path of the reconciler through one purchase', () => {
  // The table above shows how a held purchase continues, so here the chain is always silent about it.
  const isPending = ([first]: readonly Step[]) =>
    first?.reply.label === 'reserved' || first?.reply.label === 'uncertain'
  const listReconcileReplies = (request: ScriptRequest, before: readonly Step[]) =>
    listReplies(request, HERE).filter(
      ({ label }) => request.do !== 'ask-chain' || !isPending(before) || label === 'silent',
    )
  const rows = Array.from(
    walkPaths(() => reconcile(PAYMENT), listReconcileReplies),
    (path) => toRow(path),
  )
  expect(renderPathTable(rows)).toMatchInlineSnapshot(`
    "look-up: unknown -> nothing to do
    look-up: reserved > mark-uncertain > ask-chain -> uncertain
    look-up: uncertain > ask-chain -> uncertain
    look-up: sold | sold, unanswered > ask-chain: paid > confirm -> sold
    look-up: sold | sold, unanswered > ask-chain: unspent > settle > ask-chain patiently: paid > confirm -> sold
    look-up: sold | sold, unanswered > ask-chain: unspent > settle > ask-chain patiently: unspent | void > mark-missing -> sold
    look-up: sold | sold, unanswered > ask-chain: unspent > settle > ask-chain patiently: paid for good > mark-final -> sold
    look-up: sold | sold, unanswered > ask-chain: unspent > settle > ask-chain patiently: void for good > write-off -> sold
    look-up: sold | sold, unanswered > ask-chain: unspent > settle > ask-chain patiently: silent -> sold
    look-up: sold | sold, unanswered > ask-chain: paid for good > mark-final -> sold
    look-up: sold | sold, unanswered > ask-chain: void > mark-missing -> sold
    look-up: sold | sold, unanswered > ask-chain: void for good > write-off -> sold
    look-up: sold | sold, unanswered > ask-chain: silent -> sold
    look-up: sold, unseen > ask-chain: paid > confirm -> sold, unseen
    look-up: sold, unseen > ask-chain: unspent > settle > ask-chain patiently: paid > confirm -> sold, unseen
    look-up: sold, unseen > ask-chain: unspent > settle > ask-chain patiently: unspent | void | silent -> sold, unseen
    look-up: sold, unseen > ask-chain: unspent > settle > ask-chain patiently: paid for good > mark-final -> sold, unseen
    look-up: sold, unseen > ask-chain: unspent > settle > ask-chain patiently: void for good > write-off -> sold, unseen
    look-up: sold, unseen > ask-chain: paid for good > mark-final -> sold, unseen
    look-up: sold, unseen > ask-chain: void | silent -> sold, unseen
    look-up: sold, unseen > ask-chain: void for good > write-off -> sold, unseen
    look-up: released > ask-chain: paid | paid for good > fulfil-late-payment: its block -> sold
    look-up: released > ask-chain: paid | paid for good > fulfil-late-payment: another block -> sold elsewhere
    look-up: released > ask-chain: paid | paid for good > fulfil-late-payment: credit -> credited
    look-up: released > ask-chain: unspent | silent -> released
    look-up: released > ask-chain: void > release and watch -> released
    look-up: released > ask-chain: void for good > release for good -> final
    look-up: final -> final
    look-up: credited > ask-chain: paid | unspent | void | silent -> credited
    look-up: credited > ask-chain: paid for good > mark-final -> credited
    look-up: credited > ask-chain: void for good > write-off -> credited"
  `)
})

function toRow({ steps, end }: Path<Outcome | Purchase | undefined>): Row {
  return { steps: steps.flatMap(toWords), end: end.kind === 'threw' ? String(end.error) : formatEnding(end.value) }
}

/** A step in words; a check of availability becomes two steps, because the check also finds the prior purchase. */
function toWords({ request, reply: { label } }: Step): readonly string[] {
  if (request.do !== 'check-availability') return [`${nameRequest(request)}: ${label}`]
  const [space, prior = 'none'] = label.split(', ').toReversed()
  return [`prior purchase: ${prior.replace('prior ', '')}`, `check-availability: ${space}`]
}

function nameRequest(request: ScriptRequest): string {
  if (request.do === 'release') return request.isFinal ? 'release for good' : 'release and watch'
  if (request.do === 'finalize') return request.settled ? 'finalize as seen' : 'finalize on its word'
  if (request.do === 'ask-chain' && request.wait === 'settling') return 'ask-chain patiently'
  if (request.do === 'ask-chain' && request.wait === 'next-block') return 'ask-chain in the next block'
  return request.do
}

function formatEnding(value: Outcome | Purchase | undefined): string {
  if (value === undefined) return 'nothing to do'
  if ('state' in value) return formatState(value)
  if (value.kind === 'failure') return `${statusOf[value.code]} ${value.code}`
  return value.purchase.payment === PAYMENT ? 'bought' : 'bought with the prior payment'
}

function formatState({ state, block }: Purchase): string {
  const where = block === HERE ? '' : ' elsewhere'
  if (state.kind === 'released') return state.isFinal ? 'final' : 'released'
  if (state.kind === 'reserved') return state.uncertain ? 'uncertain' : 'reserved'
  if (state.kind === 'credited') return 'credited'
  return `sold${where}${state.settled ? '' : ', unseen'}`
}
