/**
 * Simulated time, and the order of events from a random number generator: every call over a port waits here until it is
 * chosen, so a seed determines the order. Promises continue only by microtasks, which are drained after each event.
 */

import { drainMicrotasks } from 'bun:jsc'
import type { Prng } from './prng.ts'

/** A call that has been made but has not happened yet. */
type Call = { readonly owner: object; readonly happen: () => void }

type Timer = { readonly owner: object; at: number; readonly ring: () => void }

export type Scheduler = {
  /** Milliseconds since the history began. */
  readonly getElapsed: () => number
  /** Makes a call, which happens when it is chosen. A promise that `act` returns must be settled already. */
  call<T>(owner: object, act: () => Promise<T> | T): Promise<T>
  /**
   * Calls another party: the request arrives when it is chosen, and its response arrives when that is chosen later. An
   * error that `ask` or `deliver` throws ends the history.
   */
  exchange<T>(owner: object, ask: () => T, deliver: (answer: T) => void): Promise<T>
  /** Resolves once this time has passed, or `signal` aborts. */
  wait(owner: object, ms: number, signal?: AbortSignal): Promise<void>
  /** Lets one of the waiting calls happen; false if there is none. */
  step(prng: Prng): boolean
  /** Lets time pass, and ends every wait that becomes due. */
  advance(ms: number): void
  /** Milliseconds until the next timer. */
  getMsUntilNext(): number | undefined
  /** Pauses all calls of `owner` for this time, as if its process were frozen. */
  freeze(owner: object, ms: number): void
  /** Drops all calls of `owner`, as if its process had crashed. */
  dropCalls(owner: object): void
}

/** Makes a scheduler; it calls `passing` with each moment that time reaches, before the events of that moment. */
export function createScheduler(passing: (elapsed: number) => void = () => {}): Scheduler {
  let calls: Call[] = []
  let timers: Timer[] = []
  let elapsed = 0
  const thaws = new Map<object, number>()

  const isFrozen = (owner: object) => (thaws.get(owner) ?? 0) > elapsed
  const moveTimeTo = (moment: number) => {
    passing(moment)
    elapsed = moment
  }
  // The choice is random, but leaves out the calls of frozen processes.
  const chooseCall = (prng: Prng): number | undefined => {
    if (calls.length === 0) return undefined
    if (thaws.size === 0) return prng.nextInt(calls.length)
    const free = calls.flatMap(({ owner }, at) => (isFrozen(owner) ? [] : [at]))
    return free.length === 0 ? undefined : prng.pick(free)
  }

  return {
    getElapsed: () => elapsed,
    call: (owner, act) =>
      new Promise((resolve, reject) => {
        const runNext = () => {
          try {
            resolve(act())
          } catch (error) {
            reject(error)
          }
        }
        calls.push({ owner, happen: runNext })
      }),
    exchange: (owner, ask, deliver) =>
      new Promise((resolve) => {
        const deliverRequest = () => {
          const answer = ask()
          const runNext = () => {
            deliver(answer)
            resolve(answer)
          }
          calls.push({ owner, happen: runNext })
        }
        calls.push({ owner, happen: deliverRequest })
      }),
    wait: (owner, ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve()
        const listeners = signal === undefined ? undefined : getListeners(signal)
        const finishWait = () => {
          listeners?.delete(onAbort)
          resolve()
        }
        const timer: Timer = { owner, at: Math.max(elapsed + ms, thaws.get(owner) ?? 0), ring: finishWait }
        const onAbort = () => {
          timers = timers.filter((other) => other !== timer)
          finishWait()
        }
        timers.push(timer)
        listeners?.add(onAbort)
      }),
    step(prng) {
      const at = chooseCall(prng)
      if (at === undefined) return false
      const [chosen] = calls.splice(at, 1)
      chosen?.happen()
      drainMicrotasks()
      return true
    },
    advance(ms) {
      const until = elapsed + ms
      for (;;) {
        const first = findEarliest(timers)
        if (first === undefined || first.at > until) break
        timers.splice(timers.indexOf(first), 1)
        if (first.at > elapsed) moveTimeTo(first.at)
        first.ring()
        drainMicrotasks()
      }
      moveTimeTo(until)
    },
    getMsUntilNext() {
      const first = findEarliest(timers)
      return first === undefined ? undefined : first.at - elapsed
    },
    freeze(owner, ms) {
      const thaw = elapsed + ms
      thaws.set(owner, thaw)
      for (const timer of timers) if (timer.owner === owner) timer.at = Math.max(timer.at, thaw)
    },
    dropCalls(owner) {
      calls = calls.filter((call) => call.owner !== owner)
      timers = timers.filter((timer) => timer.owner !== owner)
      thaws.delete(owner)
    },
  }
}

// Adding and removing listeners on the signal itself would take a fifth of the time of a history.
const listening = new WeakMap<AbortSignal, Set<() => void>>()

/** The listeners to call when a signal aborts, in the order they were added. */
function getListeners(signal: AbortSignal): Set<() => void> {
  const known = listening.get(signal)
  if (known !== undefined) return known
  const listeners = new Set<() => void>()
  listening.set(signal, listeners)
  signal.addEventListener('abort', () => listeners.forEach((leave) => leave()))
  return listeners
}

function findEarliest(timers: readonly Timer[]): Timer | undefined {
  let first: Timer | undefined
  for (const timer of timers) if (first === undefined || timer.at < first.at) first = timer
  return first
}

/** The result of a promise that settles by microtasks alone. Throws the promise's error if it rejects. */
export function readSettledResult<T>(promise: Promise<T>): T {
  let end: { readonly value: T } | { readonly error: unknown } | undefined
  promise.then(
    (value) => {
      end = { value }
    },
    (error: unknown) => {
      end = { error }
    },
  )
  drainMicrotasks()
  if (end === undefined) throw new Error('the promise waits for more than microtasks')
  if ('error' in end) throw end.error
  return end.value
}
