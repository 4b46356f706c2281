/** Work that must not keep anyone waiting. */

/**
 * Does `work` for at most `ms` milliseconds and then answers `otherwise`. Work that is late runs on, and its result is ignored; it is
 * told by its signal, so that it can leave the rest.
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
