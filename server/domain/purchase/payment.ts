/** Payments (EIP-3009 `TransferWithAuthorization`), and whether one satisfies the terms. */

import { formatAmount } from '../../../shared/money.ts'
import { countBlocks, type Target } from './target.ts'

/** An EVM address in lower case, so that it can be used as a key. */
export type Address = `0x${string}`

/** An address in lower case, as the wall stores and compares addresses. */
export const toLowerAddress = (address: string): Address => address.toLowerCase() as Address

/** 32 bytes in lower-case hex: an authorization's nonce or a transaction's hash. */
export type Hash = `0x${string}`

export type UnixMs = number
export type UnixSeconds = bigint

/**
 * What a purchase costs and how to pay for it. The terms come from the settings only, never from a client's or
 * facilitator's data.
 */
export type Terms = {
  readonly network: string // CAIP-2, such as eip155:8453
  readonly asset: Address
  readonly payTo: Address
  readonly amount: bigint // atomic units of the asset
}

/**
 * The terms that the client claims to have signed. The signature does not cover them, so they are only compared with
 * the wall's terms.
 */
export type Accepted = Terms & { readonly scheme: string }

/** Identifies a payment permanently, because the token accepts each nonce of a payer only once. */
export type PaymentKey = { readonly payer: Address; readonly nonce: Hash }

/** The client's data for x402 extensions that the wall does not use, by extension name. */
export type Extensions = Readonly<Record<string, unknown>>

/** The order that a payment's nonce is bound to, as evidence that anybody can check; see `shared/order.ts`. */
export type BoundOrder = { readonly text: string; readonly salt: Hash }

/** An authorization whose transfer is searched for on the chain. Without `amount`, a transfer of any amount matches. */
export type WatchedPayment = Pick<Payment, 'payer' | 'nonce' | 'to' | 'validBefore'> & {
  readonly amount?: bigint
  readonly accepted: Pick<Terms, 'asset'>
}

/** One signed authorization. */
export type Payment = PaymentKey & {
  readonly to: Address
  readonly amount: bigint
  readonly validAfter: UnixSeconds
  readonly validBefore: UnixSeconds
  readonly signature: `0x${string}` // 65 bytes from a plain account, any length from a contract wallet
  readonly accepted: Accepted
  readonly extensions?: Extensions // for the facilitator; unsigned, passed on unchanged, never stored
  readonly identifier?: string // the client's payment-identifier; unsigned, so it only applies to this payer
  readonly salt?: string // the client's salt for its order; unsigned, so it proves an order only if the nonce fits it
  /** The bound order if the nonce fits it, otherwise 'mismatch'; absent if the nonce is not bound. */
  readonly binding?: BoundOrder | 'mismatch'
}

export type { Target }

/**
 * Whether a target can be bought.
 *
 * - `open`: yes.
 * - `reserved`: part of it is held. For `next`: only held blocks could still make space.
 * - `claimed`: part of it is sold. For `next`: the whole wall is sold.
 * - `crowded`: blocks are open, but there is no open space of the requested size.
 * - `full`: the payer has reached its limits.
 */
export type Availability = 'open' | 'reserved' | 'claimed' | 'crowded' | 'full'

/** The price of a number of blocks bought with one payment, in atomic units. */
export const computePrice = ({ amount }: Pick<Terms, 'amount'>, blocks: number): bigint => amount * BigInt(blocks)

/** The terms of a target; the amount of `terms` is for one block. */
export const computeTerms = (terms: Terms, target: Target): Terms => ({
  ...terms,
  amount: computePrice(terms, countBlocks(target)),
})

/** The longest time from signing to settlement, as offered to clients (`maxTimeoutSeconds`). */
export const MAX_TIMEOUT_SECONDS = 300

/**
 * How long after a sale the wall first confirms its transfer on the chain. If a reorganisation has removed the transfer
 * by then, the authorization is usually still valid.
 */
export const FIRST_CONFIRMATION_MS = 20_000

/**
 * How long after the authorization has ended the wall confirms a sale for the last time. The delay is this long because
 * the chain's safe blocks are minutes old.
 */
export const LAST_CONFIRMATION_MS = 5 * 60_000

// The facilitator needs a few seconds to get the transaction mined before the authorization ends.
const SETTLE_LEAD_SECONDS = 10n

/**
 * The longest time for which an accepted authorization may still be valid; it is limited because a block may be held
 * for all of that time. The limit allows for some error in the payer's clock.
 */
export const VALIDITY_MAX_SECONDS = 360n

/** The key of a payment as a string, for maps and logs. */
export const toPaymentKey = ({ payer, nonce }: PaymentKey): string => `${payer}:${nonce}`

/**
 * Whether two payments with the same payer and nonce move the same money, even if they are valid at different times.
 */
export const movesSameMoney = (one: Payment, other: Payment): boolean =>
  one.to === other.to &&
  one.amount === other.amount &&
  one.accepted.asset === other.accepted.asset &&
  one.accepted.network === other.accepted.network

/** Whether two payments with the same payer and nonce are the same authorization, even if their signatures differ. */
export const hasSameFields = (one: Payment, other: Payment): boolean =>
  movesSameMoney(one, other) && one.validAfter === other.validAfter && one.validBefore === other.validBefore

/** Whether two payments are the same authorization with the same signature. */
export const isSamePayment = (one: Payment, other: Payment): boolean =>
  hasSameFields(one, other) && one.signature === other.signature

/** Why a payment is rejected on these terms at this time, as text for the payer; `undefined` if it is accepted. */
export function findRejectionReason(payment: Payment, terms: Terms, now: UnixMs): string | undefined {
  const nowSeconds = BigInt(Math.floor(now / 1000))
  const { accepted } = payment
  if (accepted.scheme !== 'exact' || accepted.network !== terms.network)
    return 'accepted names a different scheme or network'
  if (accepted.asset !== terms.asset) return 'accepted names a different asset'
  if (accepted.payTo !== terms.payTo || payment.to !== terms.payTo) return 'the authorization pays a different address'
  if (accepted.amount !== terms.amount || payment.amount !== terms.amount)
    return `the amount is not exactly ${formatAmount(terms.amount)}`
  if (payment.payer === terms.payTo) return 'the payer and the payee are the same address'
  if (payment.validAfter > nowSeconds) return 'the authorization is not valid yet'
  if (payment.validBefore < nowSeconds + SETTLE_LEAD_SECONDS) return 'the authorization has expired, or is about to'
  if (payment.validBefore > nowSeconds + VALIDITY_MAX_SECONDS)
    return `the authorization is valid for more than ${VALIDITY_MAX_SECONDS} seconds; sign for ${MAX_TIMEOUT_SECONDS} seconds`
  return undefined
}
