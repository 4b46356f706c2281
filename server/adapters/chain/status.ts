/** Reads the state of an authorization and, if it was used, finds the transaction that used it. */

import { numberToHex, pad, RpcRequestError } from 'viem'
import { USED } from '../../../shared/chain/arrivals.ts'
import type { Hash, WatchedPayment } from '../../domain/purchase/payment.ts'
import type { ChainStatus } from '../../domain/purchase/purchase.ts'
import { EndpointBehind, EndpointBusy, type Session } from './endpoint.ts'
import type { Endpoints } from './endpoints.ts'
import { CANCELLED, findPaymentOutcome, parseReceipt, parseReceipts, type TransactionReceipt } from './receipt.ts'
import { isSpentAt, type AuthorizationState, type StateQuestion, type StateReader } from './state.ts'
import { readEvents } from './transfers.ts'

// A reorganisation may replace up to this many of the newest blocks with fewer blocks.
const REORGANISED_MAX = 64n

// If the endpoint has no safe block, an outcome is final once the newest block is this far past the expiry of the
// authorization.
const UNSAFE_MARGIN_SECONDS = 60n

const SILENT = { kind: 'silent' } as const
const EXPIRED = { kind: 'void', why: 'the authorization expired without being used', final: true } as const

/** A transaction that was seen to pay, and its block. */
export type Proof = { readonly tx: Hash; readonly block: bigint; readonly blockHash: Hash }

/** The inputs of a check. `proof` is the result of an earlier check. */
export type ChainCheck = {
  readonly endpoints: Endpoints
  readonly states: StateReader
  readonly payment: WatchedPayment
  readonly head: bigint
  readonly named: Hash | undefined
  readonly proof: Proof | undefined
  readonly storeProof: (proof: Proof) => void
}

/**
 * One check through one endpoint. Throws `EndpointBehind` if the endpoint's newest block is older than blocks seen
 * before.
 */
export async function readStatus(session: Session, check: ChainCheck): Promise<ChainStatus> {
  const { endpoints, states, payment, head, proof } = check
  const question = { asset: payment.accepted.asset, key: payment, blockAsked: proof?.block }
  const querySafe = () => states.readSafe(session, question)
  // After the expiry, the safe block is read first. If the payer also signed the nonce with a later expiry, the safe
  // block may not show the use of the nonce yet.
  const isOver = (endpoints.findNewest()?.timestamp ?? 0n) > payment.validBefore
  const early = isOver ? await catchAsUnknown(querySafe()) : 'unknown'
  if (early !== 'unknown' && early !== undefined && early.number >= head && early.spent)
    return markFinal(await readOutcome(session, check, question, early))
  const known = endpoints.findNewest()?.number ?? 0n
  const latest = await states.readLatest(session, question)
  endpoints.recordBlock(latest)
  // An endpoint whose newest block is older than earlier results does not prove that an authorization is unused.
  if (latest.number < head || (!latest.spent && latest.number < known)) throw new EndpointBehind('an older block')
  const readSafeState = async () => (early === 'unknown' ? await querySafe() : early)
  if (!latest.spent) return (await isExpired(latest, payment, readSafeState)) ? EXPIRED : { kind: 'unspent' }
  const end = await readOutcome(session, check, question, latest)
  return (await isFinal(latest, payment, readSafeState)) ? markFinal(end) : end
}

type SafeState = () => Promise<AuthorizationState | undefined>

const markFinal = (end: ChainStatus): ChainStatus =>
  end.kind === 'paid' || end.kind === 'void' ? { ...end, final: true } : end

const catchAsUnknown = <T>(asked: Promise<T>): Promise<T | 'unknown'> => asked.catch(() => 'unknown' as const)

/** Whether an outcome is final. If the safe block cannot be read now, the outcome counts as not final. */
async function isFinal(latest: AuthorizationState, payment: WatchedPayment, safeState: SafeState): Promise<boolean> {
  if (latest.timestamp <= payment.validBefore) return false
  const safe = await catchAsUnknown(safeState())
  if (safe === 'unknown') return false
  return safe === undefined ? latest.timestamp > payment.validBefore + UNSAFE_MARGIN_SECONDS : safe.spent
}

