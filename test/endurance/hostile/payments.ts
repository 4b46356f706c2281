/** Payments that a stock client would never send: a good one, changed in one way. */

import type { PaymentRequirements } from '@x402/core/types'
import { authorizationTypes } from '@x402/evm'
import {
  getAddress,
  isAddress,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  type Hex,
} from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { newWallet, type Wallet } from '../../../server/local/wallets.ts'
import { twinOf, withParity } from './twisted-signatures.ts'

/** What the wall asks for. */
export type PaymentTerms = PaymentRequirements

type Fields = Record<string, unknown>

/** A payment as JSON, in the client's shape. */
export type Payload = {
  x402Version: unknown
  accepted?: unknown
  payload?: unknown
}

/** What a change may refer to besides the payment itself. */
export type Surroundings = {
  readonly terms: PaymentTerms
  readonly payer: Wallet
  usedHere(): Promise<Payload>
  spentElsewhere(): Promise<Payload>
}

const LIFE_SECONDS = 300

const nowSeconds = () => Math.floor(Date.now() / 1000)

/** A good payment of `payer` with a nonce of its own. */
export async function newPayload(payer: Wallet, terms: PaymentTerms): Promise<Payload> {
  const authorization: Fields = {
    from: payer.address,
    to: terms.payTo,
    value: terms.amount,
    validAfter: '0',
    validBefore: String(nowSeconds() + LIFE_SECONDS),
    nonce: generatePrivateKey(),
  }
  return {
    x402Version: 2,
    accepted: { ...terms },
    payload: { signature: await signed(payer, terms, authorization), authorization },
  }
}

async function signed(payer: Wallet, terms: PaymentTerms, authorization: Fields): Promise<Hex> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  return await payer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: getAddress(terms.asset) },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: addressOf(from),
      to: addressOf(to),
      value: BigInt(String(value)),
      validAfter: BigInt(String(validAfter)),
      validBefore: BigInt(String(validBefore)),
      nonce: `0x${String(nonce).slice(2)}`,
    },
  })
}

const addressOf = (value: unknown) => {
  const text = String(value).toLowerCase()
  if (!isAddress(text)) throw new TypeError('no address')
  return getAddress(text)
}

/** A payment changed as `change` says, as JSON text; throws for words that are not known. */
export async function mutated(change: string, around: Surroundings): Promise<string> {
  const together = /^payload keys (.+) together$/.exec(change)?.[1]
  const payload = await newPayload(around.payer, around.terms)
  if (together !== undefined) return JSON.stringify(withKeys(payload, together.split(/, | and /)))
  const doubled = /^duplicate key (.+)$/.exec(change)?.[1]
  if (doubled !== undefined) return withKeyTwice(payload, doubled)
  const at = change.indexOf('=')
  const path = at < 0 ? change : change.slice(0, at)
  const words = at < 0 ? '' : change.slice(at + 1)
  const earlier = path === 'authorization.nonce' ? await earlierPayload(words, around) : undefined
  if (earlier !== undefined) return JSON.stringify(earlier)
  return JSON.stringify(await changed(payload, path, words, around))
}

async function changed(payload: Payload, path: string, words: string, around: Surroundings): Promise<Payload> {
  const keys = path.startsWith('authorization') ? ['payload', ...path.split('.')] : path.split('.')
  const key = keys.at(-1) ?? ''
  const parent = keys.slice(0, -1).reduce<Fields>((record, name) => fieldsOf(record[name]), payload)
  const value = await valueOf(words, key, parent[key], around)
  if (value === undefined) delete parent[key]
  else parent[key] = value
  // A liar signs what he sends, unless it cannot be signed.
  if (keys[1] === 'authorization') {
    const inner = fieldsOf(payload.payload)
    const resigned = signed(around.payer, around.terms, fieldsOf(inner['authorization']))
    inner['signature'] = await resigned.catch(() => inner['signature'])
  }
  return payload
}

function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new Error(`there is nothing inside ${String(value)}`)
  return value as Fields
}

/** Earlier payments by what a case calls them; `undefined` when it calls none. */
async function earlierPayload(words: string, around: Surroundings): Promise<Payload | undefined> {
  if (words.startsWith('used on chain')) return await around.spentElsewhere()
  if (words.startsWith('used')) return await around.usedHere()
  if (!words.startsWith('upper-case hex of a used')) return undefined
  const used = structuredClone(await around.usedHere())
  const authorization = fieldsOf(fieldsOf(used.payload)['authorization'])
  authorization['nonce'] = `0x${String(authorization['nonce']).slice(2).toUpperCase()}`
  return used
}

/** The new value, from the words of a case; `undefined` takes the field away. */
async function valueOf(words: string, key: string, old: unknown, around: Surroundings): Promise<unknown> {
  if (words === 'absent') return undefined
  if (words === 'other') return otherOf(key, old)
  if (key === 'signature') return twisted(words, String(old))
  if (key === 'payload') return foreignMethod(words) ?? literalOf(words)
  return timeOf(words, around.terms) ?? wordOf(words, String(old), around) ?? literalOf(words)
}

