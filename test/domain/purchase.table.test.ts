/** Every path of "buy this block", to be read. A change of the script shows here as a change of its story. */

import { expect, test } from 'bun:test'
import { statusOf } from '../../server/domain/failure.ts'
import { buy, reconcile, type Outcome, type Purchase, type Request } from '../../server/domain/purchase.ts'
import { everyPath, type Path, type Reply, type Step } from './every-path.ts'
import { pathTable, type Row } from './path-table.ts'
import { DOWN, flawedOrders, HERE, orderOf, PAYMENT, repliesFor } from './purchase-answers.ts'

test('every path of "buy this block"', () => {
  const orders = { good: orderOf(HERE), ...flawedOrders(HERE) }
  const rows = Object.entries(orders).flatMap(([name, order]) =>
    Array.from(
      everyPath(() => buy(order), replies),
      (path) => rowOf(path, name),
    ),
  )
  expect(pathTable(rows)).toMatchInlineSnapshot(`
    "look-up: unknown > order: good > older purchase: none > survey: open > read-chain: unspent > [after read-chain: unspent]
    look-up: unknown > order: good > older purchase: none > survey: open > read-chain: spent -> 402 payment_required
    look-up: unknown > order: good > older purchase: none > survey: open > read-chain: silent -> 502 facilitator_unavailable
    look-up: unknown > order: good > older purchase: none > survey: reserved | full -> 409 purchase_pending
    look-up: unknown > order: good > older purchase: none > survey: claimed -> 409 block_taken
    look-up: unknown > order: good > older purchase: in doubt > survey > read-chain: unspent > [after read-chain: unspent, 2]
    look-up: unknown > order: good > older purchase: in doubt > survey > read-chain: spent -> 503 settlement_unknown
    look-up: unknown > order: good > older purchase: in doubt > survey > read-chain: silent -> 502 facilitator_unavailable
    look-up: unknown > order: good > older purchase: sold > survey > read-chain: unspent > [after read-chain: unspent, 3]
    look-up: unknown > order: good > older purchase: sold > survey > read-chain: spent -> 503 settlement_unknown
    look-up: unknown > order: good > older purchase: sold > survey > read-chain: silent -> 502 facilitator_unavailable
    look-up: unknown > order: good > older purchase: sold elsewhere > survey > read-chain: unspent > [after read-chain: unspent, 4]
    look-up: unknown > order: good > older purchase: sold elsewhere > survey > read-chain: spent -> 503 settlement_unknown
    look-up: unknown > order: good > older purchase: sold elsewhere > survey > read-chain: silent -> 502 facilitator_unavailable
    look-up: unknown > order: unarmed -> 502 facilitator_unavailable
    look-up: unknown > order: unfit > [after order: unfit]
    look-up: unknown > order: bad listing > older purchase: none > survey: open | reserved | full -> 400 invalid_listing
    look-up: unknown > order: bad listing > older purchase: none > survey: claimed -> 409 block_taken
    look-up: unknown > order: bad listing > older purchase: in doubt | sold | sold elsewhere > survey -> 400 invalid_listing
    look-up: reserved > doubt > [after doubt]
    look-up: in doubt > [after doubt]
    look-up: sold | sold, unseen -> bought
    look-up: sold, receipt owed > deliver -> bought
    look-up: released | dead > ask-chain: paid | paid for good > [after ask-chain: paid | paid for good]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: none > survey: open > read-chain: unspent > [after read-chain: unspent]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: none > survey: open > read-chain: spent > [after read-chain: spent]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: none > survey: open > read-chain: silent -> 502 facilitator_unavailable
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: none > survey: reserved | full -> 409 purchase_pending
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: none > survey: claimed -> 409 block_taken
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: in doubt > survey > read-chain: unspent > [after read-chain: unspent, 2]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: in doubt > survey > read-chain: spent > [after read-chain: spent]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: in doubt > survey > read-chain: silent -> 502 facilitator_unavailable
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: sold > survey > read-chain: unspent > [after read-chain: unspent, 3]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: sold > survey > read-chain: spent > [after read-chain: spent]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: sold > survey > read-chain: silent -> 502 facilitator_unavailable
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: sold elsewhere > survey > read-chain: unspent > [after read-chain: unspent, 4]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: sold elsewhere > survey > read-chain: spent > [after read-chain: spent]
    look-up: released | dead > ask-chain: unspent > order: good | bad listing > older purchase: sold elsewhere > survey > read-chain: silent -> 502 facilitator_unavailable
    look-up: released | dead > ask-chain: unspent > order: unarmed -> 502 facilitator_unavailable
    look-up: released | dead > ask-chain: unspent > order: unfit > [after order: unfit]
    look-up: released | dead > ask-chain: void > release and watch -> 402 payment_required
    look-up: released | dead > ask-chain: void for good > release for good -> 402 payment_required
    look-up: released | dead > ask-chain: silent -> 503 settlement_unknown
    look-up: credited -> 409 payment_credited

    [after read-chain: unspent]:
    verify: valid > [after verify: valid]
    verify: bad signature > [after verify: bad signature]
    verify: invalid > ask-chain: paid | paid for good > [after ask-chain: paid | paid for good]
    verify: invalid > ask-chain: unspent | void | void for good -> 402 payment_required
    verify: invalid > ask-chain: silent -> 502 facilitator_unavailable
    verify: unavailable -> 502 facilitator_unavailable
    verify: busy -> 503 server_busy

    [after verify: valid]:
    claim: claimed > settle: success > ask-chain patiently: paid | paid for good > finalize as seen: done -> bought
    claim: claimed > settle: success > ask-chain patiently: paid | paid for good > finalize as seen: store fails > doubt -> 503 deed_not_persisted
    claim: claimed > settle: success > ask-chain patiently: unspent > doubt -> 503 settlement_unknown
    claim: claimed > settle: success > ask-chain patiently: void > release and watch -> 402 payment_required
    claim: claimed > settle: success > ask-chain patiently: void for good > release for good -> 402 payment_required
    claim: claimed > settle: success > ask-chain patiently: silent > finalize on its word: done -> bought
    claim: claimed > settle: success > ask-chain patiently: silent > finalize on its word: store fails > doubt -> 503 deed_not_persisted
    claim: claimed > settle: definite refusal > ask-chain: paid | paid for good > finalize as seen: done -> bought
    claim: claimed > settle: definite refusal > ask-chain: paid | paid for good > finalize as seen: store fails > doubt -> 503 deed_not_persisted
    claim: claimed > settle: definite refusal > ask-chain: unspent | void > release and watch -> 402 payment_required
    claim: claimed > settle: definite refusal > ask-chain: void for good > release for good -> 402 payment_required
    claim: claimed > settle: definite refusal > ask-chain: silent > doubt -> 503 settlement_unknown
    claim: claimed > settle: vague refusal | unclear > ask-chain patiently: paid | paid for good > finalize as seen: done -> bought
    claim: claimed > settle: vague refusal | unclear > ask-chain patiently: paid | paid for good > finalize as seen: store fails > doubt -> 503 deed_not_persisted
    claim: claimed > settle: vague refusal | unclear > ask-chain patiently: unspent | silent > doubt -> 503 settlement_unknown
    claim: claimed > settle: vague refusal | unclear > ask-chain patiently: void > release and watch -> 402 payment_required
    claim: claimed > settle: vague refusal | unclear > ask-chain patiently: void for good > release for good -> 402 payment_required
    claim: claimed > settle: unsent > ask-chain: paid | paid for good > finalize as seen: done -> bought
    claim: claimed > settle: unsent > ask-chain: paid | paid for good > finalize as seen: store fails > doubt -> 503 deed_not_persisted
    claim: claimed > settle: unsent > ask-chain: unspent > release and watch -> 502 facilitator_unavailable
    claim: claimed > settle: unsent > ask-chain: void > release and watch -> 402 payment_required
    claim: claimed > settle: unsent > ask-chain: void for good > release for good -> 402 payment_required
    claim: claimed > settle: unsent > ask-chain: silent > doubt -> 503 settlement_unknown
    claim: claimed > settle: busy > ask-chain: paid | paid for good > finalize as seen: done -> bought
    claim: claimed > settle: busy > ask-chain: paid | paid for good > finalize as seen: store fails > doubt -> 503 deed_not_persisted
    claim: claimed > settle: busy > ask-chain: unspent > release and watch -> 503 server_busy
    claim: claimed > settle: busy > ask-chain: void > release and watch -> 402 payment_required
    claim: claimed > settle: busy > ask-chain: void for good > release for good -> 402 payment_required
    claim: claimed > settle: busy > ask-chain: silent > doubt -> 503 settlement_unknown
    claim: lost, reserved | lost, full -> 409 purchase_pending
    claim: lost, claimed -> 409 block_taken
    claim: older in doubt -> 503 settlement_unknown

    [after verify: bad signature]:
    ask-chain: paid | paid for good > [after ask-chain: paid | paid for good]
    ask-chain: unspent | void | void for good > check-for-token: good | silent -> 502 facilitator_unavailable
    ask-chain: unspent | void | void for good > check-for-token: bad -> 402 payment_required
    ask-chain: unspent | void | void for good > check-for-token: busy -> 503 server_busy
    ask-chain: silent -> 502 facilitator_unavailable

    [after ask-chain: paid | paid for good]:
    owe: its block > deliver -> bought
    owe: another block -> 409 payment_used
    owe: credit -> 409 payment_credited

    [after read-chain: unspent, 2]:
    verify: valid > resolve-other: none | released | credited > [after verify: valid]
    verify: valid > resolve-other: still open -> 503 settlement_unknown
    verify: valid > resolve-other: sold > deliver: was owed -> bought with the older payment
    verify: valid > resolve-other: sold > deliver: was not -> 503 settlement_unknown
    verify: valid > resolve-other: sold elsewhere > deliver: was owed -> 409 payment_used
    verify: valid > resolve-other: sold elsewhere > deliver: was not -> 503 settlement_unknown
    verify: bad signature > [after verify: bad signature]
    verify: invalid > ask-chain: paid | paid for good > [after ask-chain: paid | paid for good]
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > resolve-other: none | released | credited -> 402 payment_required
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > resolve-other: still open -> 503 settlement_unknown
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > resolve-other: sold > deliver: was owed -> bought with the older payment
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > resolve-other: sold > deliver: was not -> 503 settlement_unknown
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > resolve-other: sold elsewhere > deliver: was owed -> 409 payment_used
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > resolve-other: sold elsewhere > deliver: was not -> 503 settlement_unknown
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: bad | busy | silent -> 503 settlement_unknown
    verify: invalid > ask-chain: silent -> 502 facilitator_unavailable
    verify: unavailable -> 502 facilitator_unavailable
    verify: busy -> 503 server_busy

    [after read-chain: unspent, 3]:
    verify: valid > deliver: was owed -> bought with the older payment
    verify: valid > deliver: was not -> 503 settlement_unknown
    verify: bad signature > [after verify: bad signature]
    verify: invalid > ask-chain: paid | paid for good > [after ask-chain: paid | paid for good]
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > deliver: was owed -> bought with the older payment
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > deliver: was not -> 503 settlement_unknown
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: bad | busy | silent -> 503 settlement_unknown
    verify: invalid > ask-chain: silent -> 502 facilitator_unavailable
    verify: unavailable -> 502 facilitator_unavailable
    verify: busy -> 503 server_busy

    [after read-chain: unspent, 4]:
    verify: valid > deliver: was owed -> 409 payment_used
    verify: valid > deliver: was not -> 503 settlement_unknown
    verify: bad signature > [after verify: bad signature]
    verify: invalid > ask-chain: paid | paid for good > [after ask-chain: paid | paid for good]
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > deliver: was owed -> 409 payment_used
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: good > deliver: was not -> 503 settlement_unknown
    verify: invalid > ask-chain: unspent | void | void for good > check-signature: bad | busy | silent -> 503 settlement_unknown
    verify: invalid > ask-chain: silent -> 502 facilitator_unavailable
    verify: unavailable -> 502 facilitator_unavailable
    verify: busy -> 503 server_busy

    [after order: unfit]:
    older purchase: none > survey: open -> 402 payment_required
    older purchase: none > survey: reserved | full -> 409 purchase_pending
    older purchase: none > survey: claimed -> 409 block_taken
    older purchase: in doubt | sold | sold elsewhere > survey -> 503 settlement_unknown

    [after doubt]:
    ask-chain: paid | paid for good > finalize as seen: done > deliver -> bought
    ask-chain: paid | paid for good > finalize as seen: store fails -> 503 deed_not_persisted
    ask-chain: unspent > settle: success > ask-chain patiently: paid | paid for good > finalize as seen: done > deliver -> bought
    ask-chain: unspent > settle: success > ask-chain patiently: paid | paid for good > finalize as seen: store fails -> 503 deed_not_persisted
    ask-chain: unspent > settle: success > ask-chain patiently: unspent -> 503 settlement_unknown
    ask-chain: unspent > settle: success > ask-chain patiently: void > release and watch -> 402 payment_required
    ask-chain: unspent > settle: success > ask-chain patiently: void for good > release for good -> 402 payment_required
    ask-chain: unspent > settle: success > ask-chain patiently: silent > finalize on its word: done > deliver -> bought
    ask-chain: unspent > settle: success > ask-chain patiently: silent > finalize on its word: store fails -> 503 deed_not_persisted
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: paid | paid for good > finalize as seen: done > deliver -> bought
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: paid | paid for good > finalize as seen: store fails -> 503 deed_not_persisted
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: unspent | silent -> 503 settlement_unknown
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: void > release and watch -> 402 payment_required
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: void for good > release for good -> 402 payment_required
    ask-chain: void > release and watch -> 402 payment_required
    ask-chain: void for good > release for good -> 402 payment_required
    ask-chain: silent -> 503 settlement_unknown

    [after read-chain: spent]:
    ask-chain: paid | paid for good > [after ask-chain: paid | paid for good]
    ask-chain: unspent | silent -> 503 settlement_unknown
    ask-chain: void > release and watch -> 402 payment_required
    ask-chain: void for good > release for good -> 402 payment_required"
  `)
})

