import { jest } from 'bun:test'

/** The result of `work` if `ms` milliseconds pass right after the work has begun. */
export function runWhileTimePasses<T>(ms: number, work: () => Promise<T>): Promise<T> {
  jest.useFakeTimers()
  const answer = work()
  jest.advanceTimersByTime(ms)
  jest.useRealTimers()
  return answer
}
