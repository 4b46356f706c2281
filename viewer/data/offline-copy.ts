/** The wall for when the service cannot be reached: the page holds what it has read, and the browser keeps it. */

// By then all that the user waits for is done.
const REST_MS = 3000

const WORKER = '/offline-worker.js'
const KEPT = 'last-wall'

export type OfflineCopy = NonNullable<ReturnType<typeof createOfflineCopy>>

/** `undefined` where a browser has no service workers, as over plain http. */
export function createOfflineCopy() {
  if (!('serviceWorker' in navigator)) return undefined
  const held = new Map<string, Response>()
  let readAt: number | undefined
  return {
    /** Asks the service, and holds its answer; when it cannot be reached, answers what is kept of that path. */
    async ask(path: string): Promise<Response> {
      try {
        const response = await fetch(path)
        if (response.ok) held.set(path, response.clone())
        return response
      } catch (error) {
        const kept = await caches.match(path, { ignoreVary: true })
        if (kept === undefined) throw error
        readAt = Date.parse(kept.headers.get('date') ?? '') || 0
        return kept
      }
    },
    /** Keeps what is held, and the page around it, once a visit. */
    keep: () => void setTimeout(() => void keep(held).catch(() => {}), REST_MS),
    /** When what is kept was read, in Unix milliseconds; `undefined` while the service answers. */
    readAt: () => readAt,
  }
}

async function keep(held: Map<string, Response>) {
  await navigator.serviceWorker.register(WORKER)
  const cache = await caches.open(KEPT)
  // The browser has the files already: their names change with their content.
  const loaded = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
  const files = new Set(['/', ...loaded.filter((path) => path.startsWith('/assets/'))])
  await cache.addAll([...files])
  const paths = new Set([...files, ...held.keys()])
  for (const [path, response] of held) await cache.put(path, response)
  held.clear()
  for (const request of await cache.keys())
    if (!paths.has(new URL(request.url).pathname)) await cache.delete(request, { ignoreVary: true })
}
