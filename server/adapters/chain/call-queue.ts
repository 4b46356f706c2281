/**
 * Queues the calls to one endpoint, most urgent first. Limits how many run concurrently and how many start per second.
 */

import type { Clock } from '../../ports.ts'

/** The urgency of a call: for a payer who may have paid, for a buyer who has not paid, or without anybody waiting. */
export type Urgency = 'settlement' | 'buyer' | 'background'

const BY_URGENCY: readonly Urgency[] = ['settlement', 'buyer', 'background']

/** Thrown if too many calls are waiting. This is our own limit, not a fault of the endpoint. */
export class QueueFull extends Error {
  override name = 'QueueFull'
}

/** Limits of a queue. `perSecond` counts the calls that start within any second; `undefined` is unlimited. */
export type QueueLimits = {
  readonly atOnce: number
  readonly waitingMax: number // of each urgency
  readonly perSecond: number | undefined
}

/**
 * Starts a call when its turn comes. If `begin` returns `undefined`, no call is needed and the next one gets the turn.
 * Throws `QueueFull` if too many calls are waiting.
 */
export type CallQueue = <T>(urgency: Urgency, begin: () => Promise<T> | undefined) => Promise<T | undefined>

const SECOND_MS = 1000

/** Makes an empty queue. */
export function createCallQueue({ atOnce, waitingMax, perSecond }: QueueLimits, clock: Clock): CallQueue {
  const waiting: Readonly<Record<Urgency, (() => void)[]>> = { settlement: [], buyer: [], background: [] }
  const begunAt: number[] = [] // start times of the calls within the last second
  let running = 0
  let isWaking = false

  const startWaitingCalls = () => {
    while (running < atOnce) {
      const line = BY_URGENCY.map((urgency) => waiting[urgency]).find(({ length }) => length > 0)
      if (line === undefined) return
      const waitMs = computeWaitMs()
      if (waitMs > 0) return wakeIn(waitMs)
      line.shift()?.()
    }
  }
  /** Milliseconds until another call may start. */
  const computeWaitMs = () => {
    if (perSecond === undefined) return 0
    const now = clock.elapsed()
    while (begunAt[0] !== undefined && now - begunAt[0] >= SECOND_MS) begunAt.shift()
    return begunAt.length < perSecond ? 0 : (begunAt[0] ?? now) + SECOND_MS - now
  }
  const wakeIn = (ms: number) => {
    if (isWaking) return
    isWaking = true
    void clock.wait(ms).then(() => {
      isWaking = false
      startWaitingCalls()
    })
  }
  const runCall = async <T>(begin: () => Promise<T> | undefined): Promise<T | undefined> => {
    const call = begin()
    if (call === undefined) return undefined
    if (perSecond !== undefined) begunAt.push(clock.elapsed())
    running += 1
    try {
      return await call
    } finally {
      running -= 1
      startWaitingCalls()
    }
  }

  return (urgency, begin) => {
    const line = waiting[urgency]
    if (running >= atOnce && line.length >= waitingMax)
      return Promise.reject(new QueueFull('too many calls are waiting'))
    return new Promise((resolve, reject) => {
      line.push(() => void runCall(begin).then(resolve, reject))
      startWaitingCalls()
    })
  }
}
