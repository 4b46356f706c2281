/**
 * The client's next step for every kind of response, as a readable table. A change in the client's decisions shows up
 * here.
 */

import { expect, test } from 'bun:test'
import { decideNextStep, type Answer, type Situation, type Step } from '../../../server/client/next-step.ts'
import { EXIT_STATUS } from '../../../server/client/wall-error.ts'
import { createSituation, BODIES, NOW, createSentPayment, SETTLEMENTS, TERMS } from './answers.ts'

const createAnswer = (status: number, body: keyof typeof BODIES, more: Partial<Answer> = {}): Answer => ({
  status,
  body: BODIES[body] ?? {},
  ...more,
})

const GOOD = { terms: TERMS['good terms'] }

const unpaid: Readonly<Record<string, Answer | undefined>> = {
  lost: undefined,
  '200 deed': createAnswer(200, 'deed'),
  '200 HTML': createAnswer(200, 'no JSON'),
  '400 of the wall': createAnswer(400, 'an error'),
  '402 good terms': createAnswer(402, 'an error', GOOD),
  '402 another host': createAnswer(402, 'an error', { terms: TERMS['another host'] }),
  '402 another token': createAnswer(402, 'an error', { terms: TERMS['another token'] }),
  '402 no terms': createAnswer(402, 'an error'),
  '404 HTML': createAnswer(404, 'no JSON'),
  '409 of the wall': createAnswer(409, 'an error'),
  '409 block_taken': createAnswer(409, 'a taken block'),
  '429 of the wall': createAnswer(429, 'an error'),
  '502 HTML': createAnswer(502, 'no JSON'),
  '503 of the wall': createAnswer(503, 'an error'),
}

const paid: Readonly<Record<string, Answer | undefined>> = {
  lost: undefined,
  '200 receipt': createAnswer(200, 'receipt'),
  '200 receipt of another': createAnswer(200, 'receipt of another'),
  '200 deed': createAnswer(200, 'deed'),
  '200 HTML': createAnswer(200, 'no JSON'),
  '400 JSON of a gateway': createAnswer(400, 'JSON of a gateway'),
  '400 of the wall': createAnswer(400, 'an error'),
  '400 order_mismatch': createAnswer(400, 'order mismatch'),
  '403 payer_denied': createAnswer(403, 'payer denied'),
  '402 without charged': createAnswer(402, 'an error', GOOD),
  '402 charged: no': createAnswer(402, 'charged: no', GOOD),
  '402 charged: unknown': createAnswer(402, 'charged: unknown', GOOD),
  '402 charged: unknown, poor': createAnswer(402, 'charged: unknown, poor', GOOD),
  '404 HTML': createAnswer(404, 'no JSON'),
  '409 without charged': createAnswer(409, 'a taken block'),
  '409 charged: yes': createAnswer(409, 'charged: yes'),
  '409 charged: no': createAnswer(409, 'charged: no'),
  '409 charged: unknown': createAnswer(409, 'charged: unknown'),
  '410 without charged': createAnswer(410, 'an error'),
  '413 HTML': createAnswer(413, 'no JSON'),
  '429 of the wall, Retry-After 7': createAnswer(429, 'an error', { retryAfter: '7' }),
  '502 HTML, Retry-After 3600': createAnswer(502, 'no JSON', { retryAfter: '3600' }),
  '503 charged: unknown': createAnswer(503, 'charged: unknown'),
  '503 charged: unknown, transaction': createAnswer(503, 'charged: unknown', {
    settlement: SETTLEMENTS['names a transaction'],
  }),
}

/** A step in a few words. */
function formatStep(step: Step): string {
  if (step.do === 'resend') return `resend after ${step.afterMs / 1000} s`
  if (step.do !== 'stop') return step.do
  const { kind, code } = step.failure
  return `${kind} ${code}, exit ${EXIT_STATUS[kind]}${step.saved === 'none' ? '' : `, payment ${step.saved}`}`
}