test('every path of the sweeper through one purchase', () => {
  const rows = Array.from(
    everyPath(() => reconcile(PAYMENT), replies),
    (path) => rowOf(path),
  )
  expect(pathTable(rows)).toMatchInlineSnapshot(`
    "look-up: unknown -> nothing to do
    look-up: reserved > doubt > [after doubt]
    look-up: in doubt > [after doubt]
    look-up: sold | sold, receipt owed > ask-chain: paid > confirm -> sold
    look-up: sold | sold, receipt owed > ask-chain: unspent > settle > ask-chain patiently: paid > confirm -> sold
    look-up: sold | sold, receipt owed > ask-chain: unspent > settle > ask-chain patiently: unspent | void > miss -> sold
    look-up: sold | sold, receipt owed > ask-chain: unspent > settle > ask-chain patiently: paid for good > seal -> sold
    look-up: sold | sold, receipt owed > ask-chain: unspent > settle > ask-chain patiently: void for good > write-off -> sold
    look-up: sold | sold, receipt owed > ask-chain: unspent > settle > ask-chain patiently: silent -> sold
    look-up: sold | sold, receipt owed > ask-chain: paid for good > seal -> sold
    look-up: sold | sold, receipt owed > ask-chain: void > miss -> sold
    look-up: sold | sold, receipt owed > ask-chain: void for good > write-off -> sold
    look-up: sold | sold, receipt owed > ask-chain: silent -> sold
    look-up: sold, unseen > ask-chain: paid > confirm -> sold, unseen
    look-up: sold, unseen > ask-chain: unspent > settle > ask-chain patiently: paid > confirm -> sold, unseen
    look-up: sold, unseen > ask-chain: unspent > settle > ask-chain patiently: unspent | void | silent -> sold, unseen
    look-up: sold, unseen > ask-chain: unspent > settle > ask-chain patiently: paid for good > seal -> sold, unseen
    look-up: sold, unseen > ask-chain: unspent > settle > ask-chain patiently: void for good > write-off -> sold, unseen
    look-up: sold, unseen > ask-chain: paid for good > seal -> sold, unseen
    look-up: sold, unseen > ask-chain: void | silent -> sold, unseen
    look-up: sold, unseen > ask-chain: void for good > write-off -> sold, unseen
    look-up: released > ask-chain: paid | paid for good > owe: its block -> sold
    look-up: released > ask-chain: paid | paid for good > owe: another block -> sold elsewhere
    look-up: released > ask-chain: paid | paid for good > owe: credit -> credited
    look-up: released > ask-chain: unspent | silent -> released
    look-up: released > ask-chain: void > release and watch -> released
    look-up: released > ask-chain: void for good > release for good -> dead
    look-up: dead -> dead
    look-up: credited -> credited

    [after doubt]:
    ask-chain: paid | paid for good > finalize as seen: done -> sold
    ask-chain: paid | paid for good > finalize as seen: store fails -> in doubt
    ask-chain: unspent > settle: success > ask-chain patiently: paid | paid for good > finalize as seen: done -> sold
    ask-chain: unspent > settle: success > ask-chain patiently: paid | paid for good > finalize as seen: store fails -> in doubt
    ask-chain: unspent > settle: success > ask-chain patiently: unspent -> in doubt
    ask-chain: unspent > settle: success > ask-chain patiently: void > release and watch -> released
    ask-chain: unspent > settle: success > ask-chain patiently: void for good > release for good -> dead
    ask-chain: unspent > settle: success > ask-chain patiently: silent > finalize on its word: done -> sold, unseen
    ask-chain: unspent > settle: success > ask-chain patiently: silent > finalize on its word: store fails -> in doubt
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: paid | paid for good > finalize as seen: done -> sold
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: paid | paid for good > finalize as seen: store fails -> in doubt
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: unspent | silent -> in doubt
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: void > release and watch -> released
    ask-chain: unspent > settle: definite refusal | vague refusal | unsent | unclear | busy > ask-chain patiently: void for good > release for good -> dead
    ask-chain: void > release and watch -> released
    ask-chain: void for good > release for good -> dead
    ask-chain: silent -> in doubt"
  `)
})

