/** The world outside the server: a model chain with its wallets, and a facilitator that proves as little as real ones. */

import { keyOf, type Address, type Hash, type Payment, type PaymentKey } from '../../server/domain/payment.ts'
import type { Verdict } from '../../server/domain/purchase.ts'
import type { Settling, Verification } from '../../server/domain/reasons.ts'
import { diceOf, type Dice } from './dice.ts'
import { drawFaults, type Fault, type Faults } from './faults.ts'
import { FORGED, hashOf } from './samples.ts'
import { schedulerOf, type Scheduler } from './scheduler.ts'

/** What spent an authorization. */
export type Spending = {
  readonly kind: 'transfer' | 'cancelled' | 'elsewhere'
  readonly tx: Hash
  readonly height: number
  readonly step: number // of the history
}

type Broadcast = { readonly payment: Payment; readonly tx: Hash }

export type World = {
  readonly dice: Dice
  readonly scheduler: Scheduler
  faults: Faults
  step: number // counts what happens, so that before and after can be told apart
  skewMs: number // how far the server's clock is from the truth
  readonly blockTimes: number[] // Unix seconds of each block by height
  readonly balances: Map<Address, number> // how many payments each wallet can make
  readonly spendings: Map<string, Spending>
  pool: readonly Broadcast[]
  readonly mined: Map<string, Broadcast> // what a reorganisation gives back to the pool
  transactions: number
  readonly doubtful: Set<string> // payments whose settlement had no clear end
  readonly words: Set<string> // payment and hash of every success the facilitator told
  readonly undone: Set<string> // payments whose end was undone by a reorganisation
  readonly shown: Map<string, number> // step at which the chain last showed an answer a payment that had ended
  readonly tell: (event: () => string) => void
}

const START_MS = 1_700_000_000_000

// A block this far below the newest one is safe: no reorganisation reaches it.
const SAFE_DEPTH = 4
const REORGANISED_MAX = 3

/** A world as `seed` makes it. `tell` is handed what happens, for a trace. */
export function worldOf(seed: number, tell: World['tell']): World {
  const dice = diceOf(seed)
  return {
    dice,
    scheduler: schedulerOf(),
    faults: drawFaults(dice),
    step: 0,
    skewMs: 0,
    blockTimes: [START_MS / 1000],
    balances: new Map(),
    spendings: new Map(),
    pool: [],
    mined: new Map(),
    transactions: 0,
    doubtful: new Set(),
    words: new Set(),
    undone: new Set(),
    shown: new Map(),
    tell,
  }
}

/** Whether a fault happens now. */
export const strikes = ({ dice, faults }: World, fault: Fault): boolean => dice.chance(faults[fault])

/** The true time, Unix milliseconds. */
export const timeOf = ({ scheduler }: World): number => START_MS + scheduler.elapsed()

/** The time on the server's clock, Unix milliseconds. */
export const clockOf = (world: World): number => timeOf(world) + world.skewMs

const heightOf = ({ blockTimes }: World) => blockTimes.length - 1

/** Lets some seconds pass and mines a block, with what is broadcast and can still land. */
export function mine(world: World, seconds: number): void {
  world.scheduler.pass(seconds * 1000)
  mineNow(world)
}

function mineNow(world: World): void {
  world.blockTimes.push(Math.floor(timeOf(world) / 1000))
  const waiting = world.pool
  world.pool = []
  for (const broadcast of waiting) {
    if (strikes(world, 'poolSlow')) world.pool = [...world.pool, broadcast]
    else if (!strikes(world, 'poolDrops')) land(world, broadcast)
  }
}

/** The token's own rule: a nonce once, a signature that is the payer's, in time, with money. Anything else reverts. */
function land(world: World, broadcast: Broadcast): void {
  const { payment, tx } = broadcast
  const balance = world.balances.get(payment.payer) ?? 0
  if (obstacle(world, payment, world.blockTimes.at(-1)) !== undefined) return
  world.balances.set(payment.payer, balance - 1)
  world.mined.set(keyOf(payment), broadcast)
  spend(world, payment, 'transfer', tx)
}

/** Marks an authorization as used in the newest block. */
export function spend(world: World, key: PaymentKey, kind: Spending['kind'], tx: Hash = newHash(world)): void {
  world.tell(() => `chain: ${keyOf(key).slice(-4)} ${kind} in ${tx.slice(-4)} at ${heightOf(world)}`)
  world.spendings.set(keyOf(key), { kind, tx, height: heightOf(world), step: world.step })
}

/** Replaces the newest blocks: what they held lands again, waits, or is lost. */
export function reorganise(world: World): void {
  const { dice, spendings, mined } = world
  const depth = Math.min(1 + dice.below(REORGANISED_MAX), heightOf(world))
  const kept = heightOf(world) - depth
  world.tell(() => `chain: blocks from ${kept + 1} are replaced`)
  for (const [key, { height, kind }] of spendings) {
    if (height <= kept) continue
    spendings.delete(key)
    world.shown.delete(key)
    world.undone.add(key)
    const broadcast = mined.get(key)
    if (kind !== 'transfer' || broadcast === undefined) continue
    mined.delete(key)
    const { payer } = broadcast.payment
    world.balances.set(payer, (world.balances.get(payer) ?? 0) + 1)
    if (dice.chance(0.3)) land(world, broadcast)
    else if (dice.chance(0.6)) world.pool = [...world.pool, broadcast]
  }
}

/** Hands a payment to the chain; where it lands, if it does, is up to later blocks. */
export function broadcast(world: World, payment: Payment): Hash {
  const tx = newHash(world)
  world.pool = [...world.pool, { payment, tx }]
  world.tell(() => `chain: ${payment.nonce.slice(-4)} broadcast as ${tx.slice(-4)}`)
  return tx
}

