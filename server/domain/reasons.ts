/** What a facilitator's reasons prove. */

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

/** Whether a refusal blames the signature, as a facilitator does whose own chain endpoint is down. */
export const isSignatureReason = (reason: string) => reason.includes('signature')
