/** The exception with which a hook refuses a request. */

import type { Failure } from '../../domain/failure.ts'
import type { HeaderFields } from '../answer/respond.ts'

/** A refusal that a hook throws. Hooks cannot return a response, so `onError` makes one from the refusal. */
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
