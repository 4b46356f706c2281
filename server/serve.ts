/** Runs the service: wires the adapters, listens, and shuts down without losing anything. */

import type { Ahead } from '../db/engine.ts'
import manifest from '../package.json'
import { formatMoney } from '../shared/money.ts'
import { TOTAL_BLOCKS } from '../shared/wall.ts'
import { openCatalogue } from './adapters/catalogue.ts'
import { systemClock as clock } from './adapters/clock.ts'
import { createDeniedPayers } from './adapters/denied-payers.ts'
import { createFreeSpaceReader, measureSize } from './adapters/disk-space.ts'
import type { Metrics } from './adapters/metrics/metrics.ts'
import type { WallReadings } from './adapters/metrics/wall.ts'
import { createWorkerPictures } from './adapters/pictures/pictures.ts'
import { openSupervisor } from './adapters/supervisor.ts'
import { limitUnreadData } from './adapters/unread-limits.ts'
import { loadFastestKeys, type Keys } from './adapters/wallets/recover.ts'
import { createViemWallets } from './adapters/wallets/wallets.ts'
import { openWebhook } from './adapters/webhook.ts'
import { openWitness } from './adapters/witness-file.ts'
import { createApp } from './app.ts'
import { createRestoredBackupCheck, type RestoredBackupCheck } from './books/check-restored-backup.ts'
import { createWitnessKeeper, type WitnessKeeper } from './books/keep-witness.ts'
import type { Config } from './config.ts'
import { createReadiness } from './health/outages.ts'
import { runPeriodically } from './health/run-periodically.ts'
import { watchListing } from './health/watch-listing.ts'
import { watchPurchases } from './health/watch-purchases.ts'
import { watchQueue } from './health/watch-queue.ts'
import { watchStore } from './health/watch-store.ts'
import { loadPages } from './http/answer/viewer-files.ts'
import { createCanvasReads } from './http/canvas/canvas-read.ts'
import { createLiveStream } from './http/live.ts'
import { loadMcpCalls } from './http/mcp.ts'
import { QUEUE_CLASSES } from './http/request/fair-queue.ts'
import { type AlertQueue, createNoticeDelivery, queueAlerts } from './instances/deliver-notices.ts'
import { waitForStartUpCheck, followLog, pollLog } from './instances/follow-log.ts'
import { openRail } from './open-rail.ts'
import { createAdminCommands } from './operate/admin-commands.ts'
import { locateAdminSocket } from './operate/admin-socket-path.ts'
import { openAdminSocket } from './operate/admin-socket.ts'
import { type Alert, type Overview, keepRecentAlerts } from './operate/status-report.ts'
import { loadPageFiles } from './page-files.ts'
import type { Logger } from './ports.ts'
import { listenOn, toMetricsPort, toWallPort } from './preflight.ts'
import type { PurchaseDeps } from './purchase/purchase-run.ts'
import { createReconciler } from './purchase/reconciler.ts'
import { createSeller } from './purchase/seller.ts'
import type { Times } from './times.ts'
import { createLogCompactor } from './wall/compact-log.ts'
import { createRateLimits } from './wall/rate-limits.ts'

const COMPACT_EVERY_MS = 3_600_000
const DENIED_READ_EVERY_MS = 1000

// The most time that a request takes in addition to its settlement: for verification, the chain and the store.
const DRAIN_SLACK_MS = 30_000

// The longest time that the loading of other modules waits for the first reads to be published.
const READERS_FIRST_MS = 1000

const WITNESS_BESIDE =
  'money that arrives while the wall is down may belong to a lost sale, so it will stop sales until you run pixel-wall resolve --all --stray, or, if the database was restored, accept-restore. To prevent this, put WITNESS_PATH on a device of its own and set WITNESS_IS_APART=yes'

/** The values that `main` has made: settings, times, the store, the journal, and the first and second stop signals. */
export type Given = {
  readonly config: Config
  readonly times: Times
  readonly ahead: Ahead
  readonly logger: Logger
  readonly asked: Promise<void>
  readonly askedAgain: AbortSignal
}

/**
 * Serves the wall until a signal arrives, then ends the process. Rejects with `CannotOpen` if the store cannot be used.
 */
