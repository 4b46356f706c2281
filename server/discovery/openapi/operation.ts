/** What a route says of itself to the documents, and the refusals that many have in common. */

import { toOpenAPISchema } from '@elysiajs/openapi/openapi'
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import type { ErrorBody, PaymentRequiredBody } from '../../../shared/contract/service.ts'
import { statusOf, type FailureCode } from '../../domain/failure.ts'

/** What is told of an operation beside its route's own schemas, and each way it can answer. */
export type OperationDocs = {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly params?: TObject // what stands in the path
  readonly query?: TObject // where the handler reads it itself
  readonly body?: TObject // where the handler reads it itself
  readonly uploads?: readonly string[] // media types of a body that is no JSON
  readonly payable?: 'always' | 'sometimes'
  readonly priced?: 'by the block' // what is paid depends on what is asked for
  readonly answers: readonly TSchema[] // the bodies of a 200
  readonly media?: 'image/png' | 'text/event-stream' | 'application/octet-stream' // the media type of a 200 that is no JSON
  readonly revalidates?: true // answers 304 to the holder of its ETag
  readonly also?: Readonly<Record<number, { readonly what: string; readonly schema?: TSchema }>> // other answers
  readonly codes: readonly FailureCode[]
}

/** An operation of the service. */
export type Operation = OperationDocs & {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string // as OpenAPI writes it
  readonly parameters: readonly Parameter[] // of the query, as its route's own schema has them
}

/** A parameter as OpenAPI writes it. */
export type Parameter = {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema?: object
}

/** Another operation at the same route: a name in the path may end so. Bun's router knows whole parts of a path only. */
export type Ending = { readonly ending: '.png'; readonly docs: OperationDocs }

const KEY = 'x-operation'

/** What stands on a route beside its handler: its `detail`, and the bodies of its answers by their status. */
export const documented = <Docs extends OperationDocs>(docs: Docs, ...endings: readonly Ending[]) => ({
  detail: {
    operationId: docs.id,
    summary: docs.summary,
    description: docs.description,
    [KEY]: { docs, endings },
  },
  response: answersOf(docs),
})

/** The body of an answer, as a Standard Schema. Handlers answer with a `Response`, which Elysia sends as it is. */
type Told<Body> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'pixel-wall'
    readonly types?: { readonly input: Body; readonly output: Body }
    readonly validate: (body: unknown) => { readonly value: Body }
  }
}

type Done<Docs extends OperationDocs> = Docs extends { readonly media: string }
  ? unknown
  : Static<Docs['answers'][number]>

type Refused<Status> = Status extends 402 ? PaymentRequiredBody : ErrorBody

/** The bodies of an operation's answers by their status, for clients that are typed by the app. */
type Answers<Docs extends OperationDocs> = {
  readonly [Status in 200 | (typeof statusOf)[Docs['codes'][number]]]: Told<
    Status extends 200 ? Done<Docs> : Refused<Status>
  >
}

function answersOf<Docs extends OperationDocs>({ codes }: Docs): Answers<Docs> {
  const told: Told<unknown> = { '~standard': { version: 1, vendor: 'pixel-wall', validate: (value) => ({ value }) } }
  const statuses = [200, ...codes.map((code) => statusOf[code])]
  return Object.fromEntries(statuses.map((status) => [status, told])) as Answers<Docs>
}

/** The `detail` of a route that only refuses, so that no other is taken in its stead. */
export const undocumented = { hide: true } as const

/** What the routes of an app tell of themselves. */
export function operationsOf(app: AnyElysia): readonly Operation[] {
  const { paths } = toOpenAPISchema(app, { staticFile: false })
  return app.routes.flatMap(({ method, path, hooks }): Operation[] => {
    const detail: unknown = hooks.detail
    if (!isDocumented(detail) || !isMethod(method)) return []
    const { docs, endings } = detail[KEY]
    const template = path.replaceAll(/:(\w+)/g, '{$1}')
    const written: readonly object[] = paths[template]?.[lower[method]]?.parameters ?? []
    const [query, body] = [schemaOf(hooks.query) ?? docs.query, schemaOf(hooks.body) ?? docs.body]
    const schemas = { ...(query === undefined ? {} : { query }), ...(body === undefined ? {} : { body }) }
    const parameters = written.filter(isOfQuery).map((one) => withWords(one, query))
    return [
      { ...docs, ...schemas, method, path: template, parameters },
      ...endings.map(({ ending, docs: other }) => ({ ...other, method, path: template + ending, parameters: [] })),
    ]
  })
}

const isOfQuery = (written: object): written is Parameter => 'in' in written && written.in === 'query'

/** The plugin leaves out what a choice says of itself. */
function withWords(parameter: Parameter, query: TObject | undefined): Parameter {
  const { description, examples, default: otherwise } = query?.properties[parameter.name] ?? {}
  const words = Object.entries({ description, examples, default: otherwise }).filter(([, word]) => word !== undefined)
  return { ...parameter, schema: { ...parameter.schema, ...Object.fromEntries(words) } }
}

const lower = { GET: 'get', PUT: 'put', POST: 'post' } as const

type Detail = { readonly [KEY]: { readonly docs: OperationDocs; readonly endings: readonly Ending[] } }

const isDocumented = (detail: unknown): detail is Detail =>
  typeof detail === 'object' && detail !== null && KEY in detail

const isMethod = (method: string): method is Operation['method'] => ['GET', 'PUT', 'POST'].includes(method)

/** The schema behind a Standard Schema. */
function schemaOf(stands: unknown): TObject | undefined {
  const { '~standard': standard } = (stands ?? {}) as {
    readonly '~standard'?: { readonly jsonSchema: { readonly input: () => TObject } }
  }
  return standard?.jsonSchema.input()
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
