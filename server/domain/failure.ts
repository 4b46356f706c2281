/** Defines every refusal of the service once: its error code and its HTTP status. */

/** HTTP status of each error code. */
export const statusOf = {
  invalid_coordinate: 400,
  invalid_area: 400,
  invalid_listing: 400,
  invalid_payment: 400,
  order_mismatch: 400,
  invalid_body: 400,
  invalid_pixels: 400,
  invalid_message: 400,
  invalid_link: 400,
  invalid_name: 400,
  invalid_framework: 400,
  invalid_wallet: 400,
  invalid_painter: 400,
  empty_update: 400,
  stale_signature: 400,
  invalid_sign_in: 400,
  invalid_after: 400,
  invalid_limit: 400,
  invalid_size: 400,
  invalid_region: 400,
  invalid_image: 400,
  invalid_option: 400,
  unauthorized: 401,
  payment_required: 402,
  sign_in_required: 402,
  forbidden: 403,
  payer_denied: 403,
  not_found: 404,
  no_owner: 404,
  no_purchases: 404,
  method_not_allowed: 405,
  payment_used: 409,
  block_taken: 409,
  purchase_pending: 409,
  wall_busy: 409,
  no_room: 409,
  payment_credited: 409,
  payment_unmatched: 409,
  sold_out: 410,
  body_too_large: 413,
  too_many_requests: 429,
  internal_error: 500,
  facilitator_unavailable: 502,
  settlement_unknown: 503,
  deed_not_persisted: 503,
  database_unavailable: 503,
  server_busy: 503,
} as const

/** A machine-readable error code. */
export type FailureCode = keyof typeof statusOf

const isCode = (text: string): text is FailureCode => Object.hasOwn(statusOf, text)

// Error codes that several fields share.
const CODE_OF_FIELDS: ReadonlyArray<readonly [FailureCode, readonly string[]]> = [
  ['invalid_coordinate', ['coord', 'block', 'work', 'near']],
  ['invalid_size', ['w', 'h', 'width', 'height']],
  ['invalid_region', ['col', 'row', 'cols', 'rows', 'scale']],
  ['invalid_after', ['since', 'owedAfter']],
  ['invalid_option', ['dither', 'fit', 'background']],
]

/** The error code for a parameter, field or argument that breaks its rule; `otherwise` if no code is defined for it. */
export function getFieldCode(name: string, otherwise: FailureCode): FailureCode {
  const own = `invalid_${name}`
  if (isCode(own)) return own
  return CODE_OF_FIELDS.find(([, names]) => names.includes(name))?.[0] ?? otherwise
}

/** A refusal: `message` says what to do next, and `details` has further fields of the error body. */
export type Failure = {
  readonly kind: 'failure'
  readonly code: FailureCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Makes a refusal. */
export function createFailure(
  code: FailureCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Failure {
  return { kind: 'failure', code, message, ...(details === undefined ? {} : { details }) }
}

/** Whether a result is a refusal. */
export const isFailure = (result: unknown): result is Failure =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'failure'

/**
 * The store cannot be written or read now. Nothing of the failed step was stored, with one exception: if the database
 * server fails during a commit, the commit may have been saved. The next read shows whether it was.
 */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
}

/** Waits for optional work and returns its result, or `undefined` if the database is unavailable. */
export async function ignoreUnavailable<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return undefined
  }
}

/**
 * Another run has changed the payment since it was looked up. Nothing was written; the caller must look it up again.
 */
export class StaleWriteError extends Error {
  override name = 'StaleWriteError'
}

/** The disk failed during a commit. Only a restart shows what was saved, so the process must end. */
export class StoreBroken extends StoreUnavailable {
  override name = 'StoreBroken'
}
