/**
 * The world outside the server: a model chain with its wallets, and facilitators whose responses prove as little as
 * those of real ones.
 */

import type { SettleResult, VerifyResult } from '../../../server/domain/purchase/facilitator-errors.ts'
import {
  toPaymentKey,
  type Address,
  type Hash,
  type Payment,
  type PaymentKey,
  type Terms,
} from '../../../server/domain/purchase/payment.ts'
import type { ChainStatus } from '../../../server/domain/purchase/purchase.ts'
import type { ChainHealth, Receipts, Transfer } from '../../../server/ports.ts'
import { createPrng, type Prng } from '../../support/prng.ts'
import { createScheduler, type Scheduler } from '../../support/scheduler.ts'
import { drawFaults, type Fault, type Faults } from './faults.ts'
import { FORGED, toHash, TERMS } from './samples.ts'

/** The event that ended an authorization. */
export type Spending = {
  readonly kind: 'transfer' | 'cancelled' | 'elsewhere'
  readonly amount: bigint // the amount of a transfer, else 0
  readonly tx: Hash
  readonly height: number
  readonly step: number // of the history
}

/** A broadcast payment, either in the pool or mined. */
type Broadcast = {
  readonly payment: Payment
  readonly tx: Hash
  readonly by: 'wall' | 'others' // on whose behalf it was broadcast
  hidden: Hidden | undefined // if the facilitator claimed that it had broadcast nothing
  isDenied: boolean // whether its facilitator denied the broadcast after it had been mined
  isForgotten: boolean // whether a restored older copy of the wall lacks it
}

/**
 * The lowest and the highest chain height at which a payment was searched for since a facilitator denied its broadcast.
 */
type Hidden = { lowest: number; highest: number }

export type World = {
  readonly prng: Prng
  /** Random numbers for texts and later additions; separate, so that all other draws stay as they were. */
  readonly words: Prng
  readonly isVaried: boolean // whether payers sign nonces again with other terms, and servers start with other prices
  readonly hasEndpoints: boolean // whether servers read the chain with the adapter's own rules
  readonly hasOperator: boolean // whether somebody restores an older copy of the wall
  readonly hasMulticall: boolean // whether the chain has the multicall contract
  readonly isRepriced: boolean // whether servers restart all the time, each time with another price
  readonly isReplayed: boolean // whether somebody resends other payers' payments that the chain shows
  readonly isBound: boolean // whether payers bind their payments to their orders, and proxies alter these
  readonly isKept: boolean // whether the clients that resend store their payments
  readonly scheduler: Scheduler
  faults: Faults
  second: Faults | undefined // the faults of the second facilitator, if there is one
  step: number // counts events, to order them
  readonly prices: bigint[] // all prices of a block so far; servers that start now use the last one
  readonly payees: Address[] // all payment addresses of the wall so far; servers that start now use the last one
  slowness: number // the probability that a facilitator delays a settlement
  settling: number // settlements that arrived but have not begun
  readonly blockTimes: number[] // Unix seconds of each chain block, by height
  readonly forks: number[] // the height of the last chain block that each reorganisation kept
  readonly balances: Map<Address, number> // dollars in each wallet
  readonly spendings: Map<string, Spending>
  pool: readonly Broadcast[]
  readonly mined: Map<string, Broadcast> // the mined broadcasts, which a reorganisation may return to the pool
  transactions: number
  readonly claims: Set<string> // payment key and transaction hash of every success that a facilitator reported
  readonly undone: Set<string> // payments whose transfer was undone by a reorganisation
  readonly revived: Map<string, number> // payments whose cancellation or other use was undone by a reorganisation, and the step when that happened
  readonly verified: Set<string> // authorizations that a facilitator was asked to verify, by `formatAuthorization`
  stalledUntilMs: number // the scheduler's time before which the chain makes no block
  hasStalled: boolean
  failed: unknown // a broken promise, if it could not be thrown
  readonly trace: (event: () => string) => void
}

const START_MS = 1_700_000_000_000

// A chain block this far below the newest one is safe: no reorganisation reaches it.
export const SAFE_DEPTH = 4
const REORGANISED_MAX = 3

/** The facilitators' names, in the order in which they are called. */
export type FacilitatorName = 'first' | 'second'

const WORDS_SEED = 0x30a2d

