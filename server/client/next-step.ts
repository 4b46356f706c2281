/**
 * Decides the next step of a buyer from the last response and the known facts: whether a payment has ended, is sent
 * again or is signed, and what the caller learns.
 *
 * One rule: once a payment was sent, only the wall's receipt, or its own `charged: yes` or `no`, ends it. No HTTP
 * status alone ends it, and no response from a gateway does.
 */

import { getMember } from '../../shared/json.ts'
import { ASSET_SYMBOL, formatAmount, formatMoney } from '../../shared/money.ts'
import { formatNetworkName } from '../../shared/usdc.ts'
import { parsePendingTransaction, parseTerms, type Terms } from './payment.ts'
import { parseError, createNoWallFailure, createUnreachableFailure, type Failure } from './wall-error.ts'

/** A response to a request, from any sender. */
export type Answer = {
  readonly status: number
  readonly body: object // empty unless it is a JSON object
  readonly terms?: string | undefined // the PAYMENT-REQUIRED header
  readonly settlement?: string | undefined // the PAYMENT-RESPONSE header
  readonly retryAfter?: string | undefined
}

/** A signed payment that was sent at least once. */
export type SentPayment = {
  readonly amount: bigint | undefined // atomic units; `undefined` if the saved payment cannot be read
  readonly until: number | undefined // Unix milliseconds after which the payment cannot be taken
  readonly tries: number // how often this call sent the payment
  readonly triesMax: number
  readonly isEarlier: boolean // whether an earlier process signed the payment
}

/** The facts known when a response arrives. */
export type Situation = {
  readonly url: string // of the order
  readonly blocks: number // in the order
  readonly wallet: string
  readonly max: bigint // the most that may be signed for, in atomic units
  readonly now: number // Unix milliseconds
  readonly signaturesLeft: number // how many payments this call may still sign, one at a time
  readonly isOwn: boolean | undefined // whether the wallet owns the ordered position; `undefined` until that is checked
  readonly sent?: SentPayment | undefined // the payment that the request carried, if any
}

/** The next step of a purchase. */
export type Step =
  | { readonly do: 'sign'; readonly terms: Terms }
  | { readonly do: 'ask' } // asks for the terms; a payment that was sent has ended, and is removed
  | { readonly do: 'check-owner' } // checks who owns the position, then decides again
  | { readonly do: 'resend'; readonly afterMs: number; readonly why: string }
  | { readonly do: 'deliver'; readonly receipt: object }
  | { readonly do: 'stop'; readonly saved: 'none' | 'kept' | 'removed' | 'set aside'; readonly failure: Failure }

const WAIT_SECONDS = 2
const WAIT_MAX_SECONDS = 30

/** Decides the step after a response; `undefined` stands for a lost response. */
export const decideNextStep = (answer: Answer | undefined, situation: Situation): Step =>
  situation.sent === undefined
    ? decideAfterAsking(answer, situation)
    : decideAfterPaying(answer, { ...situation, sent: situation.sent })

/** Decides the step while nothing is signed in this call, or after the signed payment has ended. */
function decideAfterAsking(answer: Answer | undefined, situation: Situation): Step {
  const { url, isOwn } = situation
  if (answer === undefined) return createStopStep(addNothingPaid(createUnreachableFailure(url)))
  const { status, body } = answer
  if (status === 402) return decideAfterTerms(answer, situation)
  const isDeed = isSuccess(status) && getMember(body, 'state') === 'claimed'
  const error = isDeed ? SOLD : parseError(status, body)
  if (error === undefined || (isSuccess(status) && !isDeed))
    return createStopStep(addNothingPaid(createNoWallFailure(url, status)))
  if (error.code !== SOLD.code || isOwn === false) return createStopStep({ ...error, status })
  return isOwn === undefined ? { do: 'check-owner' } : createStopStep({ ...OWN, status })
}

const createStopStep = (failure: Failure): Step => ({ do: 'stop', saved: 'none', failure })

export const addNothingPaid = (failure: Failure): Failure => ({
  ...failure,
  message: `${failure.message} Nothing was paid.`,
})

const SOLD: Failure = {
  kind: 'refused',
  code: 'block_taken',
  message: 'That block is already sold. Nothing was paid.',
}

const OWN: Failure = {
  kind: 'refused',
  code: 'already_yours',
  message: 'You bought this block or area earlier, so it is already yours. Nothing was paid now.',
}