export async function serve(given: Given): Promise<void> {
  const { config, asked } = given
  const { store } = given.ahead
  const metrics =
    config.metricsPort === undefined ? undefined : (await import('./adapters/metrics/metrics.ts')).openMetrics()
  const recent = keepRecentAlerts(metrics?.wrapLogger(given.logger) ?? given.logger, clock)
  const { logger, alerts } = queueAlerts(recent.logger, clock)
  const witness = openWitness(config.witnessPath)
  if (!config.isWitnessApart) logger.note('witness', { what: WITNESS_BESIDE })
  const witnessing = createWitnessKeeper({ store: store.store, witness, clock, logger })
  const wall = await openWall({ ...given, logger }, metrics, witnessing.onCommit)
  const { server, chain, keys, reads } = wall
  const monitors = metrics === undefined ? undefined : listenToMonitors(config, metrics)
  limitUnreadData((why) => logger.note('unread-unlimited', { why }))
  console.log(`The wall is open at ${config.offer.baseUrl}`)
  const supervisor = openSupervisor(Bun.env, (why) => logger.note('no-supervisor', { why }))
  supervisor.reportReady()
  logger.note('open', { port: server.port ?? 0, network: config.network })
  const { isWitnessApart, offer } = config
  const { terms } = offer
  const restored = createRestoredBackupCheck({ ...store, witness, isWitnessApart, chain, terms, clock, logger })
  const closeAdminSocket = listenToOperator({ ...given, logger }, wall, restored, recent.listRecentAlerts)
  metrics?.registerReadings(createReadings(config, wall, restored))
  if (monitors !== undefined) logger.note('monitors', { port: monitors.port })

  const stopping = new AbortController()
  const history = given.ahead.checkHistory()
  const loops = startLoops({ ...given, logger }, wall, { restored, witnessing, history, alerts }, stopping.signal)

  // Modules that readers do not need are loaded once the server is listening. If loading fails, the process ends.
  await Promise.race([reads.waitUntilPublished(), clock.wait(READERS_FIRST_MS)])
  keys.resolve(await loadSignatureLibrary(logger))
  await loadMcpCalls()

  await Promise.race([asked, history.then(() => asked)])
  logger.note('stopping')
  supervisor.reportStopping()
  await drain(given, wall, loops, () => {
    stopping.abort()
    closeAdminSocket()
  })
  await witnessing.flush()
  await store.close()
  logger.note('stopped')
  process.exit(0)
}

/** Finishes requests in progress, including settlements. `stop` ends everything that readers and buyers do not need. */
async function drain(
  { config, askedAgain }: Given,
  { server, sold, ready, stream }: Wall,
  loops: readonly Promise<void>[],
  stop: () => void,
): Promise<void> {
  // Load balancers get time to notice the shutdown. Requests that arrive during that time still get responses.
  ready.drain()
  await clock.wait(config.drainMs, askedAgain)
  stop()
  stream.close()
  // From here on, the server refuses new connections.
  const drained = Promise.all([server.stop(), sold.waitUntilIdle(), ...loops])
  await Promise.race([drained, clock.wait(config.settleTimeoutMs + DRAIN_SLACK_MS)])
  await server.stop(true)
}

/** Opens the socket for the operator's commands; returns a function that closes it. */
function listenToOperator(
  { config, ahead: { store }, logger }: Given,
  wall: Wall,
  restored: RestoredBackupCheck,
  alerts: () => readonly Alert[],
): () => void {
  const { sold: seller, chain, applyNewEntries } = wall
  const overview = createOverviewReader(config, wall, restored, alerts)
  const runCommand = createAdminCommands({
    ...store,
    seller,
    chain,
    terms: config.offer.terms,
    clock,
    logger,
    applyNewEntries,
    view: wall.view,
    readOverview: overview,
    restored,
  })
  return openAdminSocket(locateAdminSocket(config), runCommand, logger)
}

type Wall = Awaited<ReturnType<typeof openWall>>

function listenToMonitors(config: Config, metrics: Metrics) {
  const port = toMetricsPort(config)
  return port && listenOn(port, (place) => metrics.listen(place.hostname, place.port))
}

/** The values of the metrics. */
function createReadings(
  { database }: Config,
  { rail, ready, storeWatch, outages, view, listings }: Wall,
  { listOrphans: orphans }: RestoredBackupCheck,
): WallReadings {
  const files = database.kind === 'sqlite' ? [database.path, `${database.path}-wal`] : undefined
  return {
    clock,
    readRail: rail.readState,
    canSell: () => ready.checkSelling().ready,
    canServeReaders: () => ready.checkReading().ready,
    listDependencies: outages.listAll,
    readStoreState: storeWatch.readLastState,
    measureStoreBytes: async () => (files === undefined ? undefined : await measureSize(files)),
    countBlocks: () => ({ sold: view.claimed.size, open: TOTAL_BLOCKS - view.claimed.size }),
    countOrphans: () => orphans().length,
    readListings: listings.readListings,
    build: { version: manifest.version, bun: Bun.version },
  }
}

