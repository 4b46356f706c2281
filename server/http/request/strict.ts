/**
 * Schemas of the contract on routes, with strict readers. Elysia's own readers keep the last of a repeated parameter, and
 * have their own error bodies. So a route has a Standard Schema that calls our reader, and hooks refuse by throwing.
 */

import type { TObject } from '@sinclair/typebox'
import { isFailure, type Failure } from '../../domain/failure.ts'
import type { HeaderFields } from '../answer/respond.ts'
import { paramsReader } from './query.ts'

/** A refusal that a hook throws. Only handlers can return a response, so `onError` answers it. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly refusal: Failure
  readonly headers: HeaderFields

  constructor(refusal: Failure, headers: HeaderFields = {}) {
    super(refusal.code)
    this.refusal = refusal
    this.headers = headers
  }
}

/** A schema with its reader, as a Standard Schema; `documents` is the schema that documents show. */
export type Strict<Read> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'pixel-wall'
    readonly types?: { readonly input: unknown; readonly output: Read }
    readonly validate: (given: unknown) => { readonly value: Read }
  }
  readonly documents: TObject
}

/** Makes the `body` schema of a route: `read` parses it, and `schema` documents it. */
export function strict<Read extends object>(
  schema: TObject,
  read: (given: unknown) => Read | Failure,
): Strict<Exclude<Read, Failure>> {
  const validate = (given: unknown) => {
    const value = read(given)
    if (isFailure(value)) throw new Refused(value)
    return { value: value as Exclude<Read, Failure> }
  }
  return { '~standard': { version: 1, vendor: 'pixel-wall', validate }, documents: schema }
}

type Asking = { readonly request: Request }

type Hook = (context: Asking) => Promise<void>

/** Makes the hooks that read a query: its schema, and hooks that run before it is read. */
export function queryHooks<Schema extends TObject>(schema: Schema, ...before: readonly Hook[]) {
  const read = paramsReader(schema)
  return {
    query: strict(schema, (url) => read(String(url))),
    transform: [...before, withUrl],
  }
}

/** Passes the reader of a query the URL as it was sent. */
function withUrl(context: { query: unknown; request: Request }): void {
  context.query = context.request.url
}
