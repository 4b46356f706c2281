/** What routes with a body have in common: its schema, and how their hooks refuse. */

import type { TObject } from '@sinclair/typebox'
import type { Failure } from '../../domain/failure.ts'
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

/**
 * The schema of a body that the `parse` hook of its route has read. Elysia's own reader has its own error bodies; from this it
 * takes the type alone, and the documents take what they show.
 */
export const bodySchema = <Body>(schema: TObject): BodySchema<Body> => ({
  '~standard': { version: 1, vendor: 'pixel-wall', validate: (body) => ({ value: body as Body }) },
  documents: schema,
})

/** A Standard Schema, and the schema that documents show. */
type BodySchema<Body> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'pixel-wall'
    readonly types?: { readonly input: unknown; readonly output: Body }
    readonly validate: (body: unknown) => { readonly value: Body }
  }
  readonly documents: TObject
}
