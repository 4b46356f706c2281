/**
 * The service worker: opens the page where there is no line. It keeps what the page tells it to, and answers from that only
 * what the service does not; so nothing that can be had is ever old because of it. The wall itself is no matter of its own:
 * what the browser begins to read before a script runs would be read twice.
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

/** Keeps what is at these paths, and nothing else from before. */
async function keep(paths: readonly string[]): Promise<void> {
  const cache = await caches.open(KEPT)
  await cache.addAll([...paths])
  for (const request of await cache.keys())
    if (!paths.includes(new URL(request.url).pathname)) await cache.delete(request, { ignoreVary: true })
}

/** The page is the same whatever its address names. */
async function answerKept(request: Request, error: unknown): Promise<Response> {
  const kept = await caches.match(request, { ignoreSearch: true, ignoreVary: true })
  if (kept === undefined) throw error
  return kept
}
