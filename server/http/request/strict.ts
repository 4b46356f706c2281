/**
 * Schemas of the contract on routes. Elysia's own reader has its own error bodies, so a route has a Standard Schema that calls
 * ours, and hooks refuse by throwing.
 */

import type { TObject } from '@sinclair/typebox'
import { isFailure, type Failure } from '../../domain/failure.ts'
import type { HeaderFields } from '../answer/respond.ts'

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

/** A schema of a body with its reader, as a Standard Schema; `documents` is the schema that documents show. */
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
