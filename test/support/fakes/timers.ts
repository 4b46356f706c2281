import { jest } from 'bun:test'

/** What comes of `work` when so much time passes as soon as it has begun. */
export function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  jest.useFakeTimers()
  const answer = work()
  jest.advanceTimersByTime(ms)
  jest.useRealTimers()
  return answer
}
