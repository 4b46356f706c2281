/** A payment as its payer signed it (EIP-3009 `TransferWithAuthorization`), and whether it fits what is asked. */

import { blocksIn, type Target } from './target.ts'

/** An EVM address, lower-cased so that it can be a key. */
export type Address = `0x${string}`

/** 32 bytes in lower-case hex: an authorization's nonce or a transaction's hash. */
export type Hash = `0x${string}`

export type UnixMs = number
export type UnixSeconds = bigint

/** What is asked for a block. Built from the settings, never from what a client or a facilitator says. */
export type Terms = {
  readonly network: string // CAIP-2, such as eip155:8453
  readonly asset: Address
  readonly payTo: Address
  readonly amount: bigint // atomic units of the asset
}

/** The payer's claim of which terms were signed; not covered by the signature, so only ever compared. */
export type Accepted = Terms & { readonly scheme: string }

/** What identifies a payment for ever: the token lets a payer spend a nonce once. */
export type PaymentKey = { readonly payer: Address; readonly nonce: Hash }

/** What a client says to extensions of the protocol that the wall has no part in, by their names. */
export type Extensions = Readonly<Record<string, unknown>>

/** One signed authorization. */
export type Payment = PaymentKey & {
  readonly to: Address
  readonly amount: bigint
  readonly validAfter: UnixSeconds
  readonly validBefore: UnixSeconds
  readonly signature: `0x${string}` // 65 bytes from a plain account, any length from a contract wallet
  readonly accepted: Accepted
  readonly extensions?: Extensions // for the facilitator; unsigned, passed on as they are, and never kept
  readonly identifier?: string // the client's name for the purchase; unsigned, so it means something for this payer alone
}

export type { Target }

/**
 * Whether a target can be bought: `reserved` means that some of it is, or on `next` that only blocks that are held could
 * make room; `claimed` that some of it is sold, or on `next` all of the wall; `crowded` that blocks are left, and no room of
 * the size asked for; `full` that the payer holds too many already.
 */
export type Space = 'open' | 'reserved' | 'claimed' | 'crowded' | 'full'

/** The terms of one block, for all blocks of a target. */
export const termsFor = (terms: Terms, target: Target): Terms => ({
  ...terms,
  amount: terms.amount * BigInt(blocksIn(target)),
})

/** How long a client may take from signing to the money moving. */
export const MAX_TIMEOUT_SECONDS = 300

/** When a sale is first looked at again: what a reorganisation took away is then mostly still good to be settled. */
export const FIRST_LOOK_MS = 20_000

/** How long after the end of its authorization a sale is looked at for the last time: safe blocks are minutes old. */
export const LAST_LOOK_MS = 5 * 60_000

// The facilitator needs some seconds to get a transaction mined before the authorization ends.
const LEAD_SECONDS = 10n

/** How long from now an authorization can be good, and hold a block; the slack is for the payer's clock. */
export const AHEAD_MAX_SECONDS = 360n

/** One string per payment, for latches and logs. */
export const keyOf = ({ payer, nonce }: PaymentKey): string => `${payer}:${nonce}`

/** Whether two payments of one payer and nonce move the same money, for whatever time they are good. */
export const isRenewal = (one: Payment, other: Payment): boolean =>
  one.to === other.to &&
  one.amount === other.amount &&
  one.accepted.asset === other.accepted.asset &&
  one.accepted.network === other.accepted.network

/** Whether two payments of one payer and nonce are the same authorization, whoever signed them. */
export const hasSameFields = (one: Payment, other: Payment): boolean =>
  isRenewal(one, other) && one.validAfter === other.validAfter && one.validBefore === other.validBefore

/** Whether two payments are the same authorization with the same signature. */
export const isSamePayment = (one: Payment, other: Payment): boolean =>
  hasSameFields(one, other) && one.signature === other.signature

/** Why a payment cannot be taken on these terms now, in words for the payer; `undefined` when it can. */
export function unfitness(payment: Payment, terms: Terms, now: UnixMs): string | undefined {
  const nowSeconds = BigInt(Math.floor(now / 1000))
  const { accepted } = payment
  if (accepted.scheme !== 'exact' || accepted.network !== terms.network) return 'accepted: another scheme or network'
  if (accepted.asset !== terms.asset) return 'accepted: another asset'
  if (accepted.payTo !== terms.payTo || payment.to !== terms.payTo) return 'the authorization pays another address'
  if (accepted.amount !== terms.amount || payment.amount !== terms.amount)
    return `the amount is not exactly ${terms.amount}`
  if (payment.payer === terms.payTo) return 'the payer is the address to be paid'
  if (payment.validAfter > nowSeconds) return 'the authorization is not valid yet'
  if (payment.validBefore < nowSeconds + LEAD_SECONDS) return 'the authorization has expired, or is about to'
  if (payment.validBefore > nowSeconds + AHEAD_MAX_SECONDS)
    return `the authorization is valid for more than ${AHEAD_MAX_SECONDS} seconds; sign for ${MAX_TIMEOUT_SECONDS}`
  return undefined
}