const newHash = (world: World): Hash => hashOf(0xc0000 + ++world.transactions)

/** Why the token would refuse a payment now, in the reference facilitator's words and order. */
function obstacle(world: World, payment: Payment, seconds = Math.floor(timeOf(world) / 1000)): string | undefined {
  if (payment.signature === FORGED) return 'invalid_exact_evm_signature'
  if (payment.validBefore <= BigInt(seconds)) return TOO_LATE
  if ((world.balances.get(payment.payer) ?? 0) < 1) return TOO_POOR
  return world.spendings.has(keyOf(payment)) ? 'invalid_exact_evm_nonce_already_used' : undefined
}

/** What an endpoint shows of a payment: the newest block it has, and what ended the payment in it or before. */
function viewOf(world: World, key: PaymentKey): { readonly height: number; readonly ended: Spending | undefined } {
  const lag = strikes(world, 'chainLags') ? 1 + world.dice.below(3) : 0
  const height = Math.max(0, heightOf(world) - lag)
  const spending = world.spendings.get(keyOf(key))
  const ended = spending !== undefined && spending.height <= height ? spending : undefined
  if (ended !== undefined) world.shown.set(keyOf(key), world.step)
  return { height, ended }
}

/** The chain port's `read`. */
export function read(world: World, key: PaymentKey): { head: bigint; spent: boolean } | 'silent' {
  if (strikes(world, 'chainSilent')) return 'silent'
  const { height, ended } = viewOf(world, key)
  return { head: BigInt(height), spent: ended !== undefined }
}

/** The chain port's `verdict`. */
export function verdict(world: World, payment: Payment, head: bigint): Verdict {
  if (strikes(world, 'chainSilent')) return { kind: 'silent' }
  const { height, ended } = viewOf(world, payment)
  return BigInt(height) < head ? { kind: 'silent' } : verdictAt(world, payment, height, ended)
}

/** What is so of a payment that was once seen unspent. */
export const truth = (world: World, payment: Payment): Verdict =>
  verdictAt(world, payment, heightOf(world), world.spendings.get(keyOf(payment)))

function verdictAt(world: World, payment: Payment, height: number, ended: Spending | undefined): Verdict {
  const safe = height - SAFE_DEPTH
  const isOver = (at: number) => BigInt(world.blockTimes[at] ?? 0) > payment.validBefore
  if (ended === undefined)
    return isOver(safe) ? { kind: 'void', why: 'it has expired', final: true } : { kind: 'unspent' }
  const final = isOver(height) && ended.height <= safe ? ({ final: true } as const) : {}
  if (ended.kind === 'transfer') return { kind: 'paid', tx: ended.tx, ...final }
  return { kind: 'void', why: ended.kind === 'cancelled' ? 'it was cancelled' : 'it was spent elsewhere', ...final }
}

/** Whether nothing that may still happen can make a payment land. */
export function isDead(world: World, payment: Payment): boolean {
  const spending = world.spendings.get(keyOf(payment))
  const safe = heightOf(world) - SAFE_DEPTH
  if (spending !== undefined && spending.height <= safe) return spending.kind !== 'transfer'
  return BigInt(world.blockTimes[safe] ?? 0) > payment.validBefore
}

/** The facilitator port's `verify`. */
export function verify(world: World, payment: Payment): Verification {
  if (strikes(world, 'verifyDown')) return { kind: 'unavailable' }
  if (strikes(world, 'blind')) return { kind: 'invalid', reason: 'invalid_exact_evm_signature' }
  const reason = obstacle(world, payment)
  const stale = payment.signature !== FORGED && strikes(world, 'verifyStale')
  return reason === undefined || stale ? { kind: 'valid' } : { kind: 'invalid', reason }
}

/** The facilitator port's `settle`. */
export function settle(world: World, payment: Payment): Settling {
  const settling = trySettling(world, payment)
  const proves = settling.kind === 'unsent' || (settling.kind === 'refused' && definite.has(settling.reason))
  if (!proves) world.doubtful.add(keyOf(payment))
  return settling
}

const SIMULATION_FAILED = 'invalid_exact_evm_transaction_simulation_failed'
const TOO_LATE = 'invalid_exact_evm_payload_authorization_valid_before'
const TOO_POOR = 'invalid_exact_evm_insufficient_balance'
const definite: ReadonlySet<string> = new Set([SIMULATION_FAILED, TOO_LATE, TOO_POOR])

function trySettling(world: World, payment: Payment): Settling {
  if (strikes(world, 'settleUnsent')) return { kind: 'unsent' }
  if (strikes(world, 'requestLost')) return { kind: 'unclear' }
  if (strikes(world, 'blind')) return { kind: 'refused', reason: 'invalid_exact_evm_signature' }
  const reason = obstacle(world, payment)
  if (reason !== undefined) return strikes(world, 'answerLost') ? { kind: 'unclear' } : { kind: 'refused', reason }
  if (strikes(world, 'refusesGood')) return { kind: 'refused', reason: SIMULATION_FAILED }
  if (strikes(world, 'inventsHash')) return success(world, payment, newHash(world))
  const tx = broadcast(world, payment)
  if (strikes(world, 'refusesThenLands')) return { kind: 'refused', reason: SIMULATION_FAILED }
  if (strikes(world, 'refusesVaguely')) return { kind: 'refused', reason: 'invalid_transaction_state' }
  if (strikes(world, 'answerLost')) return { kind: 'unclear' }
  // A facilitator waits for the block, mostly.
  if (world.dice.chance(0.8)) mineNow(world)
  return success(world, payment, tx)
}

function success(world: World, payment: Payment, tx: Hash): Settling {
  world.words.add(`${keyOf(payment)} ${tx}`)
  return { kind: 'success', tx }
}
