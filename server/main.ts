/** The service: reads its settings, opens what it works with, listens, and ends without losing anything. */

import { join } from 'node:path'
import { CannotOpen } from '../db/cannot-open.ts'
import type { Engine } from '../db/engine.ts'
import { openStore } from '../db/open.ts'
import type { DamagedRow } from '../db/row-sums.ts'
import { chainClient, viemChain } from './adapters/chain.ts'
import { systemClock as clock } from './adapters/clock.ts'
import { coinbaseAuth } from './adapters/coinbase.ts'
import { httpFacilitator } from './adapters/facilitator.ts'
import { lineJournal } from './adapters/journal.ts'
import { listenForMonitors } from './adapters/metrics-port.ts'
import { openMetrics, unmetered } from './adapters/metrics.ts'
import { workerPictures } from './adapters/pictures.ts'
import { fastestKeys } from './adapters/recover.ts'
import { viemWallets } from './adapters/wallets.ts'
import { app } from './app.ts'
import { ConfigError, readConfig, type Config } from './config.ts'
import { canvasReads } from './http/canvas-read.ts'
import { live } from './http/live.ts'
import { viewerFiles } from './http/viewer-files.ts'
import { deskAt, openCounter } from './operate/counter.ts'
import { openDesk } from './operate/desk.ts'
import { seller, type SweptSeller } from './usecases/buy-block.ts'
import { followLog } from './usecases/follow-log.ts'
import { keepGoing } from './usecases/keep-going.ts'
import { keepLevel } from './usecases/keep-level.ts'
import { presence } from './usecases/presence.ts'
import { sweeper } from './usecases/sweep.ts'
import { watchRail } from './usecases/watch-rail.ts'

const VIEWER = join(import.meta.dir, '../dist/viewer')

const PROBE_EVERY_MS = 15_000
const FIRST_PROBES_EVERY_MS = 1000

// The contract lets the canvas read be a few seconds old; this bounds what a flood of repaints costs. Less than a second,
// so that several instances show the same within one: each needs a moment to hear of a change, and to compress it.
const PUBLISH_EVERY_MS = 900

// What a request may need beyond its settlement: verification, the chain, the store.
const DRAIN_SLACK_MS = 30_000

const journal = lineJournal((line) => console.error(line), clock.now)

try {
  await run(readConfig(Bun.env))
} catch (error) {
  if (!(error instanceof ConfigError || error instanceof CannotOpen)) throw error
  console.error(error.message)
  process.exit(1)
}

async function run(config: Config): Promise<void> {
  // From the start: whoever starts a process may ask it to end before it is open.
  const asked = signalled()
  const store = await openStore(config.database, config.network, { onBroken: exitNow, onDamaged })
  const metrics = config.metricsPort === undefined ? undefined : openMetrics()
  const { server, sold, rail, stream, chain, advance } = await openWall(config, store, metrics ?? unmetered)
  console.log(`The wall is open at ${config.offer.baseUrl}`)
  journal.note('open', { port: server.port ?? 0, network: config.network })
  const desk = openDesk({ ...store, seller: sold, chain, clock, journal, advance })
  const closeCounter = openCounter(deskAt(config), desk, journal)
  metrics?.watch({ books: store.books, rail: rail.state, clock })
  if (metrics !== undefined && config.metricsPort !== undefined) {
    const monitors = listenForMonitors(metrics, config.host, config.metricsPort)
    journal.note('monitors', { port: monitors.port })
  }

  const stopping = new AbortController()
  const probing = keepGoing({ clock, journal }, stopping.signal, async () => {
    await rail.probe()
    return rail.state() === 'armed' ? PROBE_EVERY_MS : FIRST_PROBES_EVERY_MS
  })
  const swept = sweeper({ ...store, seller: sold, clock, journal })
  const isPresent = presence({ chain, clock, horizon: store.horizon, terms: config.offer.terms }, journal)
  const sweeping = keepGoing({ clock, journal }, stopping.signal, async () => {
    if ((await swept()) === 'seen' && (await isPresent())) rail.reconciled()
    return config.reconcileIntervalMs
  })
  const following = isShared(config) ? keepLevel({ ...store, advance, clock, journal }, stopping.signal) : undefined

  await asked
  journal.note('stopping')
  stopping.abort()
  stream.close()
  closeCounter()
  // New connections are refused from here on; requests under way, settlements included, are finished.
  const drained = Promise.all([server.stop(), sold.idle(), probing, sweeping, following])
  await Promise.race([drained, clock.wait(config.settleTimeoutMs + DRAIN_SLACK_MS)])
  await server.stop(true)
  await store.close()
  journal.note('stopped')
  process.exit(0)
}

