/** Limits for large bodies: how many are read at once, and for how long. */

import type { Failure } from '../../domain/failure.ts'
import { busy } from '../../domain/purchase/refusals.ts'
import { carriesPayment } from '../../x402/v1.ts'
import type { BodyLimits } from './body.ts'
import { slots, type Clients } from './clients.ts'

export const UPLOAD_MAX_BYTES = 4 * 1024 * 1024

/** Limits of a large body. A slower sender would occupy memory for too long. */
export const UPLOAD: BodyLimits = {
  maxBytes: UPLOAD_MAX_BYTES,
  deadlineMs: 30_000,
  bytesPerSecondMin: 16 * 1024,
}

// Bodies that are being read at once, of all clients and of one. They need no worker until they are whole. Those that come
// with a payment have as many places of their own.
const UPLOADS_AT_ONCE = 64
const UPLOADS_OF_ONE = 32

/** Reads a body, or refuses it unread when too many are being read. */
export type Uploads = <T>(request: Request, read: () => Promise<T>) => Promise<T | Failure>

/** Makes the limit that all routes share. */
export function uploads({ addressOf }: Pick<Clients, 'addressOf'>): Uploads {
  const [paid, free] = [slots(), slots()]
  return async (request, read) => {
    const address = addressOf(request)
    const reading = carriesPayment(request) ? paid : free
    if (reading.count() >= UPLOADS_AT_ONCE || reading.of(address) >= UPLOADS_OF_ONE) return busy()
    return await read().finally(reading.take(address))
  }
}
