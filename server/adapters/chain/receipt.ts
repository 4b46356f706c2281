/** Derives from a receipt alone what a transaction did to an authorization. */

import { Type, type Static } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { pad, toEventSelector } from 'viem'
import { toLowerHex, TRANSFER, USED } from '../../../shared/chain/arrivals.ts'
import type { Hash, WatchedPayment } from '../../domain/purchase/payment.ts'
import type { ChainStatus } from '../../domain/purchase/purchase.ts'

// Circle's FiatTokenV2 declares this event.
export const CANCELLED = toEventSelector('AuthorizationCanceled(address,bytes32)')

const Hex = Type.TemplateLiteral('0x${string}')
const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** The fields of a JSON-RPC event that this service uses. */
export const EventLog = Type.Object({
  address: Hex,
  topics: Type.Array(Hex),
  data: Hex,
  transactionHash: OrNull(Hex),
  blockNumber: OrNull(Hex),
  logIndex: OrNull(Hex),
})
export type EventLog = Static<typeof EventLog>

const TransactionReceipt = Type.Object({
  transactionHash: Hex,
  blockNumber: Type.Optional(Hex),
  blockHash: Type.Optional(Hex),
  logs: Type.Array(EventLog),
})
export type TransactionReceipt = Static<typeof TransactionReceipt>

const receiptCheck = TypeCompiler.Compile(Type.Union([TransactionReceipt, Type.Null()]))
const receiptsCheck = TypeCompiler.Compile(Type.Union([Type.Array(TransactionReceipt), Type.Null()]))

/** Parses a receipt; `undefined` for a transaction that is not in a block. Throws for malformed data. */
export function parseReceipt(value: unknown): TransactionReceipt | undefined {
  if (!receiptCheck.Check(value)) throw new TypeError('no receipt')
  return value ?? undefined
}

/** Parses the receipts of a block. Throws for malformed data. */
export function parseReceipts(value: unknown): readonly TransactionReceipt[] {
  if (!receiptsCheck.Check(value)) throw new TypeError('no receipts')
  return value ?? []
}

const SILENT = { kind: 'silent' } as const
const ELSEWHERE = { kind: 'void', why: 'the authorization was used for another transfer' } as const

/**
 * Returns what a transaction did to a payment's authorization; `silent` if the receipt does not show it. Uses the
 * receipt alone, because a reorganisation renumbers events.
 *
 * Circle's token marks an authorization as used and then moves the money, without another event in between: the token
 * has already verified the signature, and a contract wallet cannot emit events while it verifies one. So the very next
 * event is the signed transfer. If a later version of the token emits an event in between, the receipt cannot prove a
 * payment. The receipt can then only show that we were not paid: it does so if none of its events pays us that amount
 * from that payer.
 */
export function findPaymentOutcome(receipt: TransactionReceipt, payment: WatchedPayment): ChainStatus {
  const { logs } = receipt
  const asset = payment.accepted.asset
  const joinLogTopics = (log: EventLog | undefined) =>
    log?.address.toLowerCase() === asset ? log.topics.join().toLowerCase() : undefined
  const joinExpectedTopics = (event: Hash) => [event, pad(payment.payer), payment.nonce].join()
  if (logs.some((log) => joinLogTopics(log) === joinExpectedTopics(CANCELLED)))
    return { kind: 'void', why: 'the authorization was cancelled' }
  const at = logs.findIndex((log) => joinLogTopics(log) === joinExpectedTopics(USED))
  if (at === -1) return SILENT
  const isPaymentToUs = (log: EventLog | undefined) =>
    log !== undefined &&
    joinLogTopics(log) === [TRANSFER, pad(payment.payer), pad(payment.to)].join() &&
    (payment.amount === undefined || BigInt(log.data) === payment.amount)
  const next = logs[at + 1]
  if (isPaymentToUs(next)) return { kind: 'paid', tx: toLowerHex(receipt.transactionHash) }
  if (joinLogTopics(next)?.startsWith([TRANSFER, pad(payment.payer)].join()) === true) return ELSEWHERE
  // Without a next event, the receipt is incomplete.
  return next === undefined || logs.some(isPaymentToUs) ? SILENT : ELSEWHERE
}
