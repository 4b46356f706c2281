/**
 * The documentation of a route, from which OpenAPI and other documents are made, and error codes that many routes
 * share.
 */

import type { TObject, TSchema, TUnknown } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import type { ErrorBody, PaymentRequiredBody, SignInRequiredBody } from '../../../shared/contract/service.ts'
import type { FailureCode, statusOf } from '../../domain/failure.ts'

/** The documentation of an operation, in addition to the schemas of its route. */
export type OperationDocs = {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly params?: TObject // parameters of the path
  readonly query?: TObject // if the handler reads this part of the request itself
  readonly body?: TObject // if the handler reads this part of the request itself
  readonly uploads?: readonly string[] // media types of a body that is not JSON
  readonly payable?: 'always' | 'sometimes'
  readonly signsIn?: true // signs in with the header SIGN-IN-WITH-X
  readonly priced?: 'by the block' // the price depends on the request
  readonly answers: readonly TSchema[] // the bodies of a 200
  /** The media type of a 200 that is not JSON. */
  readonly media?: 'image/png' | 'text/event-stream' | 'application/octet-stream'
  readonly revalidates?: true // returns 304 if its ETag matches
  readonly also?: Readonly<Record<number, { readonly what: string; readonly schema?: TSchema }>> // other responses
  readonly codes: readonly FailureCode[]
}

/** An operation of the service. */
export type Operation = OperationDocs & {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string // in OpenAPI syntax
}

/**
 * A further operation that a route serves, for names with a file extension. Bun's router matches whole segments only.
 */
export type Ending = { readonly ending: '.png'; readonly docs: OperationDocs }

const KEY = 'x-operation'

/** Makes the hooks that document a route. Eden derives the types of its clients from them. */
export const documentOperation = <Docs extends OperationDocs>(docs: Docs, ...endings: readonly Ending[]) => {
  const detail = {
    operationId: docs.id,
    summary: docs.summary,
    description: docs.description,
    [KEY]: { docs, endings },
  }
  // The bodies of responses are declared only as types, not as schemas for Elysia. Handlers return a `Response`, which
  // Elysia does not validate. With response schemas, Elysia would make each handler asynchronous, which costs a tenth
  // of the time of a 304. The tests compare every response with its schema.
  return { detail } as { readonly detail: typeof detail; readonly response: Responses<Docs> }
}

/** The schemas of an operation's responses, by status. */
type Responses<Docs extends OperationDocs> = {
  readonly [Status in 200 | (typeof statusOf)[Docs['codes'][number]]]: Status extends 200
    ? DoneOf<Docs>
    : Status extends 402
      ? Docs extends { readonly signsIn: true }
        ? typeof SignInRequiredBody
        : typeof PaymentRequiredBody
      : typeof ErrorBody
}

type DoneOf<Docs extends OperationDocs> = Docs extends { readonly media: string } ? TUnknown : Docs['answers'][number]

/** The `detail` of a route that rejects every request, so that no other route matches its path. */
export const undocumented = { hide: true } as const

/** Collects the operations from the routes of an app. */
export function collectOperations(app: AnyElysia): readonly Operation[] {
  return app.routes.flatMap(({ method, path, handler, hooks }): Operation[] => {
    const detail: unknown = hooks.detail
    if (!isDocumented(detail) || !isMethod(method)) return []
    const { docs, endings } = detail[KEY]
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    const [query, body] = [findDocumentedSchema(handler) ?? docs.query, findDocumentedSchema(hooks.body) ?? docs.body]
    const schemas = { ...(query === undefined ? {} : { query }), ...(body === undefined ? {} : { body }) }
    return [
      { ...docs, ...schemas, method, path: template },
      ...endings.map(({ ending, docs: other }) => ({ ...other, method, path: template + ending })),
    ]
  })
}

type Detail = { readonly [KEY]: { readonly docs: OperationDocs; readonly endings: readonly Ending[] } }

const isDocumented = (detail: unknown): detail is Detail =>
  typeof detail === 'object' && detail !== null && KEY in detail

const isMethod = (method: string): method is Operation['method'] => ['GET', 'PUT', 'POST'].includes(method)

/** The schema that documents what a handler or a hook reads. */
const findDocumentedSchema = (reading: unknown) => (reading as { readonly documents?: TObject } | undefined)?.documents

export const listing = [
  'invalid_listing',
  'invalid_pixels',
  'invalid_painter',
  'invalid_payment',
  'order_mismatch',
] as const

/** Error codes of purchases that were not completed. */
export const unsettled = [
  'payment_required',
  'payer_denied',
  'payment_used',
  'payment_credited',
  'payment_unmatched',
  'facilitator_unavailable',
  'settlement_unknown',
  'deed_not_persisted',
  'server_busy',
] as const

const signatures = ['stale_signature', 'unauthorized', 'server_busy'] as const

/** Error codes of signed changes whose fields are all required. */
export const signedWhole = ['body_too_large', 'invalid_body', ...signatures] as const

/** Error codes of signed changes. */
export const signed = ['body_too_large', 'invalid_body', 'empty_update', ...signatures] as const

/** Error codes of requests with a sign-in. */
export const signedInCodes = [
  ...signed,
  'invalid_option',
  'sign_in_required',
  'invalid_sign_in',
  'too_many_requests',
] as const

/** Error codes of repaints, besides those of all changes and of the block or area name. */
export const repainting = ['invalid_pixels', 'invalid_message', 'invalid_link', 'no_owner', 'purchase_pending'] as const

/** Error codes of pictures of the wall, besides those of their parameters. */
export const drawing = ['server_busy', 'too_many_requests', 'internal_error'] as const

/** The part of a description that explains how to make a request with a sign-in. */
export const SIGNING_IN =
  'Free. Without the SIGN-IN-WITH-X header the response is 402 with `accepts: []`, and PAYMENT-REQUIRED contains the x402 extension `sign-in-with-x`: the wallet signs the text in it (EIP-4361), and you send the identical request again with the header. The signature is valid once, for this body at this address, within 5 minutes of its Issued At.'

/** Error codes of all operations that use the store. */
export const anywhere = ['database_unavailable', 'internal_error'] as const

/** Error codes of operations that use the store and have a budget. */
export const limited = ['too_many_requests', ...anywhere] as const

/** Error codes of operations that use the store, have a budget and wait in the queue. */
export const queued = ['too_many_requests', 'server_busy', ...anywhere] as const