// These remainders of a seed select about a third of all histories.
const VARIED: ReadonlySet<number> = new Set([4, 6, 8, 9])
const KEPT: ReadonlySet<number> = new Set([0, 3, 6, 8])
const SLOW: ReadonlySet<number> = new Set([2, 5, 10, 12])
const NEW_PRICES_EVERY = 5
const REPLAYED_EVERY = 9
const BOUND_EVERY = 7
const ENDPOINTS_EVERY = 23
// Multicalls are expensive to encode and to decode.
const MULTICALL_EVERY = 6

/** Whether servers read the chain with the adapter's own rules, over model endpoints. */
export const hasEndpoints = (seed: number): boolean => seed % ENDPOINTS_EVERY === 5

const OPERATOR_EVERY = 251

/** Whether an operator restores older copies of the wall. */
export const hasOperator = (seed: number): boolean => seed % OPERATOR_EVERY === 31 && !hasEndpoints(seed)

/** Whether servers restart all the time, each time with a newly drawn price. */
export const hasNewPrices = (seed: number): boolean =>
  VARIED.has(seed % 11) && seed % NEW_PRICES_EVERY === 1 && !hasOperator(seed)

/** The world of `seed`. `trace` is called with each event. */
export function createWorld(seed: number, trace: World['trace']): World {
  const prng = createPrng(seed)
  const world: World = {
    prng,
    words: createPrng(seed ^ WORDS_SEED),
    isVaried: VARIED.has(seed % 11) && !hasOperator(seed),
    hasOperator: hasOperator(seed),
    hasEndpoints: hasEndpoints(seed),
    hasMulticall: seed % MULTICALL_EVERY === 0,
    isRepriced: hasNewPrices(seed),
    isReplayed: seed % REPLAYED_EVERY === 2,
    isBound: seed % BOUND_EVERY === 3,
    isKept: KEPT.has(seed % 13),
    scheduler: createScheduler((elapsed) => makeBlocks(world, elapsed)),
    faults: drawFaults(prng),
    second: undefined,
    step: 0,
    prices: [TERMS.amount],
    payees: [TERMS.payTo],
    slowness: SLOW.has(seed % 17) ? 0.2 : 0,
    settling: 0,
    blockTimes: [START_MS / 1000],
    forks: [],
    balances: new Map(),
    spendings: new Map(),
    pool: [],
    mined: new Map(),
    transactions: 0,
    claims: new Set(),
    undone: new Set(),
    revived: new Map(),
    verified: new Set(),
    stalledUntilMs: 0,
    hasStalled: false,
    failed: undefined,
    trace,
  }
  return world
}

/** The terms of a server that starts now: the price of a block and the payment address. */
export const readTerms = ({ prices, payees }: World): Terms => ({
  ...TERMS,
  amount: prices.at(-1) ?? TERMS.amount,
  payTo: payees.at(-1) ?? TERMS.payTo,
})

/** Draws whether a fault happens now. */
export const drawFault = ({ prng, faults }: World, fault: Fault): boolean => prng.nextBoolean(faults[fault])

/** Draws whether a fault happens now to one of the facilitators, each of which has its own faults. */
const drawFacilitatorFault = ({ prng, faults, second }: World, at: FacilitatorName, fault: Fault): boolean =>
  prng.nextBoolean((at === 'first' ? faults : (second ?? faults))[fault])

/** The true time, Unix milliseconds. */
export const computeTime = ({ scheduler }: World): number => START_MS + scheduler.getElapsed()

export const computeHeight = ({ blockTimes }: World) => blockTimes.length - 1

const BLOCK_EVERY_MS = 2000

/** Makes the blocks that are due by the time `elapsed`. */
function makeBlocks(world: World, elapsed: number): void {
  const computeNext = (at: number) => (Math.floor(at / BLOCK_EVERY_MS) + 1) * BLOCK_EVERY_MS
  const from = Math.max(world.scheduler.getElapsed(), world.stalledUntilMs)
  for (let at = computeNext(from); at <= elapsed; at += BLOCK_EVERY_MS) makeBlock(world, at)
}

/** Stalls the chain for `ms` milliseconds. */
export function stallChain(world: World, ms: number): void {
  world.stalledUntilMs = world.scheduler.getElapsed() + ms
  world.hasStalled = true
  world.trace(() => `chain: stalls for ${ms / 1000} s`)
}

// After this time without a new chain block, a wall is right not to believe the chain.
const STILL_MS = 60_000

/** Whether no chain block was made for so long that a server may report the chain as stalled. */
export const isChainStalled = (world: World): boolean =>
  computeTime(world) - (world.blockTimes.at(-1) ?? 0) * 1000 >= STILL_MS

