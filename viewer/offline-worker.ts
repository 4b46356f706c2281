/**
 * The service worker: opens the page when the service cannot be reached. It responds from the cache only if the network
 * fails, so that it never serves an old response in place of a new one. It does not handle reads of the wall, which the
 * page stores itself (data/kept-copy.ts): a read that passed through this worker could not be preloaded.
 */

type ExtendableEvent = Event & { waitUntil(until: Promise<unknown>): void }
type FetchEvent = ExtendableEvent & { readonly request: Request; respondWith(answer: Promise<Response>): void }

declare const self: {
  readonly location: Location
  readonly clients: { claim(): Promise<void> }
  skipWaiting(): Promise<void>
  addEventListener(kind: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void
  addEventListener(kind: 'fetch', listener: (event: FetchEvent) => void): void
}

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()))

self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  const isOfPage = origin === self.location.origin && (pathname === '/' || pathname.startsWith('/assets/'))
  if (request.method === 'GET' && isOfPage)
    event.respondWith(fetch(request).catch((error: unknown) => respondFromCache(request, error)))
})

/**
 * Responds from the cache; throws `error` if the cache has no match. Ignores the query, because no stored file depends
 * on it.
 */
async function respondFromCache(request: Request, error: unknown): Promise<Response> {
  const kept = await caches.match(request, { ignoreSearch: true, ignoreVary: true })
  if (kept === undefined) throw error
  return kept
}
