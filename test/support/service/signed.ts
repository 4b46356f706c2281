/** Signed bodies as honest owners send them. */

import { createHash } from 'node:crypto'
import type { Address } from '../../../server/domain/purchase/payment.ts'
import {
  formatAreaMessage,
  formatEditMessage,
  formatPainterMessage,
  formatRegisterMessage,
  type EditFields,
  type IdentityFields,
} from '../../../shared/signing.ts'
import { computeSignature } from '../fakes/wallets.ts'
import { NOW, createWalletAddress } from '../samples.ts'
import { HOST } from './wall.ts'

/** An edit of `coord`, signed by the `payer`-th wallet; `host` and `by` change only the signature. */
export function signEdit(
  payer: number,
  coord: string,
  fields: EditFields,
  { host = HOST, ts = NOW, by = createWalletAddress(payer) }: { host?: string; ts?: number; by?: Address } = {},
): Record<string, unknown> {
  return { ts, signature: computeSignature(by, formatEditMessage(host, coord, ts, fields)), ...fields }
}

/** An edit of an area, signed by the `payer`-th wallet; its pixels are bytes, row by row. */
export function signAreaEdit(
  payer: number,
  area: string,
  { pixels, ...texts }: { pixels?: Uint8Array; message?: string | null; link?: string | null },
  ts = NOW,
): Record<string, unknown> {
  const digest = pixels && createHash('sha256').update(pixels).digest('hex')
  const message = formatAreaMessage(HOST, area, ts, { ...texts, pixels: digest })
  const picture = pixels === undefined ? {} : { pixels: pixels.toBase64() }
  return { ts, signature: computeSignature(createWalletAddress(payer), message), ...picture, ...texts }
}

/** The `payer`-th wallet's signed choice of a painter. */
export function signPainterChoice(payer: number, painter: Address | null, ts = NOW): Record<string, unknown> {
  const own = createWalletAddress(payer)
  return { wallet: own, ts, signature: computeSignature(own, formatPainterMessage(HOST, own, ts, painter)), painter }
}

/** The `payer`-th wallet's signed registration. */
export function signRegistration(payer: number, fields: IdentityFields, ts = NOW): Record<string, unknown> {
  const own = createWalletAddress(payer)
  return { wallet: own, ts, signature: computeSignature(own, formatRegisterMessage(HOST, own, ts, fields)), ...fields }
}

/** The options of a request with a JSON body; a string is sent unchanged. */
export const createBodyInit = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  headers: { 'Content-Type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