function makeBlock(world: World, elapsed: number): void {
  world.blockTimes.push(Math.floor((START_MS + elapsed) / 1000))
  if (world.pool.length === 0) return
  const waiting = world.pool
  world.pool = []
  for (const broadcast of waiting) {
    if (drawFault(world, 'poolSlow')) world.pool = [...world.pool, broadcast]
    else if (!drawFault(world, 'poolDrops')) mineTransfer(world, broadcast)
  }
}

/**
 * Mines a payment if the token's rules allow it: the nonce is unused, the signature is the payer's, the authorization
 * has not expired, and the balance is sufficient. Otherwise the transaction reverts.
 */
function mineTransfer(world: World, broadcast: Broadcast): void {
  const { payment, tx } = broadcast
  if (findObstacle(world, payment, world.blockTimes.at(-1)) !== undefined) return
  const balance = world.balances.get(payment.payer) ?? 0
  world.balances.set(payment.payer, balance - toDollars(payment))
  world.mined.set(toPaymentKey(payment), broadcast)
  recordSpending(world, payment, 'transfer', tx, payment.amount)
}

/** Cancels an authorization, or spends it elsewhere, in a new block. */
export function spendAuthorization(world: World, key: PaymentKey, kind: Exclude<Spending['kind'], 'transfer'>): void {
  if (world.scheduler.getElapsed() < world.stalledUntilMs) return
  makeBlock(world, world.scheduler.getElapsed())
  if (!world.spendings.has(toPaymentKey(key))) recordSpending(world, key, kind)
}

/** Marks an authorization as used in the newest block. */
function recordSpending(
  world: World,
  key: PaymentKey,
  kind: Spending['kind'],
  tx: Hash = createHash(world),
  amount = 0n,
): void {
  world.trace(() => `chain: ${toPaymentKey(key).slice(-4)} ${kind} in ${tx.slice(-4)} at ${computeHeight(world)}`)
  world.step += 1
  world.spendings.set(toPaymentKey(key), { kind, amount, tx, height: computeHeight(world), step: world.step })
}

/** Replaces the newest chain blocks: their payments are mined again, return to the pool, or are lost. */
export function reorganiseChain(world: World): void {
  const { prng, spendings, mined } = world
  const depth = Math.min(1 + prng.nextInt(REORGANISED_MAX), computeHeight(world))
  const kept = computeHeight(world) - depth
  world.forks.push(kept)
  world.trace(() => `chain: blocks from ${kept + 1} are replaced`)
  for (const [key, { height, kind }] of spendings) {
    if (height <= kept) continue
    spendings.delete(key)
    const broadcast = mined.get(key)
    if (kind === 'transfer') world.undone.add(key)
    else world.revived.set(key, world.step)
    if (kind !== 'transfer' || broadcast === undefined) continue
    mined.delete(key)
    // An endpoint that lags behind has shown the payment as unspent in earlier blocks, so a check in a later block
    // counts as the second check.
    if (broadcast.isDenied) broadcast.hidden ??= { lowest: kept, highest: -Infinity }
    const { payer } = broadcast.payment
    world.balances.set(payer, (world.balances.get(payer) ?? 0) + toDollars(broadcast.payment))
    if (prng.nextBoolean(0.3)) mineTransfer(world, broadcast)
    else if (prng.nextBoolean(0.6)) world.pool = [...world.pool, broadcast]
  }
}

/** Broadcasts a payment. Whether and when it is mined is decided when later chain blocks are made. */
export function broadcastPayment(world: World, payment: Payment, by: Broadcast['by']): Broadcast {
  const sent: Broadcast = { payment, tx: createHash(world), by, hidden: undefined, isDenied: false, isForgotten: false }
  world.pool = [...world.pool, sent]
  world.trace(() => `chain: ${payment.nonce.slice(-4)} broadcast as ${sent.tx.slice(-4)}`)
  return sent
}

/**
 * Whether a payment that was broadcast for the wall may still be mined, as far as anybody could know. If a facilitator
 * denied the broadcast, the wall may believe the denial once it has checked a later block.
 */
export const isUnderWay = (world: World, key: PaymentKey): boolean =>
  world.pool.some(
    ({ payment, by, hidden, isForgotten }) =>
      by === 'wall' &&
      !isForgotten &&
      toPaymentKey(payment) === toPaymentKey(key) &&
      findObstacle(world, payment) === undefined &&
      (hidden === undefined || hidden.highest <= hidden.lowest),
  )

