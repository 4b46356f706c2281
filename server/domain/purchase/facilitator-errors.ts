/** Responses of facilitators and wallets about a payment: what each proves, and which refusal it leads to. */

import type { Failure } from '../failure.ts'
import type { Address, Hash } from './payment.ts'
import {
  createChainUnavailableFailure,
  createFacilitatorFailure,
  createFacilitatorUnreachableFailure,
  createPaymentRequiredFailure,
  createPaymentsBusyFailure,
} from './refusals.ts'

/** The host of the facilitator that responded, if there are several facilitators. */
type AnsweredBy = { readonly by?: string }

/** `unreadable`: the facilitator says that it cannot read the request. */
type Unreadable = { readonly unreadable?: true }

/**
 * The result of a settle call. Only `unsent` and `busy` prove something: this call did not deliver the payment to the
 * facilitator. The other results prove nothing. `tx` is the transaction that the facilitator named: the first one to
 * look up, and never a proof.
 */
export type SettleResult = AnsweredBy &
  (
    | { readonly kind: 'success'; readonly tx: Hash }
    | { readonly kind: 'refused'; readonly reason: string }
    | { readonly kind: 'unsent' }
    | ({ readonly kind: 'unclear'; readonly tx?: Hash } & Unreadable)
    | { readonly kind: 'busy' } // our own queue is full, so nothing was sent
  )

/** The result of a verify call; `busy` if our own queue is full and no call was made. */
export type VerifyResult = AnsweredBy &
  (
    | { readonly kind: 'valid' }
    | { readonly kind: 'invalid'; readonly reason: string }
    | ({ readonly kind: 'unavailable' } & Unreadable)
    | { readonly kind: 'busy' }
  )

/** Makes the result for an unknown outcome, with the transaction that a facilitator named, if any. */
export const createUnclearResult = (tx: Hash | undefined): SettleResult => ({
  kind: 'unclear',
  ...(tx === undefined ? {} : { tx }),
})

/** The transaction that a facilitator named, if any. */
export const findNamedTransaction = (settling: SettleResult): Hash | undefined =>
  'tx' in settling ? settling.tx : undefined

/**
 * Whether a wallet signed. `busy` and `silent` say nothing about the signature: it could not be checked, because our
 * own limit was reached (`busy`) or the chain endpoint did not respond (`silent`).
 */
export type SignatureCheck = 'signed' | 'not-signed' | 'busy' | 'silent'

/** The signer of a text, and the text's EIP-191 digest. */
export type SignedBy = { readonly by: Address; readonly digest: Hash }

// Reasons that the reference facilitator (`@x402/evm`) returns before it broadcasts. The chain must still confirm that
// the authorization is unspent: if somebody else broadcast the payment, that may be why the balance is too low.
const preBroadcastReasons = new Set([
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_transaction_simulation_failed',
])

/** Whether a settle refusal was decided before broadcast. */
export const isBeforeBroadcast = (reason: string) => preBroadcastReasons.has(reason)

/**
 * Whether a refusal blames the signature, or the factory of a wallet that the facilitator considers undeployed. A
 * facilitator whose chain endpoint is down gives these reasons for valid signatures too.
 */
export const isSignatureReason = (reason: string) =>
  reason.includes('signature') || reason === 'eip6492_factory_not_allowed'

/**
 * Whether a refusal says that the authorization is already used. If our chain endpoint reports it as unspent, either
 * the endpoint or the facilitator lags behind.
 */
export const reportsNonceUsed = (reason: string) => reason === 'invalid_exact_evm_nonce_already_used'

// The x402 reasons for a request that the facilitator cannot read.
const requestReasons = new Set(['invalid_payload', 'invalid_payment_requirements', 'invalid_request'])

/** Whether a facilitator rejects the request itself, not the payment. */
export const rejectsRequest = (answer: SettleResult | VerifyResult) =>
  'reason' in answer ? requestReasons.has(answer.reason) : 'unreadable' in answer

/** The refusal to give if a settle result says that nothing was broadcast; `undefined` for any other result. */
export function refuseIfUnsent(settling: SettleResult): Failure | undefined {
  if (settling.kind === 'busy') return createPaymentsBusyFailure()
  if (settling.kind === 'unsent') return createFacilitatorUnreachableFailure()
  return settling.kind === 'refused' && isBeforeBroadcast(settling.reason)
    ? createPaymentRequiredFailure(settling.reason)
    : undefined
}

/**
 * The refusal to give if a facilitator calls a signature invalid. The facilitator may be wrong, so the token contract's
 * own check decides.
 */
export function refuseSignature(checked: SignatureCheck, reason: string): Failure {
  if (checked === 'not-signed') return createPaymentRequiredFailure(reason)
  if (checked === 'busy') return createPaymentsBusyFailure()
  if (checked === 'silent') return createChainUnavailableFailure()
  return createFacilitatorFailure('The payment facilitator cannot check signatures right now')
}