/** Whether an authorization that is unspent at the newest block can never be spent, even after a reorganisation. */
async function isExpired(latest: AuthorizationState, payment: WatchedPayment, safeState: SafeState): Promise<boolean> {
  if (latest.timestamp <= payment.validBefore) return false
  const safe = await safeState()
  if (safe === undefined) return latest.timestamp > payment.validBefore + UNSAFE_MARGIN_SECONDS
  return safe.timestamp > payment.validBefore && !safe.spent
}

/**
 * Finds the transaction that ended an authorization. If an endpoint shows none, its history lags behind its own state.
 */
async function readOutcome(
  session: Session,
  check: ChainCheck,
  question: StateQuestion,
  seen: AuthorizationState,
): Promise<ChainStatus> {
  const { payment, named, proof, storeProof } = check
  // If the hash is the same, the block in which an earlier check found the payment has not been replaced.
  if (proof !== undefined && seen.hash === proof.blockHash) return { kind: 'paid', tx: proof.tx }
  const interpretReceipt = (receipt: TransactionReceipt | undefined) => {
    const end = receipt === undefined ? SILENT : findPaymentOutcome(receipt, payment)
    if (end.kind === 'paid' && receipt?.blockHash !== undefined && receipt.blockNumber !== undefined)
      storeProof({ tx: end.tx, block: BigInt(receipt.blockNumber), blockHash: receipt.blockHash })
    return end
  }
  const fetchOutcome = async (hash: Hash) =>
    interpretReceipt(parseReceipt(await session.call('eth_getTransactionReceipt', [hash])))
  // Some endpoints return an error for an unknown transaction.
  const ignoreUnknownTransaction = (error: unknown) => {
    if (error instanceof RpcRequestError) return SILENT
    throw error
  }

  for (const hash of new Set([named, proof?.tx])) {
    if (hash === undefined) continue
    const end = await fetchOutcome(hash).catch(ignoreUnknownTransaction)
    if (end.kind !== 'silent') return end
  }
  const { from, to } = await findRangeOfUse(session, question, check.head, seen.number)
  if (session.endpoint.logs.chooseSize() === 0n) {
    for (let block = from; block <= to && !session.late.aborted; block++) {
      const receipts = parseReceipts(await session.call('eth_getBlockReceipts', [numberToHex(block)]))
      const end = receipts.map(interpretReceipt).find(({ kind }) => kind !== 'silent')
      if (end !== undefined) return end
    }
    return SILENT
  }
  const filter = { address: payment.accepted.asset, topics: [[USED, CANCELLED], pad(payment.payer), payment.nonce] }
  for (let next = from; next <= to && !session.late.aborted;) {
    const { events, through } = await readEvents(session, filter, next, to)
    const tx = events[0]?.transactionHash
    // The token ends an authorization only once, so the first event is the only one.
    if (tx !== undefined) return tx === null ? SILENT : await fetchOutcome(tx)
    next = through + 1n
  }
  return SILENT
}

/**
 * Finds the blocks that can contain the use of an authorization. If the endpoint has the state at older blocks, these
 * blocks fit in one query for events; otherwise they are all blocks from shortly before `head` on. The authorization
 * was unspent at `head`, so only a reorganisation can move its use to an older block.
 */
async function findRangeOfUse(
  session: Session,
  question: StateQuestion,
  head: bigint,
  spentAt: bigint,
): Promise<{ readonly from: bigint; readonly to: bigint }> {
  const start = head < REORGANISED_MAX ? 0n : head - REORGANISED_MAX
  let [unspent, spent] = [start - 1n, spentAt]
  const reach = session.endpoint.logs.chooseSize() > 0n ? session.endpoint.logs.chooseSize() : 1n
  try {
    while (spent - unspent > reach && !session.late.aborted) {
      const middle = (unspent + spent) / 2n
      if (await isSpentAt(session, question, middle)) spent = middle
      else unspent = middle
    }
  } catch (error) {
    // Some endpoints no longer have the state at older blocks; only events remain.
    if (error instanceof EndpointBusy || session.late.aborted) throw error
  }
  return { from: unspent + 1n, to: spent }
}
