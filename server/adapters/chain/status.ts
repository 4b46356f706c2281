/** What became of an authorization: its state first, and then, only where it is used, what used it. */

import { numberToHex, pad, RpcRequestError } from 'viem'
import { USED } from '../../../shared/chain/arrivals.ts'
import type { Hash, WatchedPayment } from '../../domain/purchase/payment.ts'
import type { ChainStatus } from '../../domain/purchase/purchase.ts'
import { EndpointBehind, EndpointBusy, type Session } from './endpoint.ts'
import type { Endpoints } from './endpoints.ts'
import { CANCELLED, endIn, readReceipt, readReceipts, type TransactionReceipt } from './receipt.ts'
import { isSpentAt, type AuthorizationState, type StateQuestion, type StateReader } from './state.ts'
import { eventsFrom } from './transfers.ts'

// How many of the newest blocks a reorganisation may replace by fewer.
const REORGANISED_MAX = 64n

// How far past the end of an authorization the newest block must be where the endpoint has no safe block to read.
const UNSAFE_MARGIN_SECONDS = 60n

const SILENT = { kind: 'silent' } as const
const EXPIRED = { kind: 'void', why: 'the authorization expired without being used', final: true } as const

/** A transaction that was seen to pay, and the block it was seen in. */
export type Proof = { readonly tx: Hash; readonly block: bigint; readonly blockHash: Hash }

/** What a check works with. `proof` is what an earlier check found. */
export type ChainCheck = {
  readonly endpoints: Endpoints
  readonly states: StateReader
  readonly payment: WatchedPayment
  readonly head: bigint
  readonly named: Hash | undefined
  readonly proof: Proof | undefined
  readonly proved: (proof: Proof) => void
}

/** One check through one endpoint. Throws `EndpointBehind` where that is older than what is known. */
export async function statusAt(session: Session, check: ChainCheck): Promise<ChainStatus> {
  const { endpoints, states, payment, head, proof } = check
  const question = { asset: payment.accepted.asset, key: payment, blockAsked: proof?.block }
  const askSafe = () => states.safe(session, question)
  // Once its time is over, what will not be replaced is asked first. It does not show an end that its payer signed for longer.
  const isOver = (endpoints.newest()?.timestamp ?? 0n) > payment.validBefore
  const early = isOver ? await orUnknown(askSafe()) : 'unknown'
  if (early !== 'unknown' && early !== undefined && early.number >= head && early.spent)
    return finalOf(await howSpent(session, check, question, early))
  const known = endpoints.newest()?.number ?? 0n
  const latest = await states.latest(session, question)
  endpoints.saw(latest)
  // An endpoint older than what was read before knows nothing of what is not there.
  if (latest.number < head || (!latest.spent && latest.number < known)) throw new EndpointBehind('an older block')
  const safeState = async () => (early === 'unknown' ? await askSafe() : early)
  if (!latest.spent) return (await isExpired(latest, payment, safeState)) ? EXPIRED : { kind: 'unspent' }
  const end = await howSpent(session, check, question, latest)
  return (await isFinal(latest, payment, safeState)) ? finalOf(end) : end
}

type SafeState = () => Promise<AuthorizationState | undefined>

const finalOf = (end: ChainStatus): ChainStatus =>
  end.kind === 'paid' || end.kind === 'void' ? { ...end, final: true } : end

const orUnknown = <T>(asked: Promise<T>): Promise<T | 'unknown'> => asked.catch(() => 'unknown' as const)

/** Whether an end can be undone no more; a safe block that cannot be read now unsays no end. */
async function isFinal(latest: AuthorizationState, payment: WatchedPayment, safeState: SafeState): Promise<boolean> {
  if (latest.timestamp <= payment.validBefore) return false
  const safe = await orUnknown(safeState())
  if (safe === 'unknown') return false
  return safe === undefined ? latest.timestamp > payment.validBefore + UNSAFE_MARGIN_SECONDS : safe.spent
}

