/** What facilitators and wallets answer about a payment, what it proves, and how a purchase is refused for it. */

import type { Failure } from '../failure.ts'
import type { Address, Hash } from './payment.ts'
import {
  cannotAskChain,
  facilitatorUnavailable,
  facilitatorUnreachable,
  paymentRequired,
  paymentsBusy,
} from './refusals.ts'

/** Which facilitator answered, by its host, where several may be asked. */
type AnsweredBy = { readonly by?: string }

/** `unreadable`: it says that it cannot read what it was sent. */
type Unreadable = { readonly unreadable?: true }

/** What a facilitator's settle proves: `unsent` that it saw nothing, `success` and `refused` only what it claims. */
export type SettleResult = AnsweredBy &
  (
    | { readonly kind: 'success'; readonly tx: Hash }
    | { readonly kind: 'refused'; readonly reason: string }
    | { readonly kind: 'unsent' }
    | ({ readonly kind: 'unclear' } & Unreadable)
    | { readonly kind: 'busy' } // our own queue is full: nobody was asked, so nothing was sent
  )

/** What a facilitator says of a payment; `busy` when our own queue is full and it was not asked. */
export type VerifyResult = AnsweredBy &
  (
    | { readonly kind: 'valid' }
    | { readonly kind: 'invalid'; readonly reason: string }
    | ({ readonly kind: 'unavailable' } & Unreadable)
    | { readonly kind: 'busy' }
  )

/**
 * Whether a wallet signed. `busy` and `silent` say nothing of the wallet: it could not be asked now, because our own limits
 * are reached, or because the chain's endpoint did not answer.
 */
export type SignatureCheck = 'signed' | 'not-signed' | 'busy' | 'silent'

/** Who signed a text, and its EIP-191 digest. */
export type SignedBy = { readonly by: Address; readonly digest: Hash }

// Reasons of the reference facilitator (`@x402/evm`) that it gives before broadcasting. The chain still has to
// confirm that the authorization is unspent, because a payment someone else broadcast empties the wallet too.
const definiteReasons = new Set([
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_transaction_simulation_failed',
])

/** Whether a refusal to settle says that nothing was broadcast. */
export const isDefinite = (reason: string) => definiteReasons.has(reason)

/**
 * Whether a refusal blames the signature, or takes the wallet for one that is still to be deployed: a facilitator whose own
 * chain endpoint is down says so of good ones.
 */
export const isSignatureReason = (reason: string) =>
  reason.includes('signature') || reason === 'eip6492_factory_not_allowed'

/** Whether a refusal says that the authorization is used. Where our chain calls it unspent, one of the two is behind. */
export const saysUsed = (reason: string) => reason === 'invalid_exact_evm_nonce_already_used'

// The reasons of x402 for a request that a facilitator cannot read.
const requestReasons = new Set(['invalid_payload', 'invalid_payment_requirements', 'invalid_request'])

/** Whether a facilitator rejects the request itself, rather than the payment. */
export const blamesRequest = (answer: SettleResult | VerifyResult) =>
  'reason' in answer ? requestReasons.has(answer.reason) : 'unreadable' in answer

/** The refusal after a settlement that provably sent nothing; `undefined` for any other. */
export function refusalOfUnsent(settling: SettleResult): Failure | undefined {
  if (settling.kind === 'busy') return paymentsBusy()
  if (settling.kind === 'unsent') return facilitatorUnreachable()
  return settling.kind === 'refused' && isDefinite(settling.reason) ? paymentRequired(settling.reason) : undefined
}

/** The refusal if a facilitator calls a signature bad. One with a broken endpoint says so of good ones, so the token decides. */
export function signatureRefusal(checked: SignatureCheck, reason: string): Failure {
  if (checked === 'not-signed') return paymentRequired(reason)
  if (checked === 'busy') return paymentsBusy()
  if (checked === 'silent') return cannotAskChain()
  return facilitatorUnavailable('The payment facilitator cannot check signatures at the moment')
}
