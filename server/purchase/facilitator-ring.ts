/**
 * Uses several facilitators as one. They are called in the operator's order, recently failed ones last, until one
 * accepts the payment. Verifying costs nothing, so if one facilitator is slow, the next is called without waiting for
 * it. A second facilitator may be asked to settle a payment that the first may have sent: the token accepts a nonce
 * only once, so the same signature never pays twice. The chain is queried between the two settlements. The combined
 * result says that a payment was not sent only if each facilitator that was called says so.
 */

import { createLru } from '../../shared/lru.ts'
import {
  rejectsRequest,
  isBeforeBroadcast,
  isSignatureReason,
  findNamedTransaction,
  createUnclearResult,
  type SettleResult,
  type VerifyResult,
} from '../domain/purchase/facilitator-errors.ts'
import {
  toPaymentKey,
  type Extensions,
  type Payment,
  type PaymentKey,
  type Target,
} from '../domain/purchase/payment.ts'
import type { Chain, Clock, Facilitator, Logger, Manner, RingMember } from '../ports.ts'
import { TIMES, type Times } from '../times.ts'
import { queryUntil } from './chain-status.ts'

/** The dependencies of a ring. The time limits are for all members together, in milliseconds. */
export type RingDeps = {
  readonly members: readonly RingMember[]
  readonly chain: Pick<Chain, 'readAuthorization'>
  readonly clock: Clock
  readonly logger: Logger
  readonly verifyTimeoutMs: number
  readonly settleTimeoutMs: number
  readonly times?: Times
}

export type FacilitatorRing = Facilitator & {
  /** Whether a buyer’s verification failed since the last probe, so that the next probe is due now. */
  isSuspect(): boolean
}

/** Combines several facilitators into one; the first member is preferred. */
export function createFacilitatorRing(deps: RingDeps): FacilitatorRing {
  const seats = deps.members.map(createSeat)
  const restoreExtensions = createExtensionKeeper()
  return {
    verify: (target, payment) => verifyStaggered(deps, seats, target, restoreExtensions(payment)),
    settle: (target, payment) => settleInTurn(deps, seats, target, restoreExtensions(payment)),
    async checkSupport() {
      const answers = await Promise.all(seats.map((seat) => probeMember(seat, deps.clock)))
      if (answers.includes('yes')) return 'yes'
      return answers.includes('unavailable') ? 'unavailable' : 'no'
    },
    isSuspect: () => seats.some(({ isSuspect }) => isSuspect),
  }
}

type Call = 'verify' | 'settle'

/**
 * A member and its health. After a failed call, other members are called before it for a time that grows with each
 * failure.
 */
type Seat = {
  readonly member: RingMember
  supports: Awaited<ReturnType<Facilitator['checkSupport']>> | 'unasked'
  isSuspect: boolean // a buyer's verification failed since the last probe
  verifiedMs: number | undefined // when the last probe of its verification began, if that probe succeeded
  readonly rests: Record<Call, { failures: number; untilMs: number }>
}

const createSeat = (member: RingMember): Seat => ({
  member,
  supports: 'unasked',
  isSuspect: false,
  verifiedMs: undefined,
  rests: { verify: { failures: 0, untilMs: 0 }, settle: { failures: 0, untilMs: 0 } },
})

const VERIFY_PROBES_EVERY_MS = 60_000

/**
 * Probes one member. Its verification is probed once a minute. After a buyer's verification has failed, every probe
 * includes a verification until one succeeds.
 */
async function probeMember(seat: Seat, clock: Clock): Promise<Awaited<ReturnType<Facilitator['checkSupport']>>> {
  const began = clock.elapsed()
  const { isSuspect, verifiedMs } = seat
  const isDue = isSuspect || verifiedMs === undefined || began - verifiedMs >= VERIFY_PROBES_EVERY_MS
  seat.isSuspect = false
  seat.supports = await seat.member.checkSupport(isDue ? 'verify' : 'supported')
  if (isDue) seat.verifiedMs = seat.supports === 'yes' ? began : undefined
  if (isDue && seat.supports === 'yes') recordHealth(seat, 'verify', true, clock)
  return seat.supports
}

const REST_MS = 5000
const REST_MAX_MS = 300_000

function recordHealth({ rests }: Seat, call: Call, isWell: boolean, clock: Clock): void {
  const rest = rests[call]
  rest.failures = isWell ? 0 : rest.failures + 1
  rest.untilMs = isWell ? 0 : clock.elapsed() + Math.min(REST_MS * 2 ** (rest.failures - 1), REST_MAX_MS)
}

/**
 * The members in the order in which to call them. Members known not to support our network are skipped, unless no other
 * member is left.
 */