function decideAfterTerms({ status, terms: header }: Answer, { url, max, blocks }: Situation): Step {
  const terms = parseTerms(header)
  if (terms === 'unreadable')
    return createStopStep({
      kind: 'unavailable',
      code: 'unreadable_terms',
      message: 'The terms of the payment cannot be read. Nothing was signed or paid.',
      status,
    })
  if (terms === 'unsupported')
    return createStopStep({
      kind: 'refused',
      code: 'unsupported_terms',
      message: `The wall asks for something other than ${ASSET_SYMBOL} on a network that this client knows. Nothing was signed or paid.`,
      status,
    })
  const { hostname } = new URL(url)
  if (terms.announcesBinding && terms.host !== undefined && terms.host !== hostname)
    return createStopStep({
      kind: 'refused',
      code: 'another_host',
      message: `This wall calls itself ${terms.host}, not ${hostname}, and payments are bound to the name that the wall gives itself. Use that name in the URL. Nothing was signed or paid.`,
      status,
    })
  if (terms.amount <= max) return { do: 'sign', terms }
  const [price, what] = [formatMoney(terms.amount), blocks === 1 ? 'One block costs' : `${blocks} blocks cost`]
  return createStopStep({
    kind: 'above-max',
    code: 'above_max',
    message: `${what} ${price} ${ASSET_SYMBOL}, and the maximum is ${formatMoney(max)}. Nothing was signed or paid. Allow it with --max ${price} (maxDollars in a program).`,
    status,
    amount: price,
  })
}

/** The failure if the chain shows that the wallet cannot pay the price, so that nothing is signed. */
export const createEmptyWalletFailure = (wallet: string, balance: bigint, { amount, network }: Terms): Failure => ({
  kind: 'refused',
  code: 'insufficient_funds',
  message: `${wallet} holds ${formatAmount(balance)} and needs ${formatAmount(amount)} on ${formatNetworkName(network)}. Nothing was signed or paid. Fund it, then buy again.`,
  amount: formatMoney(amount),
})

type Paid = Situation & { readonly sent: SentPayment }

function decideAfterPaying(answer: Answer | undefined, situation: Paid): Step {
  const { sent, signaturesLeft, wallet } = situation
  if (answer !== undefined && isReceipt(answer, wallet)) return { do: 'deliver', receipt: answer.body }
  const error = answer && parseError(answer.status, answer.body)
  if (error?.charged === 'yes') return { do: 'stop', saved: 'set aside', failure: toPaidFailure(error) }
  if (error?.charged === 'no') {
    // An earlier process may have ordered under different terms, and the terms may change between request and payment.
    const mayAsk = signaturesLeft > 0 && (sent.isEarlier || error.status === 402)
    return mayAsk ? { do: 'ask' } : { do: 'stop', saved: 'removed', failure: error }
  }
  if (isRefused(error) || sent.tries >= sent.triesMax)
    return { do: 'stop', saved: 'kept', failure: createOpenFailure(answer, situation) }
  const seconds = parseSeconds(answer?.retryAfter)
  return { do: 'resend', afterMs: seconds * 1000, why: describeWait(answer, sent, seconds) }
}

/** Whether the wall rejects the order, so that a resend is useless now. The payment may still be taken. */
const isRefused = (error: Failure | undefined): boolean =>
  error !== undefined && ((error.charged === 'unknown' && error.kind === 'refused') || UNSENT.has(error.code))

const MISMATCH = 'order_mismatch'

// If the wall responds with one of these codes, it has not sent the payment on to anybody.
const DENIED = 'payer_denied'
const UNSENT: ReadonlySet<string> = new Set([MISMATCH, DENIED])

/** Whether a response is the wallet's receipt, judged by its body, because not every proxy passes on the header. */
function isReceipt({ status, body }: Answer, wallet: string): boolean {
  const payer = getMember(getMember(body, 'deed'), 'wallet')
  const isOurs = typeof payer !== 'string' || payer.toLowerCase() === wallet.toLowerCase()
  return isSuccess(status) && getMember(body, 'owner') === 'you' && isOurs
}

const isSuccess = (status: number) => status >= 200 && status < 300

function parseSeconds(text: string | undefined): number {
  const seconds = Number(text ?? WAIT_SECONDS)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, WAIT_MAX_SECONDS) : WAIT_SECONDS
}

const toPaidFailure = (error: Failure): Failure => ({
  ...error,
  kind: 'paid',
  message: `You paid, but did not get what you asked for. ${error.message}`,
})

/** The sentence for the caller while the same payment is sent again. */
function describeWait(answer: Answer | undefined, { tries, triesMax }: SentPayment, seconds: number): string {
  return `${describeLastResponse(answer)} The same signed payment is sent again in ${seconds} s (try ${tries + 1} of ${triesMax}).`
}

