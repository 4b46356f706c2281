/**
 * The payment that a client sends: the PAYMENT-SIGNATURE header (base64 of JSON) of x402 v2's `exact` scheme over
 * EIP-3009. The signed authorization, the payment identifier and the salt of an order are used; other fields of the
 * payload are compared, passed on or dropped.
 */

import { getAddress, isAddress, isHex } from 'viem/utils'
import { parseStrictJson } from '../../shared/json.ts'
import { getMember } from '../../shared/json.ts'
import { createFailure, type Failure } from '../domain/failure.ts'
import type { Accepted, Address, Extensions, Hash, Payment } from '../domain/purchase/payment.ts'
import { ofNext } from './bazaar.ts'
import { orderBinding, readSalt } from './order-binding.ts'

// The format of the reference SDK: standard alphabet, optional padding at the end, nothing else.
const base64Pattern = /^[A-Za-z0-9+/]+={0,2}$/

// A uint256 in decimal; different parties could read other notations differently.
const decimalPattern = /^(?:0|[1-9]\d{0,77})$/
const UINT256_MAX = 2n ** 256n - 1n

const noncePattern = /^0x[0-9a-fA-F]{64}$/

/** Reads the header of a payment, or returns why it is not valid; `read` reads the decoded content. */
export function readPaymentHeader(header: string, read = readPayment): Payment | Failure {
  if (!base64Pattern.test(header)) return createMalformedFailure('the header is not base64')
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'base64'))
    return read(parseStrictJson(text))
  } catch {
    return createMalformedFailure('the header must be base64 of UTF-8 JSON without duplicate keys')
  }
}

/** Reads a decoded PaymentPayload, as MCP carries it, or returns why it is not a valid payment. */
export function readPayment(payload: unknown): Payment | Failure {
  if (!isRecord(payload)) return createMalformedFailure('it is not a JSON object')
  if (payload['x402Version'] !== 2) return createMalformedFailure('x402Version must be 2')
  const accepted = readAccepted(payload['accepted'])
  if (accepted === undefined) return createMalformedFailure('accepted must repeat the offered terms')
  const inner = payload['payload']
  // If there were further keys, a facilitator might use a different method from the one that is checked here.
  if (!isRecord(inner) || !hasExactlyKeys(inner, ['authorization', 'signature']))
    return createMalformedFailure('payload must contain authorization and signature, and nothing else')
  const { signature } = inner
  if (typeof signature !== 'string' || !isHex(signature) || signature.length < 4 || signature.length % 2 !== 0)
    return createMalformedFailure('signature must be 0x followed by hex bytes')
  const authorization = readAuthorization(inner['authorization'])
  if (typeof authorization === 'string') return createMalformedFailure(authorization)
  const identifier = readIdentifier(payload['extensions'])
  if (identifier === 'malformed')
    return createMalformedFailure('the id of payment-identifier must have 16 to 128 characters of A-Z a-z 0-9 _ -')
  const extensions = pickFurtherExtensions(payload['extensions'])
  const salt = readSalt(payload['extensions'])
  return {
    ...authorization,
    signature: toLowerHash(signature),
    accepted,
    ...(extensions === undefined ? {} : { extensions }),
    ...(salt === undefined ? {} : { salt }),
    ...(identifier === 'none' ? {} : { identifier: identifier.id }),
  }
}

// This limit is much larger than a builder code.
const EXTENSIONS_MAX_CHARACTERS = 4096

/**
 * The client's data for other extensions, to pass to the facilitator; `undefined` if there is none, or if it is too
 * large.
 */
function pickFurtherExtensions(value: unknown): Extensions | undefined {
  if (!isRecord(value)) return undefined
  const further = Object.entries(value).filter(([name]) => !ownExtensions.has(name))
  const isPassed = further.length > 0 && JSON.stringify(further).length <= EXTENSIONS_MAX_CHARACTERS
  return isPassed ? Object.fromEntries(further) : undefined
}

