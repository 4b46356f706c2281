/** A wall's terms, and signed payments for them: x402 version 2, scheme `exact` over EIP-3009, only in USDC. */

import type { LocalAccount } from 'viem/accounts'
import { bytesToHex, getAddress } from 'viem/utils'
import { getMember } from '../../shared/json.ts'
import { computeOrderNonce } from '../../shared/order.ts'
import { AUTHORIZATION_TYPES, isNetwork, type Network, networks, PRIMARY_TYPE } from '../../shared/usdc.ts'
import { parseObject } from './json.ts'

/** The account that signs payments. */
export type Signer = Pick<LocalAccount, 'address' | 'signTypedData'>

/** The terms of a wall for one order. */
export type Terms = {
  readonly amount: bigint // atomic units of USDC
  readonly payTo: `0x${string}`
  readonly seconds: number // for how long the payment must be valid
  readonly network: Network
  readonly accepted: object // the offer, which the payment repeats
  readonly resource: unknown
  readonly announcesBinding: boolean
  readonly host: string | undefined // the host name that the wall gives as its own
}

/** The extension of x402 that carries the salt of a bound order. */
const BINDING = 'order-binding'

// A wall requests a validity of five minutes. This client signs no payment that is valid for longer than this limit,
// whatever the wall requests.
const SECONDS_MAX = 600

/** Reads the PAYMENT-REQUIRED header: `unsupported` if it has no offer that this client signs. */
export function parseTerms(header: string | undefined): Terms | 'unreadable' | 'unsupported' {
  const demand = decodeHeader(header)
  const [version, accepts] = [getMember(demand, 'x402Version'), getMember(demand, 'accepts')]
  if (version !== 2 || !Array.isArray(accepts)) return 'unreadable'
  for (const offer of accepts) {
    const terms = parseOffer(offer)
    const announcesBinding = getMember(getMember(demand, 'extensions'), BINDING) !== undefined
    const resource = getMember(demand, 'resource')
    const url = String(getMember(resource, 'url'))
    const host = URL.canParse(url) ? new URL(url).hostname : undefined
    if (terms !== undefined) return { ...terms, resource, announcesBinding, host }
  }
  return 'unsupported'
}

const decodeHeader = (header = ''): object => parseObject(Buffer.from(header, 'base64').toString('utf8'))

const addressPattern = /^0x[0-9a-fA-F]{40}$/
const amountPattern = /^[1-9]\d{0,20}$/

/**
 * The terms of one offer; `undefined` unless it is a valid offer in USDC. Another token could be worth any number of
 * dollars.
 */
function parseOffer(offer: unknown): Pick<Terms, 'amount' | 'payTo' | 'seconds' | 'network' | 'accepted'> | undefined {
  const [network, asset, payTo, amount] = ['network', 'asset', 'payTo', 'amount'].map((name) =>
    String(getMember(offer, name)),
  )
  const seconds = getMember(offer, 'maxTimeoutSeconds')
  if (typeof offer !== 'object' || offer === null || typeof seconds !== 'number') return undefined
  if (network === undefined || !isNetwork(network)) return undefined
  const isUsdc = asset?.toLowerCase() === networks[network].token.address
  const isExact = getMember(offer, 'scheme') === 'exact' && addressPattern.test(payTo ?? '') && seconds > 0
  if (!isUsdc || !isExact || !amountPattern.test(amount ?? '')) return undefined
  return {
    amount: BigInt(amount ?? 0),
    payTo: getAddress(payTo ?? ''),
    seconds: Math.min(Math.floor(seconds), SECONDS_MAX),
    network,
    accepted: offer,
  }
}

const SALT_BYTES = 32

/** A salt that nobody can guess. */
export const createSalt = (): `0x${string}` => bytesToHex(crypto.getRandomValues(new Uint8Array(SALT_BYTES)))

/**
 * The PAYMENT-SIGNATURE header of a payment that can buy one order only: its nonce is bound to the order's text. The
 * salt is sent to a wall that announces the binding. Such a wall rejects the payment without the salt, so nobody can
 * strip the salt in transit.
 */
export async function signPayment(
  signer: Signer,
  { amount, payTo, seconds, network, accepted, resource, announcesBinding }: Terms,
  { text, salt, now }: { readonly text: string; readonly salt: string; readonly now: number },
): Promise<string> {
  const { token } = networks[network]
  const validBefore = BigInt(Math.floor(now / 1000) + seconds)
  const nonce = computeOrderNonce(text, salt)
  const from = getAddress(signer.address)
  const signature = await signer.signTypedData({
    domain: {
      name: token.name,
      version: token.version,
      chainId: Number(network.slice('eip155:'.length)),
      verifyingContract: getAddress(token.address),
    },
    types: AUTHORIZATION_TYPES,
    primaryType: PRIMARY_TYPE,
    message: { from, to: payTo, value: amount, validAfter: 0n, validBefore, nonce },
  })
  const authorization = { from, to: payTo, value: `${amount}`, validAfter: '0', validBefore: `${validBefore}`, nonce }
  const extensions = announcesBinding ? { extensions: { [BINDING]: { info: { salt } } } } : {}
  const payment = { x402Version: 2, resource, accepted, payload: { authorization, signature }, ...extensions }
  return Buffer.from(JSON.stringify(payment)).toString('base64')
}

/** How much a signed payment can cost, and until when; `undefined` if the header is malformed. */
export function parseAuthorization(header: string): { readonly amount: bigint; readonly until: number } | undefined {
  const authorization = getMember(getMember(decodeHeader(header), 'payload'), 'authorization')
  const [value, validBefore] = ['value', 'validBefore'].map((name) => String(getMember(authorization, name)))
  if (!amountPattern.test(value ?? '') || !amountPattern.test(validBefore ?? '')) return undefined
  return { amount: BigInt(value ?? 0), until: Number(validBefore) * 1000 }
}

const hashPattern = /^0x[0-9a-f]{64}$/

/**
 * The transaction in a PAYMENT-RESPONSE header of a payment that is not settled yet: a facilitator's claim, and only a
 * hint.
 */
export function parsePendingTransaction(header: string | undefined): string | undefined {
  const response = decodeHeader(header)
  const isPending = getMember(response, 'errorReason') === 'settlement_pending'
  const transaction = getMember(response, 'transaction')
  return isPending && typeof transaction === 'string' && hashPattern.test(transaction) ? transaction : undefined
}
