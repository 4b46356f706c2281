/**
 * The service worker: opens the page when the service cannot be reached. It caches what the page tells it to, and answers
 * from the cache only when the network fails, so that it never serves an old answer in place of a new one. It reads nothing
 * when it is installed: what the browser preloads before a script runs would be read twice.
 */

const KEPT = 'last-wall'

type Lasting = Event & { waitUntil(until: Promise<unknown>): void }
type Asked = Lasting & { readonly request: Request; respondWith(answer: Promise<Response>): void }

declare const self: {
  readonly location: Location
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(kind: 'install' | 'activate', hear: (event: Lasting) => void): void
  addEventListener(kind: 'message', hear: (event: Lasting & MessageEvent<readonly string[]>) => void): void
  addEventListener(kind: 'fetch', hear: (event: Asked) => void): void
}

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()))

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('message', (event) => event.waitUntil(keep(event.data)))

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  const isPart =
    pathname === '/' || pathname.startsWith('/assets/') || pathname === '/api/canvas.bin' || pathname === '/api/blocks'
  if (request.method !== 'GET' || origin !== self.location.origin || !isPart) return
  event.respondWith(fetch(request).catch((error: unknown) => answerKept(request, error)))
})

/** Caches what is at these paths, and drops all else. */
async function keep(paths: readonly string[]): Promise<void> {
  const cache = await caches.open(KEPT)
  await cache.addAll([...paths])
  for (const request of await cache.keys())
    if (!paths.includes(new URL(request.url).pathname)) await cache.delete(request, { ignoreVary: true })
}

/** Answers from the cache. The query is ignored: the page is the same for every address. */
async function answerKept(request: Request, error: unknown): Promise<Response> {
  const kept = await caches.match(request, { ignoreSearch: true, ignoreVary: true })
  if (kept === undefined) throw error
  return kept
}
