/** The whole service as an Elysia app: a list of plugins, one per resource. */

import { Elysia } from 'elysia'
import { collectOperations } from './discovery/openapi/operation.ts'
import type { Site } from './discovery/site.ts'
import type { Address } from './domain/purchase/payment.ts'
import { createAgentRoutes } from './http/agents.ts'
import { addSecurityHeaders, type ViewerFiles } from './http/answer/viewer-files.ts'
import { createAreaRoutes } from './http/areas.ts'
import { createAtlasRoutes } from './http/atlas.ts'
import { type BlockDeps, createBlockRoutes } from './http/blocks.ts'
import { createCanvasRoutes } from './http/canvas.ts'
import type { CanvasReads } from './http/canvas/canvas-read.ts'
import { createDeedRoutes } from './http/deeds.ts'
import { createDiscoveryRoutes } from './http/documents.ts'
import { createErrorPlugin } from './http/errors.ts'
import { createFallback, hasOneHost, refuseSeveralHosts } from './http/fallback.ts'
import { createFeedRoutes } from './http/feed.ts'
import { createHealthRoutes, type HealthDeps } from './http/health.ts'
import { createLiveRoutes, type Live } from './http/live.ts'
import { createMcpRoutes } from './http/mcp.ts'
import { type Meter, measureResponses, createMetricsPlugin } from './http/metrics.ts'
import { createPictureRoutes } from './http/pictures.ts'
import { createReportRoutes } from './http/reports.ts'
import { createPaymentAdmission } from './http/request/admit-payment.ts'
import { createAddressReader, createUploadLimit } from './http/request/clients.ts'
import { createFairQueue, type QueueClass } from './http/request/fair-queue.ts'
import { createToolRoutes } from './http/tools.ts'
import { TOOLS } from './mcp/registry.ts'
import type { Reports } from './operator-ports.ts'
import type { LedgerReader, Log, Logger, Pictures } from './ports.ts'
import { createLimitedSeller, type LimitedSellerDeps } from './purchase/limited-seller.ts'
import { createSpaceFinder, createTakenBlocks } from './wall/open-blocks.ts'
import type { RateLimits } from './wall/rate-limits.ts'
import { createCardImages, createWallImages } from './wall/wall-image.ts'

/** Dependencies of the app. */
export type Service = Omit<BlockDeps, 'sellTo' | 'clients' | 'images' | 'readTaken'> &
  HealthDeps & {
    readonly reads: CanvasReads
    readonly live: Live
    readonly log: Log
    readonly ledger: BlockDeps['ledger']
    readonly seller: LimitedSellerDeps['seller']
    readonly onEnded?: LimitedSellerDeps['onEnded']
    readonly limits: RateLimits
    readonly trustedHops: number | undefined // how many proxies are trusted; undefined: see `createAddressReader`
    readonly findViewerFile: ViewerFiles
    readonly chatView: string // the HTML of the viewer shown in chats
    readonly logger: Logger
    readonly ledgerReader: LedgerReader
    readonly pictures: Pictures
    readonly reports: Pick<Reports, 'fileReport'>
    readonly payees: ReadonlySet<Address> // every address at which this wall ever asked to be paid
    readonly contact: string | null // of the operator
    readonly bindHost?: string // the address that the server listens on
    readonly recordResponse?: Meter // counts responses
    readonly onWaited?: (of: QueueClass, ms: number) => void // called with how long each expensive request waited
  }

// A settlement may take 200 s, and Bun closes an idle connection without sending a response. 255 s is the longest time
// that Bun allows.
const IDLE_SECONDS = 255

/** Makes the app; `handle(request)` returns the response to one request, and `listen` starts the server. */
export function createApp(given: Service) {
  const findViewerFile = addSecurityHeaders(given.offer.baseUrl, given.findViewerFile)
  const answerUnmatched: (request: Request) => Response = (request) =>
    hasOneHost(request) ? respondFallback(request) : refuseSeveralHosts()
  const shell = new Elysia({
    strictPath: true,
    normalize: false,
    serve: {
      idleTimeout: IDLE_SECONDS,
      // Bun rejects large bodies without a JSON error, so our readers limit them instead.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // If the port could be reused, two processes could listen on it and share its requests unnoticed.
      reusePort: false,
      // A path that matches no route as it was sent must not be matched again after its dot segments are removed.
      routes: { '/*': measureResponses(given.recordResponse, '/*', answerUnmatched) },
    },
  })
  const service = createServices(given, (request) => shell.server?.requestIP(request)?.address)
  const { site } = service
  const resources = shell
    .use(createErrorPlugin(given.logger))
    // With a hook before routing, Elysia would read the URL of each request, which takes 7 % of the time of a 304
    // response.
    .wrap((answer, request) => (hasOneHost(request) ? answer : refuseSeveralHosts))
    .use(createMetricsPlugin(given.recordResponse))
    .use(createBlockRoutes(service))
    .use(createAreaRoutes(service))
    .use(createCanvasRoutes(service))
    .use(createLiveRoutes(service))
    .use(createFeedRoutes(service))
    .use(createDeedRoutes(service))
    .use(createAgentRoutes(service))
    .use(createToolRoutes(service))
    .use(createReportRoutes(service))
    .use(createPictureRoutes(service))
    .use(createHealthRoutes(service))
    .use(createMcpRoutes(service))
  const documentedSite: Site = { ...site, operations: collectOperations(resources) }
  const wall = resources
    .use(createAtlasRoutes({ ...service, site: documentedSite }))
    .use(createDiscoveryRoutes({ ...service, findViewerFile, site: documentedSite }))
    // Answers requests that did not come over a socket.
    .all('/*', ({ request }) => answerUnmatched(request))
  const respondFallback = createFallback(wall, findViewerFile)
  return wall
}

/** The type of the app, from which Eden types its clients. */
export type App = ReturnType<typeof createApp>

/** Adds dependencies that several plugins share. */
function createServices(given: Service, peerOf: (request: Request) => string | undefined) {
  const { limits, trustedHops, changing, offer, contact } = given
  const { agents, clock, hosts, applyNewEntries, wallets } = changing
  const queue = createFairQueue(clock.elapsed, given.onWaited)
  const clients = {
    limits,
    getClientAddress: createAddressReader({ getPeer: peerOf, trustedHops }),
    queue,
    admitPayment: createPaymentAdmission({ ledger: given.ledger, wallets, limits, queue }),
  }
  const sellTo = createLimitedSeller(given)
  const readTaken = createTakenBlocks({ ...given, applyNewEntries })
  return {
    ...given,
    agents,
    clock,
    hosts,
    applyNewEntries,
    readTaken,
    clients,
    sellTo,
    images: createWallImages(given),
    cards: createCardImages(given),
    findSpace: createSpaceFinder(readTaken, offer),
    readUpload: createUploadLimit(clients),
    site: {
      offer,
      contact,
      tools: TOOLS,
    },
  }
}