/** Makes the function that returns the values of the status command. */
function createOverviewReader(
  { offer: { baseUrl, terms } }: Config,
  { rail, ready, storeWatch, view, catalogues, listings }: Wall,
  { listOrphans: orphans }: RestoredBackupCheck,
  alerts: () => readonly Alert[],
): () => Overview {
  const startedAt = clock.now()
  return () => ({
    version: manifest.version,
    baseUrl,
    network: terms.network,
    startedAt,
    now: clock.now(),
    rail: rail.readState(),
    sells: ready.checkSelling(),
    reads: ready.checkReading(),
    sold: view.claimed.size,
    orphans: orphans().length,
    ...storeWatch.readLastState(),
    catalogues: [...catalogues.values()],
    listings: listings.readListings(),
    alerts: alerts(),
  })
}

type Checks = {
  readonly restored: RestoredBackupCheck
  readonly witnessing: WitnessKeeper
  readonly alerts: AlertQueue
  readonly history: Promise<void>
}

/** Starts the periodic work. It runs until `signal` aborts. */
function startLoops(
  { config, times, ahead: { store }, logger }: Given,
  wall: Wall,
  { restored, witnessing, history, alerts }: Checks,
  signal: AbortSignal,
): readonly Promise<void>[] {
  const { sold, denied, rail, storeWatch, checkClock, outages, eventLoop } = wall
  const { purchases, queue, applyNewEntries, view, listings } = wall
  const probing = runPeriodically({ clock, logger }, signal, async () => {
    if (rail.computeProbeDelay() === 0) {
      await rail.probe()
      checkClock()
    }
    return Math.min(rail.computeProbeDelay(), times.probesDueEveryMs)
  })
  const looking = runPeriodically({ clock, logger }, signal, async () => {
    await storeWatch.check()
    purchases.check()
    queue.check()
    return times.storeChecksEveryMs
  })
  const timing = runPeriodically({ clock, logger }, signal, async () => {
    await eventLoop.watch(outages, signal)
    return 0
  })
  const sweep = createReconciler({ ...store, seller: sold, clock, logger })
  store.store.watchForReplacement((replaced) => {
    rail.suspend()
    restored.onReplaced(replaced)
  })
  const sweeping = runPeriodically({ clock, logger }, signal, async () => {
    if ((await sweep()) === 'seen' && (await restored.isCurrent())) {
      witnessing.begin()
      rail.markReconciled()
    } else rail.setWaitReason(restored.findReason())
    return config.reconcileIntervalMs
  })
  const compact = createLogCompactor({ ...store, clock, logger, historyDays: config.historyDays })
  const stopping = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  const compacting = runPeriodically({ clock, logger }, signal, async () => {
    // Compaction waits until the history is checked: no entry may be dropped because of a later entry that is damaged.
    await Promise.race([Promise.allSettled([history]), stopping])
    await compact(signal)
    return COMPACT_EVERY_MS
  })
  const denying = runPeriodically({ clock, logger }, signal, async () => {
    await denied.reload()
    return DENIED_READ_EVERY_MS
  })
  const listing = runPeriodically({ clock, logger }, signal, listings.check)
  const following = isShared(config) ? [pollLog({ ...store, applyNewEntries, clock, logger, times }, signal)] : []
  const receiver = config.webhook && openWebhook(config.webhook, clock)
  const deliver =
    receiver && createNoticeDelivery({ ...store, receiver, alerts, outages, clock, readNumber: () => view.number })
  const delivering = deliver && runPeriodically({ clock, logger }, signal, () => deliver(signal))
  return [
    probing,
    looking,
    timing,
    sweeping,
    compacting,
    denying,
    listing,
    ...following,
    ...(delivering ? [delivering] : []),
  ]
}

/**
 * Opens the wall, part by part: the dependencies of payments, the watches, the readers' views, the seller, and the
 * port.
 */
