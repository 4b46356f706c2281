/** Has the service worker cache the wall as it is now, for when the service cannot be reached. */

// By then all that the user waits for is done.
const REST_MS = 3000

const WORKER = '/offline-worker.js'
const ALWAYS = ['/', '/api/canvas.bin', '/api/blocks']

/** Caches it once a visit. Where a browser has no service workers, as over plain http, nothing happens. */
export function keepOffline(signal: AbortSignal) {
  if (!('serviceWorker' in navigator)) return
  const timer = setTimeout(() => void keep().catch(() => {}), REST_MS)
  signal.addEventListener('abort', () => clearTimeout(timer))
}

async function keep() {
  await navigator.serviceWorker.register(WORKER)
  const { active } = await navigator.serviceWorker.ready
  const loaded = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
  const files = new Set(loaded.filter((path) => path.startsWith('/assets/')))
  active?.postMessage([...ALWAYS, ...files])
}
