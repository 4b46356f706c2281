/**
 * The contract on a route. Elysia's own readers forgive: of a parameter that is repeated they keep the last, and their
 * refusals are not ours. So a schema stands on a route with the reader that holds to it, and hooks refuse by throwing.
 */

import type { Static, TObject } from '@sinclair/typebox'
import type { Failure } from '../../domain/failure.ts'
import type { HeaderFields } from '../answer/respond.ts'
import { paramsReader, type Codes } from './params.ts'

/** Thrown by a hook, because only a handler answers with a value; `onError` answers it with the refusal it holds. */
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

/** A schema with its reader, as a Standard Schema, which is what Elysia takes beside its own. */
export type Strict<Read> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'pixel-wall'
    readonly types?: { readonly input: unknown; readonly output: Read }
    readonly validate: (given: unknown) => { readonly value: Read }
    readonly jsonSchema: { readonly input: () => TObject; readonly output: () => TObject }
  }
}

/** What stands on a route for `body`: read by `read`, told by `schema`. */
export function strict<Read extends object>(
  schema: TObject,
  read: (given: unknown) => Read | Failure,
): Strict<Exclude<Read, Failure>> {
  const validate = (given: unknown) => {
    const value = read(given)
    if (isFailure(value)) throw new Refused(value)
    return { value: value as Exclude<Read, Failure> }
  }
  const told = () => schema
  return {
    '~standard': { version: 1, vendor: 'pixel-wall', validate, jsonSchema: { input: told, output: told } },
  }
}

const isFailure = (value: object): value is Failure => 'code' in value && 'message' in value

type Asking = { readonly request: Request }

type Hook = (context: Asking) => Promise<void>

/** A route's query by its schema, which code each parameter is refused with, and what has to be seen to before it is read. */
export function queryHooks<Schema extends TObject>(
  schema: Schema,
  codes: Codes<Static<Schema>>,
  ...before: readonly Hook[]
) {
  const read = paramsReader(schema, codes)
  return {
    query: strict(schema, (url) => read(String(url))),
    transform: [...before, withUrl],
  }
}

/** Gives the reader of a query the address as it was sent. */
function withUrl(context: { query: unknown; request: Request }): void {
  context.query = context.request.url
}