function replies(request: Request): readonly Reply[] {
  const all = repliesFor(request, HERE)
  return request.do === 'finalize' ? [...all, DOWN] : all
}

/** The order is told where it first matters: before the survey, or where a path ends without one. */
function rowOf({ steps, end }: Path<Outcome | Purchase | undefined>, order?: string): Row {
  const words = steps.flatMap(told)
  const survey = words.findIndex((word) => word.startsWith('older purchase'))
  const withOrder =
    order === undefined ? words : words.toSpliced(survey < 0 ? words.length : survey, 0, `order: ${order}`)
  return { steps: withOrder, end: end.kind === 'threw' ? String(end.error) : ending(end.value) }
}

/** A step in words; a survey tells two things. */
function told({ request, reply: { label } }: Step): readonly string[] {
  if (request.do !== 'survey') return [`${verbOf(request)}: ${label}`]
  const [space, older = 'none'] = label.split(', ').toReversed()
  return [`older purchase: ${older.replace('older ', '')}`, `survey: ${space}`]
}

function verbOf(request: Request): string {
  if (request.do === 'release') return request.dead ? 'release for good' : 'release and watch'
  if (request.do === 'finalize') return request.settled ? 'finalize as seen' : 'finalize on its word'
  if (request.do === 'ask-chain' && request.patience === 'settling') return 'ask-chain patiently'
  return request.do
}

function ending(value: Outcome | Purchase | undefined): string {
  if (value === undefined) return 'nothing to do'
  if ('state' in value) return stateName(value)
  if (value.kind === 'refused') return `${statusOf[value.failure.code]} ${value.failure.code}`
  return value.purchase.payment === PAYMENT ? 'bought' : 'bought with the older payment'
}

function stateName({ state, block }: Purchase): string {
  const where = block === HERE ? '' : ' elsewhere'
  if (state.kind === 'released') return state.dead ? 'dead' : 'released'
  if (state.kind === 'reserved') return state.doubted ? 'in doubt' : 'reserved'
  if (state.kind === 'credited') return 'credited'
  return `sold${where}${state.settled ? '' : ', unseen'}`
}