function otherOf(key: string, old: unknown): string {
  if (key === 'network') return 'eip155:1'
  if (key === 'scheme') return 'upto'
  return typeof old === 'string' && isAddress(old, { strict: false }) ? newWallet().address : generatePrivateKey()
}

/** `now`, plus or minus seconds, each of which may be a number or `maxTimeoutSeconds`. */
function timeOf(words: string, { maxTimeoutSeconds }: PaymentTerms): string | undefined {
  const terms = /^now((?:[+-](?:\d+|maxTimeoutSeconds))*)$/.exec(words)?.[1]
  if (terms === undefined) return words === 'past' ? String(nowSeconds() - 60) : undefined
  const seconds = [...terms.matchAll(/([+-])(\w+)/g)].map(([, sign = '+', amount = '0']) => {
    const size = amount === 'maxTimeoutSeconds' ? maxTimeoutSeconds : Number(amount)
    return sign === '-' ? -size : size
  })
  return String(seconds.reduce((sum, step) => sum + step, nowSeconds()))
}

function wordOf(words: string, old: string, { terms, payer }: Surroundings): string | undefined {
  const bytes = /^(\d+) bytes$/.exec(words)?.[1]
  if (bytes !== undefined) return `0x${'5a'.repeat(Number(bytes))}`
  const [, text, times] = /^"(.*)"\*(\d+)$/.exec(words) ?? []
  if (text !== undefined) return text.repeat(Number(times))
  const digits = old.slice(2)
  const known: Readonly<Record<string, string>> = {
    payTo: terms.payTo,
    asset: terms.asset,
    payer: payer.address,
    zero: `0x${'0'.repeat(40)}`,
    'checksum-broken': brokenChecksum(old),
    'upper-case': `0x${digits.toUpperCase()}`,
    'upper case': `0x${digits.toUpperCase()}`,
    'lower-case': old.toLowerCase(),
    'no 0x': digits,
    'without 0x': digits,
  }
  return known[words]
}

/** The address with the case of one letter turned, so that its checksum is wrong; letters of one case alone carry none. */
function brokenChecksum(address: string): string {
  const right = isAddress(address, { strict: false }) ? getAddress(address) : address
  const digits = right.slice(2)
  const turned = Array.from(digits, (letter, at) => digits.slice(0, at) + turnedCase(letter) + digits.slice(at + 1))
  const mixed = turned.find((text) => text !== digits && /[a-f]/.test(text) && /[A-F]/.test(text))
  return `0x${mixed ?? digits}`
}

const turnedCase = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())

function twisted(words: string, old: string): unknown {
  const signature: Hex = `0x${old.slice(2)}`
  const parity = /^v ?=? ?(\d+)$/.exec(words)?.[1]
  if (parity !== undefined) return withParity(signature, Number(parity))
  const bytes = /^(\d+) ?bytes$/.exec(words)?.[1]
  if (bytes !== undefined)
    return `0x${old
      .slice(2)
      .padEnd(2 * Number(bytes), '0')
      .slice(0, 2 * Number(bytes))}`
  if (words === 'v 0/1') return withParity(signature, parseSignature(signature).yParity)
  if (words.startsWith('high-s')) return twinOf(signature)
  if (words.startsWith('EIP-2098'))
    return serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
  if (words === 'upper-case' || words === 'upper-case hex') return `0x${old.slice(2).toUpperCase()}`
  if (words === 'zero' || words === 'zeros') return `0x${'00'.repeat(65)}`
  if (words === 'random') return `0x${'5a'.repeat(65)}`
  return literalOf(words)
}

/** What other ways of paying put in the payload. */
function foreignMethod(words: string): Fields | undefined {
  const signature = `0x${'5a'.repeat(65)}`
  const permit = { from: newWallet().address, permitted: { token: newWallet().address, amount: '1000000' }, nonce: '1' }
  if (words.startsWith('permit2')) return { signature, permit2Authorization: permit }
  const delegationManager = newWallet().address
  if (words.startsWith('erc7710')) return { delegationManager, permissionContext: signature, delegator: signature }
  return undefined
}

function literalOf(words: string): unknown {
  try {
    return JSON.parse(words)
  } catch {
    throw new Error(`an unknown change of a payment: ${words}`)
  }
}

function withKeys(payload: Payload, keys: readonly string[]): Payload {
  const inner = fieldsOf(payload.payload)
  const foreign = { ...foreignMethod('permit2'), ...foreignMethod('erc7710') }
  for (const key of keys) inner[key] ??= Object.entries(foreign).find(([name]) => name === key)?.[1] ?? {}
  return payload
}

/** The last name of `path` given twice, first with a value that is not meant. */
function withKeyTwice(payload: Payload, path: string): string {
  const key = path.split('.').at(-1) ?? ''
  const text = JSON.stringify(payload)
  const at = path.startsWith('accepted') ? text.indexOf('"accepted"') : text.indexOf('"payload"')
  return text.slice(0, at) + text.slice(at).replace(`"${key}":`, `"${key}":"1","${key}":`)
}
