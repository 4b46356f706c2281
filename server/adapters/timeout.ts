/** A time limit for work. */

/**
 * Waits for `work` at most `ms` milliseconds, and then answers `otherwise`. The result of work that takes longer is
 * ignored; its signal is aborted, so that it can stop early.
 */
export async function within<T>(ms: number, work: (late: AbortSignal) => Promise<T>, otherwise: T): Promise<T> {
  const late = new AbortController()
  let timer: Timer | undefined
  const deadline = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      late.abort()
      resolve(otherwise)
    }, ms)
  })
  try {
    return await Promise.race([work(late.signal), deadline])
  } finally {
    clearTimeout(timer)
  }
}
