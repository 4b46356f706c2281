/**
 * Polls the service where no live stream can be kept open: the end of the log, which is the same for everyone, so that a
 * proxy can answer for the service.
 */

import type { LogTail } from '../../shared/contract/live.ts'
import type { Follower } from './follower.ts'
import { readJson } from './read-json.ts'

const TAIL_MS = 4000

/** Polls until `signal` aborts. */
export function poll(follower: Follower, signal: AbortSignal) {
  const ask = async () => {
    if (signal.aborted) return
    try {
      // The browser's own copy would be one question late.
      const init: RequestInit = { signal, cache: 'no-cache' }
      const { after, changes } = await readJson<LogTail>('/api/tail', 'tail of the log', init)
      if (after > follower.number()) await follower.readAgain(signal)
      follower.receive(changes)
      follower.setStatus(true)
    } catch {
      if (!signal.aborted) follower.setStatus(false)
    }
    setTimeout(() => void ask(), TAIL_MS)
  }
  setTimeout(() => void ask(), TAIL_MS)
}
