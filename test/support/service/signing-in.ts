/** Signs in without a payment: reads the demand, signs the text that the SDK makes, and resends the request. */

import { createSIWxMessage, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x'
import { getAddress } from 'viem'
import type { Address } from '../../../server/domain/purchase/payment.ts'
import { computeSignature } from '../fakes/wallets.ts'
import { createBodyInit } from './signed.ts'
import type { Wall } from './wall.ts'

/** The fields of a sign-in, as the x402 extension for sign-ins names them. */
export type SignInFields = Readonly<Record<string, string | undefined>>

type Demand = {
  readonly extensions: {
    readonly 'sign-in-with-x': {
      readonly info: SignInFields
      readonly supportedChains: readonly [{ readonly chainId: string; readonly type: string }]
    }
  }
}

/** The sign-in that a 402 demands. */
export function readDemand(response: Response): Demand {
  const header = response.headers.get('PAYMENT-REQUIRED') ?? ''
  return JSON.parse(Buffer.from(header, 'base64').toString()) as Demand
}

/** The fields that a demand asks `wallet` to sign. */
export function readSignInFields(response: Response, wallet: Address): SignInFields {
  const { info, supportedChains } = readDemand(response).extensions['sign-in-with-x']
  return { ...info, ...supportedChains[0], address: getAddress(wallet) }
}

/** A sign-in header with fields that `by` signed; `changes` are made after signing. */
export function createSignInHeader(
  fields: SignInFields,
  by: Address,
  changes: Readonly<Record<string, unknown>> = {},
): string {
  const text = createSIWxMessage(fields as never, fields['address'] ?? '')
  return encodeSIWxHeader({ ...fields, signature: computeSignature(by, text), ...changes } as never)
}

/** The options of a request with a JSON body, and with a sign-in header if one is given. */
export const createSignInInit = (body: unknown, header?: string): RequestInit =>
  createBodyInit(body, header === undefined ? {} : { 'SIGN-IN-WITH-X': header })

/** Requests the text to sign, and sends the same request with the signature of `wallet`. */
export async function sendSignedIn(wall: Pick<Wall, 'sendRequest'>, request: string, body: unknown, wallet: Address) {
  const demand = await wall.sendRequest(request, createSignInInit(body))
  const header = createSignInHeader(readSignInFields(demand, wallet), wallet)
  return { header, response: await wall.sendRequest(request, createSignInInit(body, header)) }
}