/** Whether an authorization that is unspent at the newest block can never be spent, even if the newest blocks are replaced. */
async function isExpired(latest: AuthorizationState, payment: WatchedPayment, safeState: SafeState): Promise<boolean> {
  if (latest.timestamp <= payment.validBefore) return false
  const safe = await safeState()
  if (safe === undefined) return latest.timestamp > payment.validBefore + UNSAFE_MARGIN_SECONDS
  return safe.timestamp > payment.validBefore && !safe.spent
}

/** Finds what ended an authorization; an endpoint that shows nothing has not caught up with itself. */
async function howSpent(
  session: Session,
  check: ChainCheck,
  question: StateQuestion,
  seen: AuthorizationState,
): Promise<ChainStatus> {
  const { payment, named, proof, proved } = check
  // The block it was paid in is still there.
  if (proof !== undefined && seen.hash === proof.blockHash) return { kind: 'paid', tx: proof.tx }
  const read = (receipt: TransactionReceipt | undefined) => {
    const end = receipt === undefined ? SILENT : endIn(receipt, payment)
    if (end.kind === 'paid' && receipt?.blockHash !== undefined && receipt.blockNumber !== undefined)
      proved({ tx: end.tx, block: BigInt(receipt.blockNumber), blockHash: receipt.blockHash })
    return end
  }
  const receiptOf = async (hash: Hash) => read(readReceipt(await session.call('eth_getTransactionReceipt', [hash])))
  // Some endpoints call a transaction they do not know an error.
  const orUnheardOf = (error: unknown) => {
    if (error instanceof RpcRequestError) return SILENT
    throw error
  }

  for (const hash of new Set([named, proof?.tx])) {
    if (hash === undefined) continue
    const end = await receiptOf(hash).catch(orUnheardOf)
    if (end.kind !== 'silent') return end
  }
  const { from, to } = await rangeOfUse(session, question, check.head, seen.number)
  if (session.endpoint.logs.size() === 0n) {
    for (let block = from; block <= to && !session.late.aborted; block++) {
      const receipts = readReceipts(await session.call('eth_getBlockReceipts', [numberToHex(block)]))
      const end = receipts.map(read).find(({ kind }) => kind !== 'silent')
      if (end !== undefined) return end
    }
    return SILENT
  }
  const filter = { address: payment.accepted.asset, topics: [[USED, CANCELLED], pad(payment.payer), payment.nonce] }
  for (let next = from; next <= to && !session.late.aborted;) {
    const { events, through } = await eventsFrom(session, filter, next, to)
    const tx = events[0]?.transactionHash
    // The token lets an authorization end once.
    if (tx !== undefined) return tx === null ? SILENT : await receiptOf(tx)
    next = through + 1n
  }
  return SILENT
}

/**
 * Blocks in which the use must be: no more than one question for events reaches, where the endpoint tells the state at
 * older blocks; else all since `head`. It was unspent at `head`, so that a use in an older block is of a reorganisation.
 */
async function rangeOfUse(
  session: Session,
  question: StateQuestion,
  head: bigint,
  spentAt: bigint,
): Promise<{ readonly from: bigint; readonly to: bigint }> {
  const start = head < REORGANISED_MAX ? 0n : head - REORGANISED_MAX
  let [unspent, spent] = [start - 1n, spentAt]
  const reach = session.endpoint.logs.size() > 0n ? session.endpoint.logs.size() : 1n
  try {
    while (spent - unspent > reach && !session.late.aborted) {
      const middle = (unspent + spent) / 2n
      if (await isSpentAt(session, question, middle)) spent = middle
      else unspent = middle
    }
  } catch (error) {
    // Some endpoints have forgotten the state at older blocks; their events are all there is.
    if (error instanceof EndpointBusy || session.late.aborted) throw error
  }
  return { from: unspent + 1n, to: spent }
}
