/**
 * What a failed call means for its caller's money: `refused`, the wall will not do it and took nothing; `unavailable`, nothing
 * was signed, try later; `unknown`, a payment was signed and its outcome is open, so the same call must be made again;
 * `paid`, the money was taken and did not buy what was asked, so that the signed payment is kept as a proof.
 */
export type FailureKind = 'refused' | 'unavailable' | 'unknown' | 'paid'

/** Why the wall did not do what it was asked. `code` is the wall's own error code where it gave one. */
export class WallError extends Error {
  override readonly name = 'WallError'
  readonly kind: FailureKind
  readonly code: string
  readonly status: number | undefined // of the answer, where there was one
  readonly charged: unknown // what the wall says of the payment: `yes`, `no` or `unknown`

  constructor(kind: FailureKind, code: string, message: string, status?: number, charged?: unknown) {
    super(message)
    this.kind = kind
    this.code = code
    this.status = status
    this.charged = charged
  }
}

/** Nothing answered, or something that is no wall. */
export const unreachable = (url: URL | string): WallError =>
  new WallError('unavailable', 'unreachable', `Nothing responded at ${new URL(url).origin}. Nothing was paid.`)

/** Sends a request. Throws `unavailable` where nothing answers. */
export const ask = (request: URL | Request, init: RequestInit = {}): Promise<Response> =>
  fetch(request, init).catch(() => {
    throw unreachable(request instanceof URL ? request : request.url)
  })

/** The JSON object of an answer, which can be read again; an empty one where there is none. */
export async function bodyIn(response: Response): Promise<object> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  return typeof body === 'object' && body !== null ? body : {}
}

/** An answer's error, if it is one that a wall gives. */
export async function errorIn(response: Response): Promise<WallError | undefined> {
  const { error, message, taken, held, charged } = { ...NO_ERROR, ...(await bodyIn(response)) }
  if (typeof error !== 'string' || error === '') return undefined
  const { status } = response
  const isForNow = status >= 500 || status === 429
  return new WallError(
    isForNow ? 'unavailable' : 'refused',
    error,
    [message, inTheWay('Taken', taken), inTheWay('Held', held)].join(''),
    status,
    charged,
  )
}

const NO_ERROR = { error: undefined, message: '', taken: [], held: [], charged: undefined }

/** Which blocks of an area stand in the way. */
const inTheWay = (what: string, blocks: unknown): string =>
  Array.isArray(blocks) && blocks.length > 0 ? ` ${what}: ${blocks.join(' ')}.` : ''
