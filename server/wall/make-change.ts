/** Makes what a wallet has signed for, once its time, its signature and the budget are good. */

import { failure, isFailure, type Failure } from '../domain/failure.ts'
import type { Address, UnixMs } from '../domain/purchase/payment.ts'
import { retryLater } from '../domain/purchase/refusals.ts'
import { isTimely } from '../domain/wall/edit.ts'
import type { Clock, Wallets } from '../ports.ts'
import {
  SIGN_IN_HEADER,
  type SignInTerms,
  differingField,
  readSignIn,
  textOfSignIn,
  timeOfSignIn,
} from '../x402/sign-in.ts'
import type { RateLimits } from './rate-limits.ts'
import { type ChangeSources, type SignedChange, type SignedRequest, noPurchases } from './signed-changes.ts'

/** What changes need. `hosts` are the names a text may be signed for, the canonical one first; `advance` updates `view`. */
export type ChangeDeps = ChangeSources & {
  readonly wallets: Wallets
  readonly clock: Clock
  readonly hosts: readonly string[]
  readonly advance: () => Promise<void>
  readonly limits: RateLimits
}

/** Makes a change, unless it is refused already, by the signature in a body that passed the contract's schema; `from` is the client's address. */
export async function makeChange<Answer>(
  deps: ChangeDeps,
  change: SignedChange<Answer> | Failure,
  { ts, signature }: { readonly ts: UnixMs; readonly signature: string },
  from: string,
): Promise<Answer | Failure> {
  if (isFailure(change)) return change
  const now = deps.clock.now()
  if (!isTimely(ts, now)) return staleTime(now)
  const texts = deps.hosts.flatMap((host) => change.texts(host, ts))
  const denied = notSigned(change.whose, texts)
  return await perform(deps, change, { signers: change.signers, texts, ts, signature, denied, from }, now)
}

/** A signature over one of `texts`, by one of `signers`; `denied` is the refusal if it is nothing of the kind. */
type Proof = {
  readonly signers: readonly Address[]
  readonly texts: readonly string[]
  readonly ts: UnixMs // when it was signed
  readonly signature: string // 0x and hex
  readonly denied: Failure
  readonly from: string // the client's address
}

/** Does what is asked for if the proof holds, once for each text. */
async function perform<Answer>(
  { wallets, limits, advance }: ChangeDeps,
  { budgets, keys, apply, answer }: Pick<SignedRequest<Answer>, 'budgets' | 'keys' | 'apply' | 'answer'>,
  { signers, texts, ts, signature, denied, from }: Proof,
  now: UnixMs,
): Promise<Answer | Failure> {
  const signed = await wallets.signed(signers, texts, signature as `0x${string}`, from)
  if (signed === 'busy') return retryLater('server_busy', TOO_MANY_CHECKS)
  if (signed === 'silent') return retryLater('server_busy', CHAIN_SILENT)
  if (signed === 'not-signed') return denied
  // Counted only after the signature check, so that nobody else can use up the budget.
  const taken = budgets.flatMap((budget) => keys.map((key) => [budget, key] as const))
  const beyond = taken.map((of) => limits.check(...of)).find((refusal) => refusal !== undefined)
  if (beyond !== undefined) return beyond
  for (const of of taken) limits.take(...of)
  const result = await apply({ ...signed, ts }, now)
  if (isFailure(result)) return result
  if (result === 'superseded') return superseded()
  if (result === 'not-painter') return denied
  if (result === 'not-owned') return failure('no_owner', 'A block of this change has no owner yet.')
  if (result === 'unknown-wallet') return noPurchases()
  await advance()
  return await answer(result)
}

const TOO_MANY_CHECKS =
  'Too many smart-wallet signatures are being checked right now. Nothing was changed; send the same request again.'

const CHAIN_SILENT =
  'The chain cannot be queried about this smart wallet right now. Nothing was changed; send the same request again.'

/** A signature of somebody else, with the text that should have been signed. */
const notSigned = (whose: string, texts: readonly string[]): Failure =>
  failure('unauthorized', `The signature is not from ${whose} over the expected message (EIP-191 personal_sign).`, {
    expected: texts[0],
  })

/** A time outside the window, with ours. */
export const staleTime = (now: UnixMs): Failure =>
  failure('stale_signature', 'ts must be within 5 minutes of this server’s time, in Unix milliseconds. Sign again.', {
    now,
  })

/** A text that came after a newer one, or again after it. */
const superseded = (): Failure =>
  failure('stale_signature', 'A newer change has already been applied. Sign again with a new ts.')

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
  if (isFailure(sent)) return sent
  const other = differingField(sent, terms)
  if (other !== undefined) return forAnother(other)
  const now = deps.clock.now()
  const ts = timeOfSignIn(sent, now)
  if (ts === undefined) return stale(now)
  const wallet = sent.address.toLowerCase() as Address
  const request = 'of' in asked ? await asked.of(wallet) : asked
  if (isFailure(request)) return request
  const denied = failure('unauthorized', `The sign-in is not from ${request.whose}. ${ANEW}`)
  if (!request.signers.includes(wallet)) return denied
  const { signature } = sent
  const proof = { signers: [wallet], texts: [textOfSignIn(sent)], ts, signature, denied, from }
  return await perform(deps, request, proof, now)
}

const ANEW = `Send the request without ${SIGN_IN_HEADER}, and sign the text in the response.`

const forAnother = (field: string): Failure =>
  failure(
    'unauthorized',
    `The sign-in is for another request: its ${field} does not match this address and body. ${ANEW}`,
  )

const stale = (now: number): Failure =>
  failure(
    'stale_signature',
    `The sign-in is not valid now: issuedAt must be within 5 minutes of the current time, expirationTime after it, notBefore not after it. ${ANEW}`,
    { now },
  )