/**
 * Whether the wall caused a payment's transfer. Payments that somebody else broadcast, that a facilitator denied, or
 * that a reorganisation touched do not count.
 */
export function isCharged({ spendings, mined, undone, revived }: World, payment: Payment): boolean {
  const key = toPaymentKey(payment)
  const sent = mined.get(key)
  const isSent = sent?.by === 'wall' && sent.hidden === undefined
  return isSent && spendings.get(key)?.kind === 'transfer' && !undone.has(key) && !revived.has(key)
}

/** The dollars that a payment moves when it is mined. */
export const toDollars = ({ amount }: Payment): number => Number(amount) / 1_000_000

const FIRST_HASH = 0xc0000

const createHash = (world: World): Hash => toHash(FIRST_HASH + ++world.transactions)

/** The code of the first reason why the token would reject a payment now, in the reference facilitator's order. */
function findObstacle(
  world: World,
  payment: Payment,
  seconds = Math.floor(computeTime(world) / 1000),
): string | undefined {
  if (payment.signature === FORGED) return 'invalid_exact_evm_signature'
  if (payment.validBefore <= BigInt(seconds)) return TOO_LATE
  if ((world.balances.get(payment.payer) ?? 0) < toDollars(payment)) return TOO_POOR
  return world.spendings.has(toPaymentKey(payment)) ? 'invalid_exact_evm_nonce_already_used' : undefined
}

/** The height of the newest chain block that one process has seen. */
export type Sight = { newest: number }

/** How many chain blocks an endpoint may be behind. */
export const getMaxLag = ({ hasEndpoints: isFar }: World): number => (isFar ? 20 : 3)

/** Draws the height of an endpoint's newest block. */
export function drawHeight(world: World): number {
  const lag = drawFault(world, 'chainLags') ? 1 + world.prng.nextInt(getMaxLag(world)) : 0
  return Math.max(0, computeHeight(world) - lag)
}

/**
 * An endpoint's view of a payment: its newest block, and the event that ended the payment up to that block. As in the
 * adapter, an endpoint that is behind the newest block seen by the process cannot prove that an event is absent.
 */
function drawView(world: World, key: PaymentKey, sight: Sight) {
  const height = drawHeight(world)
  const spending = world.spendings.get(toPaymentKey(key))
  const ended = spending !== undefined && spending.height <= height ? spending : undefined
  recordSearch(world, toPaymentKey(key), height)
  const isBehind = ended === undefined && height < sight.newest
  sight.newest = Math.max(sight.newest, height)
  return { height, ended, isBehind }
}

/**
 * Records that a payment was searched for at a height. Once a denied payment was searched for at two different heights,
 * nobody needs to wait for it any more.
 */
export function recordSearch({ pool, mined }: World, key: string, height: number): void {
  // A mined payment counts too: an endpoint that lags behind has not shown it, and a reorganisation may return it to
  // the pool.
  const broadcast = mined.get(key)
  for (const { payment, hidden } of broadcast === undefined ? pool : [...pool, broadcast]) {
    if (hidden === undefined || toPaymentKey(payment) !== key) continue
    hidden.lowest = Math.min(hidden.lowest, height)
    hidden.highest = Math.max(hidden.highest, height)
  }
}

/** The chain port's `readAuthorization`. */
export function readAuthorization(
  world: World,
  key: PaymentKey,
  sight: Sight,
): { head: bigint; spent: boolean } | 'silent' {
  if (drawFault(world, 'chainSilent')) return 'silent'
  const { height, ended, isBehind } = drawView(world, key, sight)
  return isBehind ? 'silent' : { head: BigInt(height), spent: ended !== undefined }
}

/** The chain port's `checkHealth`. */
export function readHealth(world: World): ChainHealth {
  if (drawFault(world, 'chainSilent')) return { kind: 'silent' }
  return { kind: 'none', head: BigInt(drawHeight(world)) }
}

