/** Does what a wallet asks for by signing in, which is what it could also have signed a text of ours for. */

import { failure, type Failure } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import {
  differingField,
  readSignIn,
  SIGN_IN_HEADER,
  textOfSignIn,
  timeOfSignIn,
  type SignInTerms,
} from '../x402/sign-in.ts'
import { perform, type ChangeDeps } from './make-change.ts'
import type { SignedRequest } from './signed-changes.ts'

/** What is asked for at a path; where only the signature says about whom, it is found by the wallet. */
export type AskedBySignIn<Answer> = { readonly path: string; readonly what: string } & (
  | SignedRequest<Answer>
  | { readonly of: (wallet: Address) => Promise<SignedRequest<Answer> | Failure> }
)

/** Does what is asked for if the header is good for it, sent from the client's address `from`. */
export async function signIn<Answer>(
  deps: ChangeDeps,
  terms: SignInTerms,
  header: string,
  asked: AskedBySignIn<Answer>,
  from: string,
): Promise<Answer | Failure> {
  const sent = readSignIn(header, terms.chainId)
  if ('code' in sent) return sent
  const other = differingField(sent, terms)
  if (other !== undefined) return forAnother(other)
  const now = deps.clock.now()
  const ts = timeOfSignIn(sent, now)
  if (ts === undefined) return stale(now)
  const wallet = sent.address.toLowerCase() as Address
  const request = 'of' in asked ? await asked.of(wallet) : asked
  if ('code' in request) return request
  const denied = failure('unauthorized', `The sign-in is not from ${request.whose}. ${ANEW}`)
  if (!request.signers.includes(wallet)) return denied
  const { signature } = sent
  const proof = { signers: [wallet], texts: [textOfSignIn(sent)], ts, signature, denied, from }
  return await perform(deps, request, proof, now)
}

const ANEW = `Send the request without ${SIGN_IN_HEADER}, and sign what it answers.`

const forAnother = (field: string): Failure =>
  failure(
    'unauthorized',
    `The sign-in is for another request: its ${field} is not what this address asks to be signed for this body. ${ANEW}`,
  )

const stale = (now: number): Failure =>
  failure(
    'stale_signature',
    `The sign-in is not good at this time: issuedAt must be within 5 minutes of it, expirationTime after it, notBefore not. ${ANEW}`,
    { now },
  )
