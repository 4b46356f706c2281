/** Falls back to what the service worker has cached when the service cannot be reached. */

let wasUsed = false

/** Whether any answer came from the cache. Nobody knows how old such an answer is. */
export const hasUsedCache = (): boolean => wasUsed

/** Asks the service; when it cannot be reached, answers what is cached of that path. */
export async function fetchOrCached(path: string): Promise<Response> {
  try {
    return await fetch(path)
  } catch (error) {
    const cached = 'caches' in window ? await caches.match(path, { ignoreVary: true }) : undefined
    if (cached === undefined) throw error
    wasUsed = true
    return cached
  }
}
