/** Checks the signature of a change that needs no payment, and refuses what is not signed by whom it must be. */

import { failure, type Failure } from '../domain/failure.ts'
import type { SignedBy } from '../domain/purchase/facilitator-errors.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { retryLater } from '../domain/purchase/refusals.ts'
import type { Wallets } from '../ports.ts'

/** Who of `signers` signed one of `messages`, or why the change is refused; `whose` names the signers in the refusal. */
export async function checkSigner(
  wallets: Wallets,
  signers: readonly Address[],
  whose: string,
  messages: readonly string[],
  { signature }: { readonly signature: string }, // as the contract's schema lets it through
  from: string, // the client's address
): Promise<SignedBy | Failure> {
  const signed = await wallets.signed(signers, messages, signature as `0x${string}`, from)
  if (signed === 'busy') return retryLater('server_busy', TOO_MANY_CHECKS)
  if (signed === 'silent') return retryLater('server_busy', CHAIN_SILENT)
  return signed === 'not-signed' ? notSigned(whose, messages) : signed
}

const TOO_MANY_CHECKS =
  'Too many smart-wallet signatures are being checked at the moment. Nothing was changed; send the same request again.'

const CHAIN_SILENT =
  'The chain cannot be asked about this smart wallet at the moment. Nothing was changed; send the same request again.'

/** A signature of somebody else, with the text that should have been signed. */
export const notSigned = (whose: string, messages: readonly string[]): Failure =>
  failure('unauthorized', `The signature is not from ${whose} over the expected message (EIP-191 personal_sign).`, {
    expected: messages[0],
  })

/** A time outside the window, with ours. */
export const staleTime = (now: number): Failure =>
  failure('stale_signature', 'ts must be within 5 minutes of this server’s time, in Unix milliseconds. Sign again.', {
    now,
  })

/** A message that came after a newer one, or again after it. */
export const superseded = (): Failure =>
  failure('stale_signature', 'A newer message than this one was applied already. Sign again with a new ts.')
