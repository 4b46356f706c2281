/** The whole service over its ports and use cases, not yet listening. */

import { Elysia } from 'elysia'
import { apiRoutes, type ApiDeps } from './http/api.ts'
import { areaPages } from './http/area.ts'
import { areaRoutes } from './http/areas.ts'
import { atlasRoutes } from './http/atlas.ts'
import { blockMethods, BLOCKS_PREFIX, type BlockDeps } from './http/blocks.ts'
import { cardRoutes } from './http/cards.ts'
import { addressReader } from './http/clients.ts'
import { documentRoutes } from './http/documents.ts'
import { fairQueue } from './http/fair-queue.ts'
import { mcpMethods } from './http/mcp.ts'
import { filesOver } from './http/page-headers.ts'
import { pictureRoutes } from './http/pictures.ts'
import { probeRoutes } from './http/probes.ts'
import { inTime } from './http/request-timeout.ts'
import { dispatcher, guarded, handlersByPath, type Meter, type Route } from './http/route.ts'
import { toolsRoutes } from './http/tools.ts'
import { uploads } from './http/uploads.ts'
import type { ViewerFiles } from './http/viewer-files.ts'
import { TOOLS } from './mcp/registry.ts'
import type { LedgerReader, Logger, Pictures } from './ports.ts'
import { limitedSeller, type LimitedSelling } from './purchase/limited-seller.ts'
import type { Offering } from './purchase/offer-area.ts'
import { cardImages } from './wall/card-image.ts'
import { spaceFinder } from './wall/find-space.ts'
import { takenBlocks } from './wall/open-blocks.ts'
import type { RateLimits } from './wall/rate-limits.ts'
import { wallImages } from './wall/wall-image.ts'

/** Everything the edge needs: what sells, edits, registers and reads, and the page's files. */
export type Service = Omit<BlockDeps, 'sellTo' | 'clients'> &
  Omit<ApiDeps, 'clients'> & {
    readonly ledger: LimitedSelling['ledger'] & Offering['ledger']
    readonly limits: RateLimits
    readonly trustedHops: number | undefined // how many proxies' X-Forwarded-For to believe; undefined: see `addressReader`
    readonly viewer: ViewerFiles
    readonly logger: Logger
    readonly ledgerReader: LedgerReader
    readonly pictures: Pictures
    readonly contact: string | null // the operator's
    readonly bindHost?: string // the address that is listened on
    readonly meter?: Meter // counts what is answered over sockets
  }

// A settlement may take 200 s, and a connection that Bun finds idle loses its answer. 255 s is the most Bun takes.
const IDLE_SECONDS = 255

/** Makes the app; `handle(request)` answers one request, `listen` serves. */
export function app(given: Service): Elysia {
  const viewer = filesOver(given.offer.baseUrl, given.viewer)
  const { limits, trustedHops } = given
  const peerOf = (request: Request): string | undefined => wall.server?.requestIP(request)?.address
  const queue = fairQueue(given.editing.clock.elapsed)
  const clients = { limits, addressOf: addressReader({ peerOf, trustedHops }), queue }
  const { wallets } = given.editing
  const sellTo = limitedSeller({ ...given, wallets, seller: inTime(given.seller) })
  const service = { ...given, viewer, sellTo, clients, uploads: uploads(clients) }
  const site = { offer: service.offer, contact: service.contact, tools: TOOLS }
  const { agents, clock, hosts, advance } = service.registering
  const images = wallImages(service)
  const taken = takenBlocks({ ...service, advance })
  const helping = { ...service, agents, clock, hosts, advance, taken, findSpace: spaceFinder(taken, service.offer) }
  const routes: readonly Route[] = [
    ...pictureRoutes({ ...service, images }),
    ...cardRoutes({ ...service, cards: cardImages(service) }),
    { path: `${BLOCKS_PREFIX}:coord`, methods: blockMethods(service) },
    ...areaPages({ ...service, images, taken }),
    ...areaRoutes(service),
    ...apiRoutes(service),
    ...probeRoutes(service),
    ...toolsRoutes(helping),
    { path: '/mcp', methods: mcpMethods({ ...helping, images }) },
    ...atlasRoutes({ ...service, site }),
    ...documentRoutes({ ...service, clock: service.editing.clock, site }),
  ]
  const answer = guarded(dispatcher(routes, service.viewer), service.logger)

  const wall: Elysia = new Elysia({
    strictPath: true,
    serve: {
      idleTimeout: IDLE_SECONDS,
      // Bun's own refusal has no body; ours counts what it reads.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Two processes on one port would share its requests without a word.
      reusePort: false,
      // Bun hands requests to these itself: through Elysia, which takes them for asynchronous, each would cost a promise.
      routes: { ...handlersByPath(routes, service.viewer, service.logger, service.meter) },
    },
  })
  // What has no path, or never came over a socket.
  wall.all('/*', ({ request }) => answer(request))
  wall.onError(({ request }) => answer(request))
  return wall
}
