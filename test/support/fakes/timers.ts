import { jest } from 'bun:test'

/** The result of `work` if this time passes right after the work has begun. */
export function runWhileTimePasses<T>(ms: number, work: () => Promise<T>): Promise<T> {
  jest.useFakeTimers()
  const answer = work()
  jest.advanceTimersByTime(ms)
  jest.useRealTimers()
  return answer
}
