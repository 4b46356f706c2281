/**
 * Connections in slots, each used by one caller at a time. Bun's own pool would not show which connections are new.
 * Each new one must be checked, because it may lead to another server.
 */

import type { SQL } from 'bun'
import { StoreUnavailable } from '../../server/domain/failure.ts'

/** One connection at a time, which is replaced if it is lost. */
export type Slot = { readonly sql: SQL; isInspected: boolean }

/** Slots, each lent to one caller at a time. */
export type Slots = {
  /** Runs work on a free slot. Throws `StoreUnavailable` if none becomes free in time. */
  runOnFreeSlot<T>(work: (slot: Slot) => Promise<T>): Promise<T>
  close(timeoutSeconds: number): Promise<void>
}

/** Opens `count` slots. `connect` makes the client of a slot, which connects at its first use. */
export function openSlots(
  connect: (options: { readonly onconnect: () => void }) => SQL,
  count: number,
  timeoutMs: number,
): Slots {
  const slots = Array.from({ length: count }, () => {
    const slot: Slot = { isInspected: false, sql: connect({ onconnect: () => void (slot.isInspected = false) }) }
    return slot
  })
  // Slots are used in turn, so that retried work gets another connection.
  const free = [...slots]
  const waiting = new Set<(slot: Slot) => void>()
  const returnSlot = (slot: Slot) => {
    const [next] = waiting
    if (next === undefined) return void free.push(slot)
    waiting.delete(next)
    next(slot)
  }
  return {
    async runOnFreeSlot(work) {
      const slot = free.shift() ?? (await waitForSlot(waiting, timeoutMs))
      try {
        return await work(slot)
      } finally {
        returnSlot(slot)
      }
    },
    async close(timeoutSeconds) {
      await Promise.all(slots.map(({ sql }) => sql.close({ timeout: timeoutSeconds })))
    },
  }
}

async function waitForSlot(waiting: Set<(slot: Slot) => void>, timeoutMs: number): Promise<Slot> {
  const { promise, resolve, reject } = Promise.withResolvers<Slot>()
  const late = setTimeout(() => {
    waiting.delete(resolve)
    reject(new StoreUnavailable('no database connection is available'))
  }, timeoutMs)
  waiting.add(resolve)
  try {
    return await promise
  } finally {
    clearTimeout(late)
  }
}
