import { parseObject } from './json.ts'

/**
 * The meaning of a failed call for its caller's money:
 *
 * - `refused`: the wall rejects the order, and took nothing;
 * - `above-max`: the order costs more than the caller allows, and nothing was signed;
 * - `unavailable`: nothing was signed, so try again later;
 * - `unknown`: a payment was signed and may still be taken, so the same call must be made again;
 * - `paid`: the money was taken and did not buy the order, so the signed payment is kept as a proof.
 */
export type FailureKind = 'refused' | 'above-max' | 'unavailable' | 'unknown' | 'paid'

/** The exit status for each kind of failure. */
export const EXIT_STATUS: Readonly<Record<FailureKind, number>> = {
  refused: 1,
  'above-max': 2,
  unknown: 3,
  unavailable: 4,
  paid: 5,
}

/** Why a call failed. */
export type Failure = {
  readonly kind: FailureKind
  readonly code: string // the wall's own error code if it gave one
  readonly message: string
  readonly status?: number | undefined // status of the response, if there was one
  readonly charged?: unknown // the wall's statement about the payment: `yes`, `no` or `unknown`
  /** Amount in dollars: of a payment that may still be taken, or of the price that was not paid. */
  readonly amount?: string | undefined
  readonly until?: string | undefined // ISO time after which that payment cannot be taken any more
}

/** A `Failure` that can be thrown. */
export class WallError extends Error implements Failure {
  override readonly name = 'WallError'
  readonly kind: FailureKind
  readonly code: string
  readonly status: number | undefined
  readonly charged: unknown
  readonly amount: string | undefined
  readonly until: string | undefined

  constructor({ kind, code, message, status, charged, amount, until }: Failure) {
    super(message)
    this.kind = kind
    this.code = code
    this.status = status
    this.charged = charged
    this.amount = amount
    this.until = until
  }
}

/** The failure if nothing responds at a URL. */
export const createUnreachableFailure = (url: URL | string): Failure => ({
  kind: 'unavailable',
  code: 'unreachable',
  message: `Nothing responded at ${new URL(url).origin}.`,
})

/** Sends a request. Throws `unavailable` if nothing responds. */
export const sendRequest = (request: URL | Request, init: RequestInit = {}): Promise<Response> =>
  fetch(request, init).catch(() => {
    throw new WallError(createUnreachableFailure(request instanceof URL ? request : request.url))
  })

/** The failure that a wall's error body describes; `undefined` if the body is not a wall's error. */
export function parseError(status: number, body: object): Failure | undefined {
  const { error, message, taken, held, charged } = { ...NO_ERROR, ...body }
  if (typeof error !== 'string' || error === '') return undefined
  const isForNow = status >= 500 || status === 429
  const words = [message, formatConflicts('Taken', taken), formatConflicts('Held', held)].join('')
  return { kind: isForNow ? 'unavailable' : 'refused', code: error, message: words, status, charged }
}

const NO_ERROR = { error: undefined, message: '', taken: [], held: [], charged: undefined }

/** Lists the blocks of an area that prevent its purchase. */
const formatConflicts = (what: string, blocks: unknown): string =>
  Array.isArray(blocks) && blocks.length > 0 ? ` ${what}: ${blocks.join(' ')}.` : ''

/** The failure if the server that responded is not a wall. */
export const createNoWallFailure = (url: URL | string, status: number): Failure => ({
  kind: 'unavailable',
  code: 'no_wall',
  message: `There is no wall at ${new URL(url).origin}: it returned ${status}.`,
  status,
})

/** The failure that an error response describes. */
export async function readError(response: Response): Promise<WallError> {
  const text = await response.text().catch(() => '')
  return new WallError(
    parseError(response.status, parseObject(text)) ?? createNoWallFailure(response.url, response.status),
  )
}
