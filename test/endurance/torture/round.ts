/** One round: a crowd of buyers, walls that are killed meanwhile, and one more fault. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { backUp } from '../../../db/sqlite/file/backup.ts'
import { waitUntilArmed } from '../../../server/local/wall-process.ts'
import { createForwarder } from '../../support/chain/front.ts'
import { listBlocks, buyUntilEnded, createBuyer, type Buyer } from './buyers.ts'
import { repaintOnce } from './bystanders.ts'
import { computePrice, type Round } from './plan.ts'
import type { Stage } from './stage.ts'
import { cutListeners } from './tables.ts'

const EDITORS = 3
const AUDIENCE_EVERY_MS = 25

// The limit is in blocks of 512 bytes: after a few dozen commits, the write-ahead log reaches the maximum file size.
const SHORT_FILES = `trap '' XFSZ; ulimit -f 500`

/** Plays a round until the purchase of every buyer has ended; returns the buyers. */
export async function playRound(stage: Stage, round: Round): Promise<readonly Buyer[]> {
  const guests = await createBuyers(stage, round)
  const there = await moveToFaultyDisk(stage, round)
  stage.facilitator.settle.queueFaults(...round.settleFaults)
  const over = new AbortController()
  const audience = runBystanders(stage, over.signal)
  const trouble = injectFault(stage, round)
  const buying = guests.map((guest, at) => buyUntilEnded(guest, stage.door, at < round.copies ? 2 : 1, stage.hangUps))
  for (const { afterMs, instance } of round.kills) {
    await Bun.sleep(afterMs)
    await stage.keepers[instance]?.crash()
  }
  await Promise.all([trouble, ...buying])
  over.abort()
  await audience
  await moveDatabaseBack(stage, there)
  addEditors(stage, guests)
  return guests
}

async function createBuyers({ network, buyers }: Stage, { orders }: Round): Promise<readonly Buyer[]> {
  const guests = await Promise.all(
    // Each wallet has enough money for a double charge, so that one would be noticed.
    orders.map(async (order) => createBuyer(order, await network.createFundedWallet(2 * computePrice(order)))),
  )
  buyers.push(...guests)
  return guests
}

/**
 * If the round says so, restarts the wall with a file size limit, or on the small disk; in the latter case, returns the
 * new path of the database.
 */
async function moveToFaultyDisk(
  { keepers, path, door, smallDisk }: Stage,
  { trouble }: Round,
): Promise<string | undefined> {
  const [keeper] = keepers
  if (path === undefined || keeper === undefined) return undefined
  if (trouble === 'disk-limit') {
    await keeper.stop()
    await keeper.start({ DATABASE_PATH: path }, SHORT_FILES)
  }
  if (trouble !== 'disk-full' || smallDisk === undefined) return undefined
  const there = join(smallDisk.folder, 'wall.sqlite')
  await keeper.stop()
  backUp(path, there)
  await keeper.start({ DATABASE_PATH: there })
  // Before a wall accepts payments, it writes too little to notice a full disk.
  await waitUntilArmed(door())
  return there
}

async function moveDatabaseBack({ keepers, path }: Stage, there: string | undefined): Promise<void> {
  const [keeper] = keepers
  if (path === undefined || keeper === undefined || there === undefined) return
  await keeper.stop()
  await removeDatabase(path)
  backUp(there, path)
  await removeDatabase(there)
  await keeper.start({ DATABASE_PATH: path })
}

/** Removes a database file, and the files that SQLite adds beside it. */
const removeDatabase = (path: string) =>
  Promise.all(['', '-wal', '-shm'].map((suffix) => rm(`${path}${suffix}`, { force: true })))

/** Injects the fault of the round, and ends it after a while. */
async function injectFault(stage: Stage, round: Round): Promise<void> {
  const { facilitator, gate, narrow, network, smallDisk, server, database } = stage
  const { trouble, troubleAfterMs, troubleForMs } = round
  await Bun.sleep(troubleAfterMs)
  if (trouble === 'facilitator-gone') {
    facilitator.verify.setDefault('reset')
    facilitator.settle.setDefault('reset-before')
  }
  if (trouble === 'chain-gone') gate.stopListening()
  if (trouble === 'chain-stands') await network.halt()
  if (trouble === 'chain-narrow') gate.failWith(createForwarder(narrow.url))
  if (trouble === 'disk-full') await smallDisk?.fill('filler', 64)
  if (trouble === 'deaf') await cutListeners(database)
  if (trouble === 'server-crash') await server?.kill()
  if (trouble === 'server-restart') await server?.shutDown()
  await Bun.sleep(troubleForMs)
  facilitator.verify.setDefault('honest')
  facilitator.settle.setDefault('honest')
  await gate.endFailures()
  if (trouble === 'chain-stands') await network.resume()
  await smallDisk?.removeFile('filler')
  if (trouble === 'deaf') await cutListeners(database)
  if (trouble === 'server-crash' || trouble === 'server-restart') await server?.start()
}

/** Lets owners repaint and a reader read the feed, repeatedly until the signal `over` aborts. */
async function runBystanders({ editors, follower, door }: Stage, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await Promise.all([
      follower.readFeed(door),
      ...editors.slice(-EDITORS).map((editor) => repaintOnce(editor, door())),
    ])
    await Bun.sleep(AUDIENCE_EVERY_MS)
  }
}

/** Makes the first buyer who has a receipt repaint from now on. */
function addEditors({ editors }: Stage, guests: readonly Buyer[]): void {
  for (const { wallet, receipt } of guests.filter((guest) => guest.receipt !== undefined).slice(0, 1))
    editors.push({
      wallet,
      block: receipt === undefined ? '' : (listBlocks(receipt)[0] ?? ''),
      sent: [],
      acknowledged: 0,
    })
}
