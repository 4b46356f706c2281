/** The port a monitor reads, apart from the public one. */

import type { Metrics } from './metrics.ts'

/** Serves `GET /metrics` and nothing else; gives the port and what closes it. */
export function listenForMonitors(
  metrics: Metrics,
  hostname: string,
  port: number,
): { readonly port: number; close(): void } {
  const server = Bun.serve({
    hostname,
    port,
    reusePort: false,
    routes: {
      '/metrics': {
        GET: async () => new Response(await metrics.read(), { headers: { 'Content-Type': metrics.contentType } }),
      },
    },
    fetch: () => new Response('GET /metrics\n', { status: 404 }),
  })
  return { port: server.port ?? port, close: () => void server.stop(true) }
}