type Authorization = Omit<Payment, 'signature' | 'accepted'>

const authorizationKeys = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce']

function readAuthorization(value: unknown): Authorization | string {
  if (!isRecord(value) || !hasExactlyKeys(value, authorizationKeys))
    return `authorization must contain ${authorizationKeys.join(', ')}`
  const payer = readAddress(value['from'])
  const to = readAddress(value['to'])
  if (payer === undefined || to === undefined) return 'from and to must be addresses'
  const amount = readUint(value['value'])
  const validAfter = readUint(value['validAfter'])
  const validBefore = readUint(value['validBefore'])
  if (amount === undefined || validAfter === undefined || validBefore === undefined)
    return 'value, validAfter and validBefore must be decimal strings'
  const { nonce } = value
  if (typeof nonce !== 'string' || !noncePattern.test(nonce)) return 'nonce must be 0x followed by 64 hex digits'
  return { payer, to, amount, validAfter, validBefore, nonce: toLowerHash(nonce) }
}

function readAccepted(value: unknown): Accepted | undefined {
  if (!isRecord(value)) return undefined
  const { scheme, network } = value
  const asset = readAddress(value['asset'])
  const payTo = readAddress(value['payTo'])
  const amount = readUint(value['amount'])
  if (typeof scheme !== 'string' || typeof network !== 'string') return undefined
  if (asset === undefined || payTo === undefined || amount === undefined) return undefined
  return { scheme, network, asset, payTo, amount }
}

/** An address in any letter case, lower-cased; mixed case must have a valid checksum. */
function readAddress(value: unknown): Address | undefined {
  if (typeof value !== 'string' || !isAddress(value, { strict: false })) return undefined
  const digits = value.slice(2)
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  return isOneCase || getAddress(value) === value ? toLowerHash(value) : undefined
}

function readUint(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !decimalPattern.test(value)) return undefined
  const number = BigInt(value)
  return number <= UINT256_MAX ? number : undefined
}

const toLowerHash = (hex: string) => hex.toLowerCase() as Hash

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasExactlyKeys = (record: Record<string, unknown>, keys: readonly string[]) =>
  Object.keys(record).length === keys.length && keys.every((key) => Object.hasOwn(record, key))

const createMalformedFailure = (what: string): Failure =>
  createFailure(
    'invalid_payment',
    `The payment is invalid: ${what}. Nothing was charged; send the request without a payment to see the terms.`,
  )

const NAME = 'payment-identifier'

const PATTERN = '^[a-zA-Z0-9_-]+$'
const [LENGTH_MIN, LENGTH_MAX] = [16, 128]

/** The wall's declaration of this extension in a payment demand. */
export const paymentIdentifier = {
  [NAME]: {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: LENGTH_MIN, maxLength: LENGTH_MAX, pattern: PATTERN },
      },
      required: ['required'],
    },
  },
}

// Extensions that the wall declares are sent to the facilitator as the wall writes them.
const ownExtensions: ReadonlySet<string> = new Set(Object.keys({ ...ofNext, ...paymentIdentifier, ...orderBinding }))

/**
 * The identifier in the `extensions` of a payload; `none` if a client gives none or only echoes the declaration,
 * `malformed` if the client's data breaks the extension's rules.
 */
function readIdentifier(extensions: unknown): { readonly id: string } | 'none' | 'malformed' {
  const declared = getMember(extensions, NAME)
  if (declared === undefined) return 'none'
  const info = getMember(declared, 'info')
  if (info === undefined) return 'malformed'
  const id = getMember(info, 'id')
  if (id === undefined) return 'none'
  return typeof id === 'string' && isIdentifier(id) ? { id } : 'malformed'
}

const pattern = new RegExp(PATTERN)

const isIdentifier = (id: string) => id.length >= LENGTH_MIN && id.length <= LENGTH_MAX && pattern.test(id)