function sortSeats(seats: readonly Seat[], call: Call, clock: Clock): readonly Seat[] {
  const willing = seats.filter(({ supports }) => supports !== 'no')
  const rankSeat = ({ supports, rests }: Seat) =>
    Number(supports === 'unavailable' || rests[call].untilMs > clock.elapsed())
  return (willing.length === 0 ? seats : willing).toSorted((one, other) => rankSeat(one) - rankSeat(other))
}

type Turn = { readonly seat: Seat; readonly hasNext: boolean; readonly computeLeftMs: () => number }

/**
 * Yields the members' turns to settle. Each turn gets an equal share of the remaining time, so that a silent member
 * leaves time for the next.
 */
function* planTurns(seats: readonly Seat[], timeoutMs: number, clock: Clock): Generator<Turn> {
  const deadline = clock.elapsed() + timeoutMs
  const order = sortSeats(seats, 'settle', clock)
  for (const [nth, seat] of order.entries()) {
    const left = order.length - nth
    if (nth > 0 && deadline <= clock.elapsed()) return
    yield { seat, hasNext: left > 1, computeLeftMs: () => Math.ceil((deadline - clock.elapsed()) / left) }
  }
}

/**
 * Calls one member. If it rejects the request itself, calls it again with the payment alone, without resource and
 * extensions.
 */
async function callMember<Answer extends SettleResult | VerifyResult>(
  { logger }: RingDeps,
  { seat, computeLeftMs }: Turn,
  payment: PaymentKey,
  call: Call,
  ask: (manner: Manner) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const { host } = seat.member
  const first = { ...(await ask({ withinMs: computeLeftMs(), isBare: false })), by: host }
  const withinMs = computeLeftMs()
  if (!rejectsRequest(first) || withinMs <= 0) return [first]
  logNextMember(logger, payment, call, first, 'the bare payment')
  return [first, { ...(await ask({ withinMs, isBare: true })), by: host }]
}

// Most facilitators verify faster than this. A slower one may still be the first to accept.
const NEXT_VERIFIES_AFTER_MS = 1000

/**
 * Verifies with one member after another, without waiting long. The next member is called as soon as a member does not
 * accept the payment or has not responded for a second. The first member that accepts the payment decides. Each member
 * has all of the time that is left.
 */
async function verifyStaggered(
  deps: RingDeps,
  seats: readonly Seat[],
  target: Target,
  payment: Payment,
): Promise<VerifyResult> {
  const { clock, logger, verifyTimeoutMs } = deps
  const deadline = clock.elapsed() + verifyTimeoutMs
  const order = sortSeats(seats, 'verify', clock)
  const hasValid = (answers: readonly VerifyResult[]) => answers.some(({ kind }) => kind === 'valid')

  const verifyFrom = async (nth: number): Promise<readonly VerifyResult[]> => {
    const seat = order[nth]
    if (seat === undefined || (nth > 0 && deadline <= clock.elapsed())) return []
    const hasNext = nth + 1 < order.length
    const turn = { seat, hasNext, computeLeftMs: () => deadline - clock.elapsed() }
    const own = verifyWith(deps, turn, target, payment)
    const isOver = new AbortController()
    const late = clock.wait(NEXT_VERIFIES_AFTER_MS, isOver.signal).then(() => undefined)
    const soon = hasNext ? await Promise.race([own, late]) : await own
    isOver.abort()
    if (!hasNext || (soon !== undefined && hasValid(soon))) return await own
    logNextMember(logger, payment, 'verify', soon?.at(-1) ?? { kind: 'unavailable', by: seat.member.host })
    const others = verifyFrom(nth + 1)
    const all = Promise.all([own, others]).then((answers) => answers.flat())
    const first = [own, others].map(async (answers) => (hasValid(await answers) ? await answers : await all))
    return await Promise.race(first)
  }
  return combineVerifications(await verifyFrom(0))
}

/** Verifies with one member, and updates its health. */
async function verifyWith(
  deps: RingDeps,
  turn: Turn,
  target: Target,
  payment: Payment,
): Promise<readonly VerifyResult[]> {
  const { seat } = turn
  const verifyPayment = (manner: Manner) => seat.member.verify(target, payment, manner)
  const answers = await callMember(deps, turn, payment, 'verify', verifyPayment)
  const answer = answers.at(-1)
  if (answer === undefined || answer.kind === 'busy') return answers
  // The signature was checked before, so a member that calls it invalid is itself at fault.
  const isWell = answer.kind === 'valid' || (answer.kind === 'invalid' && !isSignatureReason(answer.reason))
  recordHealth(seat, 'verify', isWell && !rejectsRequest(answer), deps.clock)
  seat.isSuspect ||= !isWell
  return answers
}

/**
 * The combined result: one member that accepts the payment is enough, and a rejection takes precedence over a failure.
 */
