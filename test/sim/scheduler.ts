/**
 * Time and order under one pair of dice: every call over a port waits here until it is chosen, so one seed is one order
 * of events. Promises run on by microtasks alone, which are drained after each event.
 */

import { drainMicrotasks } from 'bun:jsc'
import type { Dice } from './dice.ts'

/** A call that was made and has not happened yet. */
type Call = { readonly owner: object; readonly name: string; readonly about: string; readonly happen: () => void }

type Timer = { readonly owner: object; readonly at: number; readonly ring: () => void }

export type Scheduler = {
  /** Milliseconds since the history began. */
  readonly elapsed: () => number
  /** Makes a call, which happens when it is chosen. A promise that `act` answers must be settled already. */
  call<T>(owner: object, name: string, about: string, act: () => Promise<T> | T): Promise<T>
  /**
   * Asks somebody else: the question arrives when it is chosen, and later its answer is. `ask` and `told` must not throw.
   */
  exchange<T>(owner: object, name: string, about: string, ask: () => T, told: (answer: T) => void): Promise<T>
  /** Resolves once so much time has passed, or `signal` aborts. */
  wait(owner: object, ms: number, signal?: AbortSignal): Promise<void>
  /** Lets one of the waiting calls happen; false when there is none. */
  step(dice: Dice): boolean
  /** Lets time pass, and everything happen that it brings. */
  pass(ms: number): void
  /** Milliseconds until somebody stops waiting. */
  untilNext(): number | undefined
  /** Whether such a call is waiting. */
  isWaiting(name: string, about: string): boolean
  /** Forgets all that `owner` was waiting for, as when a process dies. */
  forget(owner: object): void
}

export function schedulerOf(): Scheduler {
  let calls: Call[] = []
  let timers: Timer[] = []
  let elapsed = 0

  const add = <T>(owner: object, name: string, about: string, act: () => Promise<T> | T) =>
    new Promise<T>((resolve, reject) => {
      const happen = () => {
        try {
          resolve(act())
        } catch (error) {
          reject(error)
        }
      }
      calls.push({ owner, name, about, happen })
    })

  return {
    elapsed: () => elapsed,
    call: add,
    exchange: (owner, name, about, ask, told) =>
      new Promise((resolve) => {
        const arrive = () => {
          const answer = ask()
          const happen = () => {
            told(answer)
            resolve(answer)
          }
          calls.push({ owner, name: 'answer', about, happen })
        }
        calls.push({ owner, name, about, happen: arrive })
      }),
    wait: (owner, ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve()
        const listeners = signal === undefined ? undefined : listenersOf(signal)
        const end = () => {
          listeners?.delete(leave)
          resolve()
        }
        const timer = { owner, at: elapsed + ms, ring: end }
        const leave = () => {
          timers = timers.filter((other) => other !== timer)
          end()
        }
        timers.push(timer)
        listeners?.add(leave)
      }),
    step(dice) {
      if (calls.length === 0) return false
      const [chosen] = calls.splice(dice.below(calls.length), 1)
      chosen?.happen()
      drainMicrotasks()
      return true
    },
    pass(ms) {
      const until = elapsed + ms
      for (;;) {
        const first = earliest(timers)
        if (first === undefined || first.at > until) break
        timers = timers.filter((other) => other !== first)
        elapsed = Math.max(elapsed, first.at)
        first.ring()
        drainMicrotasks()
      }
      elapsed = until
    },
    untilNext() {
      const first = earliest(timers)
      return first === undefined ? undefined : first.at - elapsed
    },
    isWaiting: (name, about) => calls.some((call) => call.name === name && call.about === about),
    forget(owner) {
      calls = calls.filter((call) => call.owner !== owner)
      timers = timers.filter((timer) => timer.owner !== owner)
    },
  }
}

// Adding and removing a signal's own listeners takes a fifth of a history.
const listening = new WeakMap<AbortSignal, Set<() => void>>()

/** Those who are called, in the order they were added, when a signal aborts. */
function listenersOf(signal: AbortSignal): Set<() => void> {
  const known = listening.get(signal)
  if (known !== undefined) return known
  const listeners = new Set<() => void>()
  listening.set(signal, listeners)
  signal.addEventListener('abort', () => listeners.forEach((leave) => leave()))
  return listeners
}

const earliest = (timers: readonly Timer[]): Timer | undefined =>
  timers.reduce<Timer | undefined>(
    (first, timer) => (first === undefined || timer.at < first.at ? timer : first),
    undefined,
  )

/** What a promise answers that is settled, or is once the microtasks are drained. Throws what it was rejected with. */
export function settled<T>(promise: Promise<T>): T {
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
  if (end === undefined) throw new Error('a promise that waits for more than microtasks')
  if ('error' in end) throw end.error
  return end.value
}
