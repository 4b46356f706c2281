/** Work that is done again and again until the process stops. */

import type { Clock } from '../ports.ts'

/** Runs `work`, waits as many milliseconds as it answers, and so on until `signal` aborts. */
export async function keepGoing(clock: Clock, signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  while (!signal.aborted) {
    const waitMs = await work()
    await Promise.race([clock.wait(waitMs), aborted])
  }
}
