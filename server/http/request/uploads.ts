/** Large bodies: only so many are read at once, and none for long. */

import type { Failure } from '../../domain/failure.ts'
import { busy } from '../../domain/purchase/refusals.ts'
import type { BodyLimits } from './body.ts'
import { slots, type Clients } from './clients.ts'

export const UPLOAD_MAX_BYTES = 4 * 1024 * 1024

/** How a large body is read. Far slower than that, a sender holds memory for nothing. */
export const UPLOAD: BodyLimits = {
  maxBytes: UPLOAD_MAX_BYTES,
  deadlineMs: 30_000,
  bytesPerSecondMin: 16 * 1024,
}

// Bodies that are being read, of all clients and of one; they take no worker until they are whole.
const UPLOADS_AT_ONCE = 64
const UPLOADS_OF_ONE = 32

/** Reads a body unless too many are being read; then it is refused unread. */
export type Uploads = <T>(request: Request, read: () => Promise<T>) => Promise<T | Failure>

/** Counts what is read for all routes together. */
export function uploads({ addressOf }: Pick<Clients, 'addressOf'>): Uploads {
  const reading = slots()
  return async (request, read) => {
    const address = addressOf(request)
    if (reading.count() >= UPLOADS_AT_ONCE || reading.of(address) >= UPLOADS_OF_ONE) return busy()
    return await read().finally(reading.take(address))
  }
}
