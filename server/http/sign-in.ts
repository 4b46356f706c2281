/**
 * Handles signed changes. The signature of a change is in the request's body, or the client signs in. To sign in, the
 * client receives a 402 response with the text to be signed, and sends the signature in a request header.
 */

import { createSignInBody } from '../discovery/codes.ts'
import { createFailure, statusOf, isFailure, type Failure } from '../domain/failure.ts'
import type { Reader } from '../read.ts'
import { makeChange, signIn, type AskedBySignIn, type ChangeDeps, type SignedChange } from '../wall/signed-changes.ts'
import { encodeHeader } from '../x402/receipt.ts'
import { SIGN_IN_HEADER, createSignInDemand, type SignInTerms } from '../x402/sign-in.ts'
import type { Offer } from '../x402/terms.ts'
import { refuse, respondResult } from './answer/refuse.ts'
import { NO_STORE, respondJson } from './answer/respond.ts'
import { type BodyChecks, type Clients, createSignedBodyHooks } from './request/clients.ts'
import { getQuery } from './request/request-url.ts'

export type SignInDeps = { readonly offer: Offer; readonly changing: ChangeDeps; readonly clients: Clients }

/** Makes the handler of a change whose body contains the signature. */
export const createChangeHandler =
  ({ changing, clients }: Pick<SignInDeps, 'changing' | 'clients'>) =>
  async <Answer extends object>(
    request: Request,
    proof: { readonly ts: number; readonly signature: string },
    change: SignedChange<Answer> | Failure,
  ): Promise<Response> =>
    respondResult(await makeChange(changing, change, proof, clients.getClientAddress(request)))

/** The fields of a body, with the digest of its bytes, which the client signs. */
type Identified<Fields> = { readonly fields: Fields; readonly requestId: string }

/** The hooks of a route on which a client signs the body by signing in. */
export function createSignInHooks<Fields>(
  clients: Clients,
  read: Reader<Fields>,
  { before, ...limits }: BodyChecks = {},
) {
  const readIdentified = (value: unknown, bytes: Uint8Array): Identified<Fields> | Failure => {
    const fields = read(value)
    return isFailure(fields) ? fields : { fields, requestId: new Bun.SHA256().update(bytes).digest('hex') }
  }
  const checks = { ...limits, before: (request: Request) => before?.(request) ?? refuseQuery(request) }
  return createSignedBodyHooks(clients, Object.assign(readIdentified, { schema: read.schema }), checks)
}

/** Refuses a query, because the signature would not cover it. */
const refuseQuery = ({ url }: Request): Failure | undefined =>
  getQuery(url) === ''
    ? undefined
    : createFailure('invalid_option', 'This address accepts no query parameters; send everything in the body.')

/**
 * Makes the handler of a signed-in request. `requestId` is the body's digest; `asked` is the change, or a refusal to
 * return.
 */
export function createSignInHandler({ offer, changing, clients }: SignInDeps) {
  const domain = new URL(offer.baseUrl).host
  const chainId = offer.terms.network
  return async <Answer extends object>(
    request: Request,
    requestId: string,
    asked: AskedBySignIn<Answer> | Failure,
  ): Promise<Response> => {
    if (isFailure(asked)) return refuse(asked)
    const from = clients.getClientAddress(request)
    const statement = `${asked.what} on ${domain}`
    const terms = { domain, uri: offer.baseUrl + asked.path, requestId, statement, chainId }
    const header = request.headers.get(SIGN_IN_HEADER)
    if (header !== null) return respondResult(await signIn(changing, terms, header, asked, from))
    const beyond = clients.limits.take('challenges', from)
    return beyond === undefined ? demandSignIn(offer, terms, changing.clock.now()) : refuse(beyond)
  }
}

function demandSignIn({ baseUrl }: Offer, terms: SignInTerms, now: number): Response {
  const nonce = crypto.randomUUID().replaceAll('-', '')
  const headers = { ...NO_STORE, 'PAYMENT-REQUIRED': encodeHeader(createSignInDemand(terms, nonce, now)) }
  return respondJson(statusOf.sign_in_required, createSignInBody(baseUrl), headers)
}