function combineVerifications(answers: readonly VerifyResult[]): VerifyResult {
  const find = (is: (answer: VerifyResult) => boolean) => answers.find(is)
  return (
    find(({ kind }) => kind === 'valid') ??
    find((answer) => answer.kind === 'invalid' && !isSignatureReason(answer.reason) && !rejectsRequest(answer)) ??
    find(({ kind }) => kind === 'invalid') ??
    find(({ kind }) => kind === 'busy') ?? { kind: 'unavailable' }
  )
}

async function settleInTurn(
  deps: RingDeps,
  seats: readonly Seat[],
  target: Target,
  payment: Payment,
): Promise<SettleResult> {
  const { clock, logger, settleTimeoutMs } = deps
  const answers: SettleResult[] = []
  for (const turn of planTurns(seats, settleTimeoutMs, clock)) {
    const { member } = turn.seat
    const given = await callMember(deps, turn, payment, 'settle', (manner) => member.settle(target, payment, manner))
    const answer = given.at(-1)
    if (answer === undefined) break
    const isOpen = turn.hasNext && (isUnsent(answer) || (await isStillUnspent(deps, payment, answer)))
    recordSettlement(turn.seat, answer, isOpen, clock)
    if (answer.kind === 'success' && !isOpen) return answer
    // A success that the chain does not show is recorded as unclear, so that it is not believed if the chain is silent
    // later.
    answers.push(...given.map((one) => (one.kind === 'success' ? createUnclearResult(findNamedTransaction(one)) : one)))
    if (!isOpen) break
    logNextMember(logger, payment, 'settle', answer)
  }
  return combineSettlements(answers)
}

/** The transaction that a facilitator named last, if any. */
const findLastNamed = (answers: readonly SettleResult[]) =>
  answers.map(findNamedTransaction).findLast((named) => named !== undefined)

/**
 * Updates a member's health after a settlement. A rejection before broadcast need not be the member's fault; a success
 * that the chain does not show is its fault.
 */
function recordSettlement(seat: Seat, answer: SettleResult, isOpen: boolean, clock: Clock): void {
  const isWell = answer.kind === 'success' ? !isOpen : isDenial(answer) && answer.kind !== 'unsent'
  if (answer.kind !== 'busy') recordHealth(seat, 'settle', isWell, clock)
}

const isUnsent = ({ kind }: SettleResult) => kind === 'unsent' || kind === 'busy'

const isDenial = (answer: SettleResult) =>
  isUnsent(answer) || (answer.kind === 'refused' && isBeforeBroadcast(answer.reason))

/** The combined result of all members. It says that nothing was sent only if each of them says so. */
function combineSettlements(answers: readonly SettleResult[]): SettleResult {
  const [first, ...others] = answers
  if (first !== undefined && others.length === 0) return first
  if (!answers.every(isDenial)) return createUnclearResult(findLastNamed(answers))
  return (
    answers.find(({ kind }) => kind === 'refused') ?? answers.find(({ kind }) => kind === 'busy') ?? { kind: 'unsent' }
  )
}

/**
 * Whether the chain shows the payment as unspent. If the chain is `silent`, returns false, and a later query decides.
 */
async function isStillUnspent(deps: RingDeps, payment: Payment, { kind }: SettleResult): Promise<boolean> {
  const { chain, clock, times = TIMES } = deps
  // A reported success is not believed if the chain does not show it within these waits.
  const waitsMs = kind === 'success' ? times.settlementWaitsMs : []
  const ask = () => chain.readAuthorization(payment)
  const seen = await queryUntil(clock, waitsMs, ask, (answer) => answer !== 'silent' && answer.spent)
  return seen !== 'silent' && !seen.spent
}

/** Logs for the operator which member did not accept a payment, and what is tried next. */
function logNextMember(
  logger: Logger,
  { payer, nonce }: PaymentKey,
  call: Call,
  answer: SettleResult | VerifyResult,
  next = 'the next facilitator',
): void {
  const { kind, by = '' } = answer
  const reason = 'reason' in answer ? { reason: answer.reason } : {}
  logger.note('facilitator', { payer, nonce, call, facilitator: by, answer: kind, ...reason, next })
}

// A payment is settled seconds after it was verified, so few extensions are needed at a time.
const EXTENSIONS_KEPT_MAX = 1024

/**
 * Restores the extensions with which a payment was last seen, if it now comes without any. The ledger does not store
 * them, because it stores only the signed data.
 */
function createExtensionKeeper(): (payment: Payment) => Payment {
  const kept = createLru<string, Extensions>(EXTENSIONS_KEPT_MAX)
  return (payment) => {
    const key = toPaymentKey(payment)
    const extensions = payment.extensions ?? kept.get(key)
    if (extensions === undefined) return payment
    kept.set(key, extensions)
    return { ...payment, extensions }
  }
}
