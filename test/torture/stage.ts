/** Everything around the wall: the chain, the facilitator, the gates before them, the disks, and who keeps it running. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chainClient, viemChain } from '../../server/adapters/chain.ts'
import { startLocalNetwork } from '../../server/local/network.ts'
import { freePort } from '../../server/local/wall-process.ts'
import { newWallet } from '../../server/local/wallets.ts'
import { newOffer } from '../adapters/signing.ts'
import { startFaultyFacilitator } from '../local/faulty-facilitator.ts'
import type { Scene } from './books.ts'
import type { Buyer } from './buyers.ts'
import { reader, type Editor } from './bystanders.ts'
import { mountSmallDisk } from './disk.ts'
import { startGate } from './gate.ts'
import { keeperOf } from './keeper.ts'

/** Everything a run needs, and everyone who ever took part. */
export type Stage = Awaited<ReturnType<typeof setStage>>

/** Sets it up; nothing of it is left after `stop`. */
export async function setStage() {
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-torture-'))
  const network = await startLocalNetwork()
  const facilitator = await startFaultyFacilitator(network.facilitatorUrl)
  const gate = await startGate(network.rpcUrl)
  const smallDisk = mountSmallDisk(join(folder, 'small'))
  const payTo = newWallet().address
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const path = join(folder, 'wall.sqlite')
  const keeper = keeperOf({
    BASE_URL: url,
    PORT: port,
    PAY_TO: payTo,
    FACILITATOR_URL: facilitator.url,
    RPC_URL: gate.url,
    RECONCILE_INTERVAL_MS: '200',
    VERIFY_TIMEOUT_MS: '2000',
    SETTLE_TIMEOUT_MS: '1000',
  })
  const chain = viemChain(chainClient('eip155:8453', network.rpcUrl), newOffer())
  const [buyers, editors]: [Buyer[], Editor[]] = [[], []]
  const follower = reader()
  return {
    path,
    url,
    network,
    facilitator,
    gate,
    smallDisk,
    keeper,
    buyers,
    editors,
    follower,
    scene: (): Scene => ({ url, databasePath: path, payTo, network, chain, buyers, editors, follower }),
    async stop() {
      await keeper.stop()
      smallDisk?.unmount()
      await Promise.all([gate.stop(), facilitator.stop()])
      await network.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
