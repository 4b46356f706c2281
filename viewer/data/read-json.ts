/** Reads JSON from the service. */

import type { ChangeDto, HistoryPage, LogTail } from '../../shared/contract/live.ts'

/** Reads the JSON at a path; if the response is not a success, rejects with an error that contains `name`. */
export async function readJson<T>(path: string, name: string, init?: RequestInit): Promise<T> {
  const response = await fetch(path, init)
  if (!response.ok) throw new Error(`the ${name} returned ${response.status}`)
  const body: T = await response.json()
  return body
}

/** Reads the newest changes. The browser's cached copy is revalidated, because it may be out of date. */
export const readTail = (signal?: AbortSignal) =>
  readJson<LogTail>('/api/tail', 'tail of the log', { signal: signal ?? null, cache: 'no-cache' })

// The service's maximum number of changes per page.
const PAGE_CHANGES = 200

/** Reads every change after a log number. */
export async function readHistory(number: number): Promise<readonly ChangeDto[]> {
  const found: ChangeDto[] = []
  let after = number
  for (let more = true; more;) {
    const part = await readJson<HistoryPage>(`/api/history?after=${after}&limit=${PAGE_CHANGES}`, 'history')
    found.push(...part.changes)
    more = part.hasMore && part.nextAfter > after
    after = part.nextAfter
  }
  return found
}