/** The chain port's `readPaymentStatus`. */
export function readStatus(
  world: World,
  payment: Payment,
  head: bigint,
  named: Hash | undefined,
  sight: Sight,
): ChainStatus {
  if (drawFault(world, 'chainSilent')) return { kind: 'silent' }
  const { height, ended, isBehind } = drawView(world, payment, sight)
  if (isBehind || BigInt(height) < head) return { kind: 'silent' }
  // An endpoint finds a named transaction at any height. If no transaction is named, it may find the end of a payment
  // only in the newest blocks.
  const isFar = ended !== undefined && ended.tx !== named && height - ended.height >= NARROW_BLOCKS
  if (isFar && drawFault(world, 'logsNarrow')) return { kind: 'silent' }
  const found = computeStatus(world, payment, height, ended)
  if (!('final' in found) || !drawFault(world, 'safeUnreadable')) return found
  if (found.kind === 'paid') return { kind: 'paid', tx: found.tx }
  return ended === undefined ? { kind: 'silent' } : { kind: 'void', why: found.why }
}

/** The chain port's `readTransfers`. */
export function readTransfers(world: World, payTo: Address, from: bigint, sight: Sight): Receipts | 'silent' {
  if (drawFault(world, 'chainSilent')) return 'silent'
  const height = drawHeight(world)
  if (height < sight.newest) return 'silent'
  sight.newest = height
  const through = drawFault(world, 'logsNarrow') ? Math.min(height, Number(from) + NARROW_BLOCKS - 1) : height
  const transfers = listTransfers(world).filter(({ to, height: at }) => to === payTo && at >= from && at <= through)
  const next = BigInt(through) + 1n
  return { transfers, next: next < from ? from : next, isAll: through === height }
}

/** All mined transfers of payments. */
export const listTransfers = ({ spendings, mined }: World): readonly (Transfer & PaymentKey & { to: Address })[] =>
  [...spendings].flatMap(([key, { kind, amount, tx, height }]) => {
    const payment = kind === 'transfer' ? mined.get(key)?.payment : undefined
    if (payment === undefined) return []
    const { payer, nonce, to } = payment
    return [{ payer, nonce, to, amount, tx, height: BigInt(height) }]
  })

export const NARROW_BLOCKS = 5

function computeStatus(world: World, payment: Payment, height: number, ended: Spending | undefined): ChainStatus {
  const safe = height - SAFE_DEPTH
  const isOver = (at: number) => BigInt(world.blockTimes[at] ?? 0) > payment.validBefore
  if (ended === undefined)
    return isOver(safe) ? { kind: 'void', why: 'it has expired', final: true } : { kind: 'unspent' }
  const final = isOver(height) && ended.height <= safe ? ({ final: true } as const) : {}
  if (ended.kind === 'transfer' && ended.amount === payment.amount) return { kind: 'paid', tx: ended.tx, ...final }
  return { kind: 'void', why: ended.kind === 'cancelled' ? 'it was cancelled' : 'it was spent elsewhere', ...final }
}

/** Whether a nonce was spent by another authorization of the same amount that expires later than this one. */
export function isSpentByLonger({ mined }: World, { amount, validBefore, ...key }: Payment): boolean {
  const spent = mined.get(toPaymentKey(key))?.payment
  return spent?.amount === amount && spent.validBefore > validBefore
}

/** Identifies one authorization, because a nonce may be signed for several amounts and expiry times. */
export const formatAuthorization = ({ amount, validBefore, ...key }: Payment): string =>
  `${toPaymentKey(key)} ${amount} ${validBefore}`

/** Whether a payment can no longer settle, whatever happens. */
export function canNeverSettle(world: World, payment: Payment): boolean {
  const spending = world.spendings.get(toPaymentKey(payment))
  const safe = computeHeight(world) - SAFE_DEPTH
  // A nonce that moved another amount can no longer move the amount of this payment.
  if (spending !== undefined && spending.height <= safe) return spending.amount !== payment.amount
  return BigInt(world.blockTimes[safe] ?? 0) > payment.validBefore
}

/** The facilitator port's `checkSupport`. */
export const drawSupport = (world: World, at: FacilitatorName) =>
  drawFacilitatorFault(world, at, 'verifyDown') ? 'unavailable' : 'yes'

/** The facilitator port's `verify`. */
export function verify(world: World, at: FacilitatorName, payment: Payment): VerifyResult {
  if (drawFacilitatorFault(world, at, 'facilitatorBusy')) return { kind: 'busy' }
  world.verified.add(formatAuthorization(payment))
  if (drawFacilitatorFault(world, at, 'verifyDown')) return { kind: 'unavailable' }
  if (drawFacilitatorFault(world, at, 'blind')) return { kind: 'invalid', reason: 'invalid_exact_evm_signature' }
  const reason = findObstacle(world, payment)
  if (reason === undefined && drawFacilitatorFault(world, at, 'broadcastsAtVerify'))
    broadcastPayment(world, payment, 'others')
  const stale = payment.signature !== FORGED && drawFacilitatorFault(world, at, 'verifyStale')
  return reason === undefined || stale ? { kind: 'valid' } : { kind: 'invalid', reason }
}