const renderTable = (answers: typeof unpaid, ...situations: readonly Situation[]) =>
  `\n${Object.entries(answers)
    .map(
      ([name, one]) =>
        `${name}: ${situations.map((situation) => formatStep(decideNextStep(one, situation))).join(' | ')}`,
    )
    .join('\n')}\n`

test('a request without a payment has one next step for each response, both if the owner is unknown and if the wallet is the owner', () => {
  expect(renderTable(unpaid, createSituation({ isOwn: undefined }), createSituation({ isOwn: true })))
    .toMatchInlineSnapshot(`
    "
    lost: unavailable unreachable, exit 4 | unavailable unreachable, exit 4
    200 deed: check-owner | refused already_yours, exit 1
    200 HTML: unavailable no_wall, exit 4 | unavailable no_wall, exit 4
    400 of the wall: refused a_code, exit 1 | refused a_code, exit 1
    402 good terms: sign | sign
    402 another host: refused another_host, exit 1 | refused another_host, exit 1
    402 another token: refused unsupported_terms, exit 1 | refused unsupported_terms, exit 1
    402 no terms: unavailable unreadable_terms, exit 4 | unavailable unreadable_terms, exit 4
    404 HTML: unavailable no_wall, exit 4 | unavailable no_wall, exit 4
    409 of the wall: refused a_code, exit 1 | refused a_code, exit 1
    409 block_taken: check-owner | refused already_yours, exit 1
    429 of the wall: unavailable a_code, exit 4 | unavailable a_code, exit 4
    502 HTML: unavailable no_wall, exit 4 | unavailable no_wall, exit 4
    503 of the wall: unavailable a_code, exit 4 | unavailable a_code, exit 4
    "
  `)
})

test('the client does not sign terms above its maximum, and reports the price', () => {
  const step = decideNextStep(createAnswer(402, 'an error', GOOD), createSituation({ max: 999_999n, blocks: 12 }))
  expect(step).toMatchInlineSnapshot(`
    {
      "do": "stop",
      "failure": {
        "amount": "1.00",
        "code": "above_max",
        "kind": "above-max",
        "message": "12 blocks cost 1.00 USDC, and the maximum is 0.999999. Nothing was signed or paid. Allow it with --max 1.00 (maxDollars in a program).",
        "status": 402,
      },
      "saved": "none",
    }
  `)
})

test('after a payment is signed, each response has one next step, which depends on the tries, the process and the signatures left', () => {
  const last = createSentPayment({ tries: 30 })
  const earlier = { sent: createSentPayment({ isEarlier: true, tries: 30 }) }
  expect(
    renderTable(
      paid,
      createSituation({ sent: createSentPayment() }),
      createSituation({ sent: last }),
      createSituation(earlier),
      createSituation({ ...earlier, signaturesLeft: 0 }),
    ),
  ).toMatchInlineSnapshot(`
    "
    lost: resend after 2 s | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept
    200 receipt: deliver | deliver | deliver | deliver
    200 receipt of another: resend after 2 s | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept
    200 deed: resend after 2 s | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept
    200 HTML: resend after 2 s | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept
    400 JSON of a gateway: resend after 2 s | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept
    400 of the wall: resend after 2 s | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept
    400 order_mismatch: unknown order_mismatch, exit 3, payment kept | unknown order_mismatch, exit 3, payment kept | unknown order_mismatch, exit 3, payment kept | unknown order_mismatch, exit 3, payment kept
    403 payer_denied: unknown payer_denied, exit 3, payment kept | unknown payer_denied, exit 3, payment kept | unknown payer_denied, exit 3, payment kept | unknown payer_denied, exit 3, payment kept
    402 without charged: resend after 2 s | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept
    402 charged: no: ask | ask | ask | refused a_code, exit 1, payment removed
    402 charged: unknown: unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept
    402 charged: unknown, poor: unknown payment_required, exit 3, payment kept | unknown payment_required, exit 3, payment kept | unknown payment_required, exit 3, payment kept | unknown payment_required, exit 3, payment kept
    404 HTML: resend after 2 s | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept
    409 without charged: resend after 2 s | unknown block_taken, exit 3, payment kept | unknown block_taken, exit 3, payment kept | unknown block_taken, exit 3, payment kept
    409 charged: yes: paid payment_credited, exit 5, payment set aside | paid payment_credited, exit 5, payment set aside | paid payment_credited, exit 5, payment set aside | paid payment_credited, exit 5, payment set aside
    409 charged: no: refused a_code, exit 1, payment removed | refused a_code, exit 1, payment removed | ask | refused a_code, exit 1, payment removed
    409 charged: unknown: unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept
    410 without charged: resend after 2 s | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept
    413 HTML: resend after 2 s | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept
    429 of the wall, Retry-After 7: resend after 7 s | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept
    502 HTML, Retry-After 3600: resend after 30 s | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept | unknown outcome_unknown, exit 3, payment kept
    503 charged: unknown: resend after 2 s | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept
    503 charged: unknown, transaction: resend after 2 s | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept | unknown a_code, exit 3, payment kept
    "
  `)
})

