/** An operation as a value, and the refusals that many have in common. */

import type { TObject, TSchema } from '@sinclair/typebox'
import type { FailureCode } from '../domain/failure.ts'

/** What an operation takes, and each way it can answer. */
export type Operation = {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string // as OpenAPI writes it
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly onBlock?: true // takes the path parameter `coord`
  readonly params?: TObject // further path parameters
  readonly query?: TObject
  readonly body?: TObject
  readonly uploads?: readonly string[] // media types of a body that is no JSON
  readonly payable?: 'always' | 'sometimes'
  readonly priced?: 'by the block' // what is paid depends on what is asked for
  readonly answers: readonly TSchema[] // the bodies of a 200
  readonly media?: 'image/png' | 'text/event-stream' | 'application/octet-stream' // the media type of a 200 that is no JSON
  readonly revalidates?: true // answers 304 to the holder of its ETag
  readonly also?: Readonly<Record<number, { readonly what: string; readonly schema?: TSchema }>> // other answers
  readonly codes: readonly FailureCode[]
}

/** What a listing or a payment can be refused for. */
export const listing = ['invalid_listing', 'invalid_pixels', 'invalid_painter', 'invalid_payment'] as const

/** How a purchase ends that was not made. */
export const unsettled = [
  'payment_required',
  'payment_used',
  'payment_credited',
  'facilitator_unavailable',
  'settlement_unknown',
  'deed_not_persisted',
  'server_busy',
] as const

/** What a signed change can be refused for. */
export const signed = [
  'body_too_large',
  'invalid_body',
  'empty_update',
  'stale_signature',
  'unauthorized',
  'server_busy',
] as const

/** Whatever reads or writes the store can find it shut. */
export const anywhere = ['database_unavailable', 'internal_error'] as const
