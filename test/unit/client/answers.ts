/** Every possible response to a request of our client, from the wall or from anything between the two. */

import type { Answer, SentPayment, Situation } from '../../../server/client/next-step.ts'
import { statusOf } from '../../../server/domain/failure.ts'
import { encodeHeader } from '../../../server/x402/receipt.ts'
import { buildDemand } from '../../../server/x402/terms.ts'
import { OFFER } from '../../support/offer.ts'

export const WALLET = `0x${'ab'.repeat(20)}`
export const NOW = Date.UTC(2026, 0, 1)
const DOLLAR = 1_000_000n

const demand = buildDemand(OFFER, 'next')

/** PAYMENT-REQUIRED headers: the wall's, and other possible values. */
export const TERMS: Readonly<Record<string, string | undefined>> = {
  none: undefined,
  'good terms': encodeHeader(demand),
  'another host': encodeHeader(buildDemand({ ...OFFER, baseUrl: 'https://other.test' }, 'next')),
  'another token': encodeHeader({ ...demand, accepts: demand.accepts.map((it) => ({ ...it, asset: WALLET })) }),
  'another network': encodeHeader({ ...demand, accepts: demand.accepts.map((it) => ({ ...it, network: 'solana:x' })) }),
  'no offer': encodeHeader({ ...demand, accepts: [] }),
  garbage: '%%%',
}

const HASH = `0x${'12'.repeat(32)}`
const pending = { success: false, errorReason: 'settlement_pending', transaction: HASH }

/** PAYMENT-RESPONSE headers. */
export const SETTLEMENTS: Readonly<Record<string, string | undefined>> = {
  none: undefined,
  'names a transaction': encodeHeader(pending),
  'names none': encodeHeader({ ...pending, transaction: '' }),
  garbage: 'e30',
}

/** Bodies by their names, for any status. */
export const BODIES: Readonly<Record<string, object>> = {
  'no JSON': {},
  receipt: { block: '80,45', owner: 'you', deed: { wallet: WALLET } },
  'receipt of another': { block: '80,45', owner: 'you', deed: { wallet: `0x${'cd'.repeat(20)}` } },
  deed: { state: 'claimed', owner: { wallet: '0x1234…abcd' } },
  'JSON of a gateway': { message: 'Bad Request', code: 400 },
  'an error': { error: 'a_code', message: 'Not charged: a reason.' },
  'payer denied': { error: 'payer_denied', message: 'Not sold to you.' },
  'order mismatch': { error: 'order_mismatch', message: 'Not charged: altered.' },
  'a taken block': { error: 'block_taken', message: 'Taken.' },
  'charged: yes': { error: 'payment_credited', message: 'In words.', charged: 'yes', tx: HASH },
  'charged: no': { error: 'a_code', message: 'Not charged: a reason.', charged: 'no' },
  'charged: unknown': { error: 'a_code', message: 'Not charged: a reason.', charged: 'unknown' },
  'charged: unknown, poor': {
    error: 'payment_required',
    message: 'Not charged: poor.',
    charged: 'unknown',
    reason: 'invalid_exact_evm_insufficient_balance',
    balance: '400000',
  },
  'charged without an error': { charged: 'no' },
  'charged: maybe': { error: 'a_code', message: 'Not charged: a reason.', charged: 'maybe' },
}

/** Every status that the wall or a gateway returns. */
export const STATUSES: readonly number[] = [
  ...new Set([200, 204, 301, 303, 408, 421, 425, 451, 499, 504, 520, 524, ...Object.values(statusOf)]),
]

/** A situation before anything was signed. */
export const createSituation = (changes: Partial<Situation> = {}): Situation => ({
  url: 'https://wall.example/blocks/next',
  blocks: 1,
  wallet: WALLET,
  max: DOLLAR,
  now: NOW,
  signaturesLeft: 2,
  isOwn: false,
  ...changes,
})

export const createSentPayment = (changes: Partial<SentPayment> = {}): SentPayment => ({
  amount: DOLLAR,
  until: NOW + 300_000,
  tries: 1,
  triesMax: 30,
  isEarlier: false,
  ...changes,
})

/** Headers by their names; each is used alone, because they do not interact. */
const HEADERS: Readonly<Record<string, Partial<Answer>>> = {
  ...Object.fromEntries(Object.entries(TERMS).map(([name, terms]) => [`terms: ${name}`, { terms }])),
  ...Object.fromEntries(
    Object.entries(SETTLEMENTS).map(([name, settlement]) => [`settlement: ${name}`, { settlement }]),
  ),
  ...Object.fromEntries(['0', '7', '3600', '-1', 'soon'].map((retryAfter) => [`wait: ${retryAfter}`, { retryAfter }])),
}

/** Every response, with a name; the last one, `undefined`, stands for a lost response. */
export function* listAnswers(): Generator<{ readonly name: string; readonly answer: Answer | undefined }> {
  for (const status of STATUSES)
    for (const [body, members] of Object.entries(BODIES))
      for (const [header, headers] of Object.entries(HEADERS))
        yield { name: `${status} ${body}, ${header}`, answer: { status, body: members, ...headers } }
  yield { name: 'lost', answer: undefined }
}

/** Every situation, with a name. */
export function* listSituations(): Generator<{ readonly name: string; readonly situation: Situation }> {
  for (const max of [DOLLAR - 1n, DOLLAR])
    for (const isOwn of [undefined, false, true])
      yield { name: `asking, max ${max}, own: ${isOwn}`, situation: createSituation({ max, isOwn }) }
  for (const signaturesLeft of [0, 1])
    for (const tries of [1, 30])
      for (const isEarlier of [false, true])
        for (const until of [undefined, NOW - 1, NOW + 300_000])
          yield {
            name: `paid ${tries} times, ${signaturesLeft} signatures left, earlier: ${isEarlier}, until ${until}`,
            situation: createSituation({ signaturesLeft, sent: createSentPayment({ tries, isEarlier, until }) }),
          }
}
