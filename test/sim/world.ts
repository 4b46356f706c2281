/** The world outside the process: a model chain with its wallets, and a facilitator that proves as little as real ones. */

import { keyOf, type Address, type Hash, type Payment, type PaymentKey } from '../../server/domain/payment.ts'
import type { Settling, Verdict, Verification } from '../../server/domain/purchase.ts'
import { diceOf, type Dice } from './dice.ts'
import { drawFaults, type Fault, type Faults } from './faults.ts'
import { FORGED, hashOf } from './samples.ts'

/** What spent an authorization. */
export type Spending = {
  readonly kind: 'transfer' | 'cancelled' | 'elsewhere'
  readonly tx: Hash
  readonly height: number
  readonly step: number // of the history
}

export type World = {
  readonly dice: Dice
  faults: Faults
  step: number // counts what happens, so that before and after can be told apart
  now: number // Unix milliseconds; only blocks move it
  readonly blockTimes: number[] // Unix seconds of each block by height
  readonly balances: Map<Address, number> // how many payments each wallet can make
  readonly spendings: Map<string, Spending>
  pool: readonly { readonly payment: Payment; readonly tx: Hash }[]
  transactions: number
  readonly doubtful: Set<string> // payments whose settlement had no clear end
  readonly words: Set<string> // payment and hash of every success the facilitator told
  readonly tell: (event: () => string) => void
}

const START_MS = 1_700_000_000_000

// A block this far below the newest one is safe from reorganisation.
const SAFE_DEPTH = 2

/** A world as `seed` makes it. `tell` is handed what happens, for a trace. */
export function worldOf(seed: number, tell: World['tell']): World {
  const dice = diceOf(seed)
  return {
    dice,
    faults: drawFaults(dice),
    step: 0,
    now: START_MS,
    blockTimes: [START_MS / 1000],
    balances: new Map(),
    spendings: new Map(),
    pool: [],
    transactions: 0,
    doubtful: new Set(),
    words: new Set(),
    tell,
  }
}

/** Whether a fault happens now. */
export const strikes = ({ dice, faults }: World, fault: Fault): boolean => dice.chance(faults[fault])

const heightOf = ({ blockTimes }: World) => blockTimes.length - 1

/** Mines a block some seconds after the last, with what is broadcast and can still land. */
export function mine(world: World, seconds: number): void {
  world.now += seconds * 1000
  world.blockTimes.push(world.now / 1000)
  const waiting = world.pool
  world.pool = []
  for (const broadcast of waiting) {
    if (strikes(world, 'poolSlow')) world.pool = [...world.pool, broadcast]
    else if (!strikes(world, 'poolDrops')) land(world, broadcast)
  }
}

/** The token's own rule: a nonce once, a signature that is the payer's, in time, with money. Anything else reverts. */
function land(world: World, { payment, tx }: { readonly payment: Payment; readonly tx: Hash }): void {
  const balance = world.balances.get(payment.payer) ?? 0
  if (obstacle(world, payment) !== undefined) return
  world.balances.set(payment.payer, balance - 1)
  spend(world, payment, 'transfer', tx)
}

/** Marks an authorization as used in the newest block. */
export function spend(world: World, key: PaymentKey, kind: Spending['kind'], tx: Hash = newHash(world)): void {
  world.tell(() => `chain: ${keyOf(key).slice(-4)} ${kind} in ${tx.slice(-4)}`)
  world.spendings.set(keyOf(key), { kind, tx, height: heightOf(world), step: world.step })
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
function obstacle(world: World, payment: Payment): string | undefined {
  if (payment.signature === FORGED) return 'invalid_exact_evm_signature'
  if (payment.validBefore <= BigInt(Math.floor(world.now / 1000))) return TOO_LATE
  if ((world.balances.get(payment.payer) ?? 0) < 1) return TOO_POOR
  return world.spendings.has(keyOf(payment)) ? 'invalid_exact_evm_nonce_already_used' : undefined
}

/** The chain port's `read`. */
export function read(world: World, key: PaymentKey): { head: bigint; spent: boolean } | 'silent' {
  if (strikes(world, 'chainSilent')) return 'silent'
  return { head: BigInt(heightOf(world)), spent: world.spendings.has(keyOf(key)) }
}

/** The chain port's `verdict`. */
export const verdict = (world: World, payment: Payment, head: bigint): Verdict =>
  strikes(world, 'chainSilent') ? { kind: 'silent' } : truth(world, payment, head)

/** What is so of a payment that was unspent at height `head`. */
export function truth(world: World, payment: Payment, head: bigint): Verdict {
  const spending = world.spendings.get(keyOf(payment))
  if (spending !== undefined) {
    if (BigInt(spending.height) <= head) return { kind: 'void', why: 'it was spent before' }
    if (spending.kind === 'transfer') return { kind: 'paid', tx: spending.tx }
    return { kind: 'void', why: spending.kind === 'cancelled' ? 'it was cancelled' : 'it was spent elsewhere' }
  }
  const safeTime = world.blockTimes.at(-1 - SAFE_DEPTH) ?? 0
  return BigInt(safeTime) > payment.validBefore ? { kind: 'void', why: 'it has expired' } : { kind: 'unspent' }
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
  if (world.dice.chance(0.8)) mine(world, 2)
  return success(world, payment, tx)
}

function success(world: World, payment: Payment, tx: Hash): Settling {
  world.words.add(`${keyOf(payment)} ${tx}`)
  return { kind: 'success', tx }
}