async function openWall(config: Config, store: Engine, meters: typeof unmetered) {
  const { offer, hosts, cdpKey } = config
  const client = chainClient(config.network, config.rpcUrl)
  const chain = meters.chain(viemChain(client, offer))
  const keys = await fastestKeys((library, why) => journal.note('keys-skipped', { library, why }))
  journal.note('keys', { library: keys.library })
  const wallets = viemWallets(client, offer, keys)
  const called = httpFacilitator(
    {
      url: config.facilitatorUrl,
      verifyTimeoutMs: config.verifyTimeoutMs,
      settleTimeoutMs: config.settleTimeoutMs,
      createAuthHeaders: cdpKey === undefined ? undefined : await coinbaseAuth(cdpKey.id, cdpKey.secret),
    },
    offer,
  )
  const facilitator = meters.facilitator(called)
  const rail = watchRail({ facilitator, chain, clock, journal })
  const { view, advance, subscribe } = await followLog(store.log)
  const reads = canvasReads({ view, network: config.network, clock, everyMs: PUBLISH_EVERY_MS })
  subscribe(reads.changed)
  const stream = live({ log: store.log, clock, number: () => view.number, advance, everyMs: PUBLISH_EVERY_MS })
  subscribe(stream.changed)
  const { terms } = offer
  const { ledger, blocks, agents } = store
  const { contact } = config
  const leases = isShared(config) ? store.leases : undefined
  const sold = counted(
    seller({ ledger, facilitator, chain, wallets, clock, journal, rail, terms, contact, advance, leases }),
    meters,
  )
  const wall = app({
    seller: sold,
    ledger,
    blocks,
    view,
    reads,
    live: stream,
    log: store.log,
    rail,
    offer,
    contact: config.contact,
    journal,
    store: store.store,
    books: store.books,
    pictures: workerPictures(),
    editing: { blocks, wallets, clock, hosts, view, advance },
    registering: { agents, wallets, clock, hosts, advance },
    viewer: await viewerFiles(VIEWER),
    bindHost: config.host,
  }).listen({ hostname: config.host, port: config.port })
  if (wall.server === null) throw new Error('the server did not start')
  return { server: wall.server, sold, rail, stream, chain, advance }
}

/** Whether other processes may sell from the same store. */
function isShared({ database }: Config): boolean {
  return database.kind === 'postgres'
}

/** The same seller, its answers counted. */
function counted(sold: SweptSeller, { outcome }: typeof unmetered): SweptSeller {
  return {
    ...sold,
    async buy(...order) {
      const answer = await sold.buy(...order)
      outcome(answer)
      return answer
    },
  }
}

/** Resolves when the process is asked to end. */
function signalled(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
  })
}

/** A row that does not fit its sum is left out of everything; only a backup has it whole. */
function onDamaged({ table, row }: DamagedRow): void {
  journal.alarm('row-damaged', { table, row, what: 'the row is not what was written; restore a backup' })
}

/** Ends at once: after a disk that failed at commit, only a restart can tell what was kept. */
function exitNow(): never {
  journal.alarm('disk-failed', {
    what: 'the disk failed at commit; the process ends so that a restart finds the truth',
  })
  process.exit(70)
}
