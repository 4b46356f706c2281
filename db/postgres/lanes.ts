/**
 * Connections in lanes of one at a time. A pool of several does not tell which of them was made anew, and each new one has
 * to be looked at: it may lead to another server.
 */

import type { SQL } from 'bun'
import { StoreUnavailable } from '../../server/domain/failure.ts'

/** One connection at a time, which is made anew when it is lost. */
export type Lane = { readonly sql: SQL; isInspected: boolean }

/** Lanes, lent to one after the other. */
export type Lanes = {
  /** Does work on a lane that nobody else is at. Throws `StoreUnavailable` where none becomes free in time. */
  use<T>(work: (lane: Lane) => Promise<T>): Promise<T>
  close(timeoutSeconds: number): Promise<void>
}

/** Opens so many lanes; `connect` makes what connects when it is first used. */
export function openLanes(
  connect: (options: { readonly onconnect: () => void }) => SQL,
  count: number,
  timeoutMs: number,
): Lanes {
  const lanes = Array.from({ length: count }, () => {
    const lane: Lane = { isInspected: false, sql: connect({ onconnect: () => void (lane.isInspected = false) }) }
    return lane
  })
  // In turns, so that work that is done again comes to another connection.
  const free = [...lanes]
  const waiting = new Set<(lane: Lane) => void>()
  const give = (lane: Lane) => {
    const [next] = waiting
    if (next === undefined) return void free.push(lane)
    waiting.delete(next)
    next(lane)
  }
  return {
    async use(work) {
      const lane = free.shift() ?? (await waitFor(waiting, timeoutMs))
      try {
        return await work(lane)
      } finally {
        give(lane)
      }
    },
    async close(timeoutSeconds) {
      await Promise.all(lanes.map(({ sql }) => sql.close({ timeout: timeoutSeconds })))
    },
  }
}

async function waitFor(waiting: Set<(lane: Lane) => void>, timeoutMs: number): Promise<Lane> {
  const { promise, resolve, reject } = Promise.withResolvers<Lane>()
  const late = setTimeout(() => {
    waiting.delete(resolve)
    reject(new StoreUnavailable('no connection to the database is to be had'))
  }, timeoutMs)
  waiting.add(resolve)
  try {
    return await promise
  } finally {
    clearTimeout(late)
  }
}
