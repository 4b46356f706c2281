/** Reads JSON from a wall. */

import { setTimeout as wait } from 'node:timers/promises'
import { sendRequest, readError } from './wall-error.ts'

/**
 * The JSON body of the response to a request. Throws a `WallError` if the response is an error, or if nothing responds.
 */
export const fetchJson = async <T>(url: URL, init: RequestInit = {}): Promise<T> =>
  await parseResponse(await sendRequest(url, init))

// Many agents may send pictures at the same time; converting one takes well under a second.
const BUSY_MS_MAX = 30_000
const RETRY_MS_MAX = 5000

/**
 * Reads the result of a free request that the wall rate-limits. While the wall is busy, sends the request again after
 * the time that the wall specifies.
 */
export async function fetchJsonWithRetries<T>(url: URL, init: RequestInit = {}): Promise<T> {
  const began = performance.now()
  for (;;) {
    const response = await sendRequest(url, init)
    const seconds = Number(response.headers.get('retry-after'))
    if (
      (response.status !== 503 && response.status !== 429) ||
      seconds === 0 ||
      performance.now() - began > BUSY_MS_MAX
    )
      return await parseResponse(response)
    await response.body?.cancel()
    await wait(Math.min(RETRY_MS_MAX, seconds * 1000))
  }
}

/** The JSON body of a response. Throws a `WallError` if the response is an error. */
export async function parseResponse<T>(response: Response): Promise<T> {
  if (!response.ok) throw await readError(response)
  return (await response.json()) as T
}