const SLOW_SECONDS = [5, 20, 40, 90]

/**
 * The facilitator port's `settle` if the facilitator is slow: the request has arrived, and is executed later, even if
 * nobody waits for it any more.
 */
export async function settleLate(
  world: World,
  at: FacilitatorName,
  payment: Payment,
  owner: object,
  withinMs: number,
): Promise<SettleResult> {
  const { scheduler } = world
  const takesMs = 1000 * world.prng.pick(SLOW_SECONDS)
  world.settling += 1
  const settling = scheduler.wait(world, takesMs).then(() => {
    world.settling -= 1
    return settle(world, at, payment)
  })
  await scheduler.wait(owner, Math.min(takesMs, withinMs))
  return takesMs <= withinMs ? await settling : { kind: 'unclear' }
}

/** The facilitator port's `settle`. */
export function settle(world: World, at: FacilitatorName, payment: Payment): SettleResult {
  if (drawFacilitatorFault(world, at, 'facilitatorBusy')) return { kind: 'busy' }
  if (drawFacilitatorFault(world, at, 'settleUnsent')) return { kind: 'unsent' }
  if (drawFacilitatorFault(world, at, 'requestLost')) return { kind: 'unclear' }
  const before = world.transactions
  if (drawFacilitatorFault(world, at, 'settledTwice')) trySettling(world, at, payment)
  const answer = trySettling(world, at, payment)
  if (answer.kind === 'refused' && answer.reason !== VAGUE) denyBroadcasts(world, before)
  return answer
}

/**
 * Records that a rejection denies every broadcast of its own settle request, including those of an earlier delivery of
 * that request.
 */
function denyBroadcasts({ pool, mined }: World, before: number): void {
  const isBroadcastSince = ({ tx }: Broadcast) => Number(tx) > FIRST_HASH + before
  for (const sent of pool) if (isBroadcastSince(sent)) sent.hidden = { lowest: Infinity, highest: -Infinity }
  for (const sent of mined.values()) if (isBroadcastSince(sent)) sent.isDenied = true
}

// Reasons for rejections. The wall must not treat `VAGUE` as a denial of a broadcast.
const VAGUE = 'invalid_transaction_state'
const SIMULATION_FAILED = 'invalid_exact_evm_transaction_simulation_failed'
const TOO_LATE = 'invalid_exact_evm_payload_authorization_valid_before'
const TOO_POOR = 'invalid_exact_evm_insufficient_balance'

function trySettling(world: World, at: FacilitatorName, payment: Payment): SettleResult {
  if (drawFacilitatorFault(world, at, 'blind')) return { kind: 'refused', reason: 'invalid_exact_evm_signature' }
  const reason = findObstacle(world, payment)
  if (reason !== undefined)
    return drawFacilitatorFault(world, at, 'answerLost') ? { kind: 'unclear' } : { kind: 'refused', reason }
  if (drawFacilitatorFault(world, at, 'refusesGood')) return { kind: 'refused', reason: SIMULATION_FAILED }
  if (drawFacilitatorFault(world, at, 'inventsHash')) return createSuccess(world, payment, createHash(world))
  const sent = broadcastPayment(world, payment, 'wall')
  if (drawFacilitatorFault(world, at, 'refusesThenLands')) return { kind: 'refused', reason: SIMULATION_FAILED }
  if (drawFacilitatorFault(world, at, 'refusesVaguely')) return { kind: 'refused', reason: VAGUE }
  if (drawFacilitatorFault(world, at, 'answerLost')) return { kind: 'unclear' }
  // A facilitator usually waits until the payment is in a block.
  const isStalled = world.scheduler.getElapsed() < world.stalledUntilMs
  if (world.prng.nextBoolean(0.8) && isStalled) return { kind: 'unclear', tx: sent.tx }
  if (world.prng.nextBoolean(0.8)) makeBlock(world, world.scheduler.getElapsed())
  return createSuccess(world, payment, sent.tx)
}

function createSuccess(world: World, payment: Payment, tx: Hash): SettleResult {
  world.claims.add(`${toPaymentKey(payment)} ${tx}`)
  return { kind: 'success', tx }
}