async function openWall(given: Given, metrics: Metrics | undefined, committed: () => void) {
  const { config, times, ahead, logger } = given
  const { offer, contact, hosts, trustedHops, sharesStream } = config
  const { ledger } = ahead.store
  const store = { ...ahead.store, ledger: metrics?.timeLedger(ledger) ?? ledger }
  const rail = openRail(config, metrics, logger, times)
  const watches = openWatches(given, rail)
  const keys = Promise.withResolvers<Keys>()
  const wallets = createViemWallets(rail.endpoints.request, offer, keys.promise, clock)
  const pages = await loadPages(await loadPageFiles(), {
    ...offer,
    price: formatMoney(offer.terms.amount),
    sharesStream,
  })
  const readers = await openReaders(given, committed)
  const limits = createRateLimits(clock)
  const adapters = { wallets, pictures: createWorkerPictures(), clock, logger }
  const parts = { ...store, ...rail, ...readers, ...adapters, offer, terms: offer.terms, contact, hosts, limits }
  // Payments to addresses from earlier settings also count as payments to this wall.
  const payees = new Set([offer.terms.payTo, ...(await store.checkpoint.listPayees())])
  const denied = createDeniedPayers(config.denied, logger)
  const sold = openSeller(given, { ...parts, payees, isDenied: denied.has, onStored: committed })
  const service = createApp({
    ...parts,
    payees,
    ...pages,
    countPaid: metrics?.countPaidRequest,
    onWaited(of, ms) {
      metrics?.observeWait(of, ms)
      watches.queue.recordWait(of, ms)
    },
    onEnded(payer, outcome) {
      metrics?.countOutcome(outcome)
      watches.purchases.recordOutcome(payer, outcome)
    },
    seller: sold,
    live: readers.stream,
    readiness: watches.ready,
    store: { isReadable: watches.storeWatch.isReadable },
    trustedHops,
    changing: parts,
    bindHost: config.host,
    ...(metrics && { recordResponse: metrics.recordResponse }),
  })
  const { server } = listenOn(toWallPort(config), (place) => service.listen(place))
  if (server === null) throw new Error('the server did not start')
  return { ...rail, ...watches, ...readers, server, sold, denied, keys }
}

type OpenRail = ReturnType<typeof openRail>

/** Watches the store and the purchases, and determines whether this process is ready. */
function openWatches({ config, times, ahead: { store } }: Given, { rail, outages }: OpenRail) {
  const disk = { readFreeBytes: createFreeSpaceReader(locateData(config)), engine: config.database.kind }
  const catalogues = config.facilitatorUrls.map((url) => openCatalogue(url, config.offer))
  return {
    purchases: watchPurchases({ clock, outages }),
    queue: watchQueue({ clock, outages }, QUEUE_CLASSES),
    storeWatch: watchStore({ ...store, ...disk, hasStandbys: isShared(config), outages, clock, times }),
    ready: createReadiness({ rail, outages }),
    listings: watchListing({ clock, outages, catalogues }),
  }
}

/** Opens the parts that follow the log for readers: the view, the reads of the whole wall and the live stream. */
async function openReaders({ config: { offer }, times, ahead }: Given, committed: () => void) {
  const { log } = ahead.store
  const everyMs = times.publishedEveryMs
  const { view, applyNewEntries, subscribe, reads } = await waitForStartUpCheck(ahead.checked, async () => {
    const follower = await followLog(log)
    return { ...follower, reads: createCanvasReads({ view: follower.view, terms: offer.terms, clock, everyMs }) }
  })
  const live = { readNumber: () => view.number, readCanvasNumber: reads.readNumber, applyNewEntries, everyMs }
  const stream = createLiveStream({ log, clock, ...live })
  for (const listener of [reads.announceChange, stream.announceChange, committed]) subscribe(listener)
  return { view, applyNewEntries, reads, stream }
}

/** Makes the seller, with leases if several processes may share the store. */
function openSeller({ config, times, ahead }: Given, parts: Omit<PurchaseDeps, 'leases' | 'times'>) {
  return createSeller({ ...parts, leases: isShared(config) ? ahead.store.leases : undefined, times })
}

/** A path on the disk that the wall writes to. */
function locateData({ database, witnessPath }: Config): string {
  return database.kind === 'sqlite' ? database.path : (witnessPath ?? '.')
}

/** Loads the signature library that is fastest on this machine, and logs which one it is. */
async function loadSignatureLibrary(logger: Logger): Promise<Keys> {
  const keys = await loadFastestKeys((library, why) => logger.note('keys-skipped', { library, why }))
  logger.note('keys', { library: keys.library })
  return keys
}

/** Whether several processes may share the store. */
function isShared({ database }: Config): boolean {
  return database.kind === 'postgres'
}
