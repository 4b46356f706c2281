/**
 * Sign-in with x402's extension `sign-in-with-x` (CAIP-122), for wallets that sign only such requests: a 402 without
 * terms says what to sign, and the client sends the request again with a signature in a header. On `eip155` chains the
 * text is that of EIP-4361. The text binds the signature to the URL, the body and the time, so that nothing has to be
 * stored.
 */

import { parseStrictJson } from '../../shared/json.ts'
import { isAddress } from '../../shared/wallet.ts'
import { createFailure, type Failure } from '../domain/failure.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import { TS_TOLERANCE_MS } from '../domain/wall/edit.ts'
import schema from './sign-in-schema.json' // the extension's own schema, which a test compares with the SDK's

/** The header that carries the signed fields. */
export const SIGN_IN_HEADER = 'SIGN-IN-WITH-X'

const EXTENSION = 'sign-in-with-x'

/** The fields that a sign-in must repeat as the server wrote them. */
export type SignInTerms = {
  readonly domain: string // host of the service, with its port
  readonly uri: string // of the request
  readonly requestId: string // SHA-256 of the body's bytes, in lower-case hex
  readonly statement: string // the action, in printable ASCII
  readonly chainId: string // CAIP-2
}

/** The fields that a wallet sent, unchanged, and its signature. */
export type SignIn = {
  readonly [Field in (typeof REQUIRED)[number]]: string
} & { readonly [Field in (typeof OPTIONAL)[number]]?: string }

const REQUIRED = ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'] as const

const OPTIONAL = ['statement', 'requestId', 'expirationTime', 'notBefore'] as const

const TIMES = ['issuedAt', 'expirationTime', 'notBefore'] as const

const VERSION = '1'
const TYPE = 'eip191'
const CHAIN_START = 'eip155:'

// Proxies pass headers of up to 8 kB; the signature of a wallet that is not deployed yet needs most of that.
const HEADER_MAX_CHARACTERS = 8192

const lineOfText = /^[\x20-\x7e]{1,500}$/
const signaturePattern = /^0x[0-9a-fA-F]+$/
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** The demand to sign in; its `nonce` is 32 hex digits that nobody can guess. */
export function createSignInDemand({ chainId, ...terms }: SignInTerms, nonce: string, now: UnixMs) {
  const info = {
    ...terms,
    version: VERSION,
    nonce,
    issuedAt: new Date(now).toISOString(),
    expirationTime: new Date(now + TS_TOLERANCE_MS).toISOString(),
  }
  return {
    x402Version: 2,
    error: 'sign_in_required',
    resource: { url: terms.uri, description: terms.statement, mimeType: 'application/json' },
    accepts: [],
    extensions: { [EXTENSION]: { info, supportedChains: [{ chainId, type: TYPE }], schema } },
  }
}

/** Reads the header, or returns why it is not a sign-in for this chain. */
export function readSignIn(header: string, chainId: string): SignIn | Failure {
  const fields = parseFields(header)
  if (fields === undefined) return createSignInFailure('it is not base64 of a JSON object, or it is larger than 8 kB')
  const flaw = findFlaw(fields, chainId)
  return flaw === undefined ? (fields as SignIn) : createSignInFailure(flaw)
}

type Fields = Readonly<Record<string, unknown>>

function parseFields(header: string): Fields | undefined {
  if (header.length > HEADER_MAX_CHARACTERS) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.fromBase64(header))
    const value = parseStrictJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}

function findFlaw(fields: Fields, chainId: string): string | undefined {
  const { signature, resources, ...texts } = fields
  if (resources !== undefined) return 'resources are not supported'
  if (typeof signature !== 'string' || !signaturePattern.test(signature))
    return 'signature must be 0x followed by hex digits'
  const isLine = (value: unknown) => typeof value === 'string' && lineOfText.test(value)
  const wrong =
    REQUIRED.find((name) => name !== 'signature' && !isLine(texts[name])) ??
    OPTIONAL.find((name) => texts[name] !== undefined && !isLine(texts[name]))
  if (wrong !== undefined) return `${wrong} must be one line of printable ASCII of at most 500 characters`
  if (!isAddress(String(texts['address']))) return 'address must be 0x followed by 40 hex digits'
  const time = TIMES.find((name) => typeof texts[name] === 'string' && !isTime(texts[name]))
  if (time !== undefined) return `${time} must be an RFC 3339 time`
  if (texts['version'] !== VERSION) return `version must be ${VERSION}`
  if (texts['type'] !== TYPE) return `type must be ${TYPE}`
  return texts['chainId'] === chainId ? undefined : `chainId must be ${chainId}`
}

const isTime = (text: string) => timePattern.test(text) && Number.isFinite(Date.parse(text))

const createSignInFailure = (what: string): Failure =>
  createFailure(
    'invalid_sign_in',
    `The ${SIGN_IN_HEADER} header is invalid: ${what}. Send the request without it to get the text to sign.`,
  )

/** The first field that differs from the server's value for this request. */
export const findDifferingField = (
  { domain, uri, requestId, statement }: SignIn,
  terms: SignInTerms,
): keyof SignInTerms | undefined => {
  if (domain !== terms.domain) return 'domain'
  if (uri !== terms.uri) return 'uri'
  if (requestId !== terms.requestId) return 'requestId'
  return statement === terms.statement ? undefined : 'statement'
}

/** When the message was signed; `undefined` if that time is too far from `now`, or the message is not valid now. */
export function checkSignInTime({ issuedAt, expirationTime, notBefore }: SignIn, now: UnixMs): UnixMs | undefined {
  const ts = Date.parse(issuedAt)
  const isExpired = expirationTime !== undefined && Date.parse(expirationTime) <= now
  const isEarly = notBefore !== undefined && Date.parse(notBefore) > now
  return Math.abs(now - ts) > TS_TOLERANCE_MS || isExpired || isEarly ? undefined : ts
}

/**
 * The signed text (EIP-4361), made of the fields as they were sent, including the statement and the request's
 * identifier.
 */
export function formatSignInMessage(signIn: SignIn): string {
  const { domain, address, statement, uri, version, chainId, nonce, issuedAt } = signIn
  const { expirationTime, notBefore, requestId } = signIn
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    '',
    statement ?? '',
    '',
    `URI: ${uri}`,
    `Version: ${version}`,
    `Chain ID: ${chainId.slice(CHAIN_START.length)}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    ...(expirationTime === undefined ? [] : [`Expiration Time: ${expirationTime}`]),
    ...(notBefore === undefined ? [] : [`Not Before: ${notBefore}`]),
    `Request ID: ${requestId ?? ''}`,
  ].join('\n')
}
