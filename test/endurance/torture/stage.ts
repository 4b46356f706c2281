/**
 * The surroundings of the walls: the chain, the facilitator, the proxies in front of them, the disks, and the keepers.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PaymentPayload } from '@x402/core/types'
import { createViemChain } from '../../../server/adapters/chain/chain.ts'
import { openEndpoints } from '../../../server/adapters/chain/endpoints.ts'
import { systemClock as clock } from '../../../server/adapters/clock.ts'
import { startLocalNetwork } from '../../../server/local/network.ts'
import { findFreePort } from '../../../server/local/wall-process.ts'
import { createWallet } from '../../../server/local/wallets.ts'
import { startFaultyFacilitator } from '../../support/chain/faulty-facilitator.ts'
import { createForwarder, openFront } from '../../support/chain/front.ts'
import { createBlockRangeRule, startOddEndpoint } from '../../support/chain/odd-endpoint.ts'
import { createOffer } from '../../support/chain/signing.ts'
import { scaleLimit } from '../../support/machine.ts'
import { startPostgres, type PostgresServer } from '../../support/postgres/server.ts'
import { mountDisk, type SmallDisk } from '../../support/scratch-folder.ts'
import type { Scene } from './books.ts'
import { readNonce, type Buyer, type HangUps } from './buyers.ts'
import { createReader, type Editor } from './bystanders.ts'
import { createKeeper, type Database, type Totals } from './keeper.ts'
import { checkTables } from './tables.ts'

/** Everything a run needs, and all participants. */
export type Stage = Awaited<ReturnType<typeof openStage>>

/** Sets up the stage for one wall on SQLite, or for several on one PostgreSQL database; `stop` removes everything. */
export async function openStage(instances?: number) {
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-torture-'))
  const network = await startLocalNetwork()
  const hangUps: HangUps = new Map()
  const facilitator = await startFaultyFacilitator(createHangUpFacilitator(hangUps, network.callFacilitator))
  const gate = await openFront(createForwarder(network.rpcUrl))
  const narrow = startOddEndpoint(network.rpcUrl, { eth_getLogs: createBlockRangeRule(EVENTS_OF) })
  const ground = instances === undefined ? await openFileGround(folder) : await openServerGround()
  const payTo = createWallet().address
  const ports = await Promise.all(Array.from({ length: instances ?? 1 }, findFreePort))
  const totals: Totals = { starts: 0, kills: 0, diskDeaths: 0, wrong: [] }
  const settings = {
    // The host in the messages that owners sign, whichever wall receives them.
    BASE_URL: 'http://127.0.0.1',
    PAY_TO: payTo,
    FACILITATOR_URL: facilitator.url,
    RPC_URL: gate.url,
    RECONCILE_INTERVAL_MS: '200',
    VERIFY_TIMEOUT_MS: String(scaleLimit(2000)),
    SETTLE_TIMEOUT_MS: String(scaleLimit(1000)),
  }
  const keepers = ports.map((port) => createKeeper({ ...settings, PORT: String(port) }, folder, totals))
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const chain = createViemChain(openEndpoints('eip155:8453', [network.rpcUrl], { clock }), createOffer())
  const [buyers, editors]: [Buyer[], Editor[]] = [[], []]
  const follower = createReader()
  let turn = 0
  const takeNextUrl = () => urls[turn++ % urls.length] ?? ''
  return {
    ...ground,
    door: takeNextUrl,
    network,
    facilitator,
    hangUps,
    gate,
    narrow,
    keepers,
    totals,
    buyers,
    editors,
    follower,
    createScene: (): Scene => ({
      urls,
      door: takeNextUrl,
      payTo,
      network,
      chain,
      buyers,
      editors,
      follower,
      checkAllTables: () => checkTables(ground.database),
    }),
    async stop() {
      await Promise.all(keepers.map((keeper) => keeper.stop()))
      ground.smallDisk?.unmount()
      await ground.server?.stop()
      await Promise.all([gate.stop(), narrow.stop(), facilitator.stop()])
      await network.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// How many blocks the most limited endpoints search per call.
const EVENTS_OF = 5

// Longer than a wall takes to notice that a client is gone.
const SEEN_GONE_MS = 50

/**
 * A facilitator that makes buyers hang up at the start of a settlement, so that they are gone before the wall has a
 * response for them.
 */
function createHangUpFacilitator(
  hangUps: HangUps,
  settle: Stage['network']['callFacilitator'],
): Stage['network']['callFacilitator'] {
  return async (request) => {
    if (new URL(request.url).pathname !== '/settle') return await settle(request)
    const { paymentPayload } = (await request.clone().json()) as { readonly paymentPayload: PaymentPayload }
    const hangUp = hangUps.get(readNonce(paymentPayload))
    hangUp?.()
    if (hangUp !== undefined) await Bun.sleep(SEEN_GONE_MS)
    return await settle(request)
  }
}

/** The database of the walls, and its disk or its server, which can fail. */
type Ground = {
  readonly database: Database
  readonly path?: string
  readonly smallDisk?: SmallDisk
  readonly server?: PostgresServer
}

const DISK_MB = 64

async function openFileGround(folder: string): Promise<Ground> {
  const path = join(folder, 'wall.sqlite')
  return { database: { DATABASE_PATH: path }, path, smallDisk: await mountDisk(join(folder, 'small'), DISK_MB) }
}

async function openServerGround(): Promise<Ground> {
  // Acknowledged writes must be on the server's disk, because a round may kill the server.
  const server = await startPostgres({ isDurable: true })
  return { database: { DATABASE_URL: server.getUrl(await server.createDatabase()) }, server }
}