function describeLastResponse(answer: Answer | undefined): string {
  if (answer === undefined) return 'The wall does not respond.'
  const code = parseError(answer.status, answer.body)?.code
  const named = parsePendingTransaction(answer.settlement)
  const hint = named === undefined ? '' : ` A facilitator reported transaction ${named}, which is not confirmed yet.`
  return `The last response was ${answer.status}${code === undefined ? '' : ` ${code}`}, which does not say what became of the payment.${hint}`
}

/**
 * The failure for a payment that is still open. It quotes none of the wall's messages, because some deny a charge that
 * may still come.
 */
function createOpenFailure(answer: Answer | undefined, situation: Paid): Failure {
  const { sent, now } = situation
  const error = answer && parseError(answer.status, answer.body)
  return {
    kind: 'unknown',
    code: error?.code ?? 'outcome_unknown',
    message: `${explainOpenPayment(answer, error, situation)} ${describeOpenPayment(sent, now)} Repeat the same purchase; you will not pay twice.`,
    status: answer?.status,
    charged: 'unknown',
    ...formatOpenFields(sent),
  }
}

function explainOpenPayment(
  answer: Answer | undefined,
  error: Failure | undefined,
  { wallet, sent: { amount } }: Paid,
): string {
  if (error === undefined || !isRefused(error)) return describeLastResponse(answer)
  if (error.code === DENIED) return `The wall does not sell to ${wallet} (${DENIED}).`
  if (error.code === MISMATCH)
    return 'The wall received a different order from the one that was signed (order_mismatch): something between you and the wall changes your order.'
  const reason = getMember(answer?.body, 'reason')
  if (amount !== undefined && typeof reason === 'string' && /insufficient/i.test(reason)) {
    const balance = getMember(answer?.body, 'balance')
    return typeof balance === 'string' && /^\d{1,30}$/.test(balance)
      ? `${wallet} holds ${formatAmount(BigInt(balance))} and needs ${formatAmount(amount)}; fund it.`
      : `${wallet} holds less than the ${formatAmount(amount)} that it needs; fund it.`
  }
  return `The wall refused the payment (${typeof reason === 'string' ? reason : error.code}).`
}

/** Describes how much a saved payment can still cost, and until when. */
export function describeOpenPayment({ amount, until }: Pick<SentPayment, 'amount' | 'until'>, now: number): string {
  const payment = `The signed payment${amount === undefined ? '' : ` of ${formatAmount(amount)}`}`
  if (until === undefined) return `${payment} is saved, and may still be charged.`
  if (until > now) return `${payment} is saved, and may still be charged until ${formatUtc(until)}.`
  return `${payment} is saved. It expired at ${formatUtc(until)}; whether it was charged before then is not known yet.`
}

const formatUtc = (ms: number) => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`

const formatOpenFields = ({ amount, until }: Pick<SentPayment, 'amount' | 'until'>) => ({
  ...(amount === undefined ? {} : { amount: formatMoney(amount) }),
  ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
})

// Clocks differ, and a chain's clock may lag. After this time, an expired authorization moves nothing, even if somebody
// else sends it.
const OVER_AFTER_MS = 10 * 60_000

/** The possible cost of sending an earlier payment again, in atomic units; `undefined` if it is unknown. */
export function estimateCost(
  { amount, until }: Pick<SentPayment, 'amount' | 'until'>,
  now: number,
): bigint | undefined {
  return until !== undefined && until + OVER_AFTER_MS < now ? 0n : amount
}

/**
 * The failure for an earlier payment that is not sent again, because with the call's other payments it would exceed the
 * maximum.
 */
export const createNotResentFailure = (
  url: string,
  sent: Pick<SentPayment, 'amount' | 'until'>,
  now: number,
): Failure => ({
  kind: 'unknown',
  code: 'not_resent',
  message: `${describeOpenPayment(sent, now)} It was for ${url}, and was not sent again now, because it would bring the total of this purchase above the maximum. Repeat the earlier purchase, or raise --max (maxDollars in a program).`,
  charged: 'unknown',
  ...formatOpenFields(sent),
})

/**
 * The failure for a payment that was not sent, because it could not be saved first. `leftAt` is its path if it could
 * not be deleted.
 */
export function createNotSavedFailure(reason: string, leftAt: string | undefined): Failure {
  const what = `The signed payment could not be saved (${reason}), so it was not sent.`
  return leftAt === undefined
    ? { kind: 'refused', code: 'not_saved', message: `${what} Nothing was paid.` }
    : {
        kind: 'unknown',
        code: 'not_saved',
        message: `${what} It is still at ${leftAt}, where the next purchase would find and send it. Delete that file if you do not want this.`,
      }
}

/** The failure if nothing was signed, because the signer failed. */
export const createNotSignedFailure = (reason: string): Failure => ({
  kind: 'refused',
  code: 'not_signed',
  message: `Nothing was signed or paid: ${reason}`,
})
