/** The exception with which a hook refuses a request. */

import type { Failure } from '../../domain/failure.ts'
import type { HeaderFields } from '../answer/respond.ts'

/** A refusal that a hook throws. Only handlers can return a response, so `onError` responds to it. */
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