test('each report of an open payment says that the payment is saved and that the same purchase will not be paid twice', () => {
  const renderMessage = (one: Answer | undefined, changes: Parameters<typeof createSentPayment>[0] = {}) => {
    const step = decideNextStep(one, createSituation({ sent: createSentPayment({ tries: 30, ...changes }) }))
    return step.do === 'stop' ? step.failure.message : step.do
  }
  expect([
    renderMessage(undefined),
    renderMessage(paid['400 JSON of a gateway']),
    renderMessage(paid['400 order_mismatch']),
    renderMessage(paid['402 charged: unknown']),
    renderMessage(paid['402 charged: unknown, poor']),
    renderMessage(paid['409 charged: unknown'], { until: NOW - 1000 }),
    renderMessage(paid['503 charged: unknown, transaction'], { until: undefined, amount: undefined }),
  ]).toMatchInlineSnapshot(`
    [
      "The wall does not respond. The signed payment of 1.00 USDC is saved, and may still be charged until 2026-01-01 00:05:00 UTC. Repeat the same purchase; you will not pay twice.",
      "The last response was 400, which does not say what became of the payment. The signed payment of 1.00 USDC is saved, and may still be charged until 2026-01-01 00:05:00 UTC. Repeat the same purchase; you will not pay twice.",
      "The wall received a different order from the one that was signed (order_mismatch): something between you and the wall changes your order. The signed payment of 1.00 USDC is saved, and may still be charged until 2026-01-01 00:05:00 UTC. Repeat the same purchase; you will not pay twice.",
      "The wall refused the payment (a_code). The signed payment of 1.00 USDC is saved, and may still be charged until 2026-01-01 00:05:00 UTC. Repeat the same purchase; you will not pay twice.",
      "0xabababababababababababababababababababab holds 0.40 USDC and needs 1.00 USDC; fund it. The signed payment of 1.00 USDC is saved, and may still be charged until 2026-01-01 00:05:00 UTC. Repeat the same purchase; you will not pay twice.",
      "The wall refused the payment (a_code). The signed payment of 1.00 USDC is saved. It expired at 2025-12-31 23:59:59 UTC; whether it was charged before then is not known yet. Repeat the same purchase; you will not pay twice.",
      "The last response was 503 a_code, which does not say what became of the payment. A facilitator reported transaction 0x1212121212121212121212121212121212121212121212121212121212121212, which is not confirmed yet. The signed payment is saved, and may still be charged. Repeat the same purchase; you will not pay twice.",
    ]
  `)
})

test('before the client waits to resend a payment, it says why and for how long', () => {
  const step = decideNextStep(
    paid['503 charged: unknown, transaction'],
    createSituation({ sent: createSentPayment({ tries: 3 }) }),
  )
  expect(step).toMatchInlineSnapshot(`
    {
      "afterMs": 2000,
      "do": "resend",
      "why": "The last response was 503 a_code, which does not say what became of the payment. A facilitator reported transaction 0x1212121212121212121212121212121212121212121212121212121212121212, which is not confirmed yet. The same signed payment is sent again in 2 s (try 4 of 30).",
    }
  `)
})
