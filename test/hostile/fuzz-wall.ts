/** The whole service over a database file that a second pair of eyes watches, with some blocks sold. */

import { Database } from 'bun:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../db/sqlite/open.ts'
import { systemClock } from '../../server/adapters/clock.ts'
import { workerPictures } from '../../server/adapters/pictures.ts'
import { app } from '../../server/app.ts'
import { canvasReads } from '../../server/http/canvas-read.ts'
import { live } from '../../server/http/live.ts'
import { viewerFiles } from '../../server/http/viewer-files.ts'
import { seller } from '../../server/purchase/seller.ts'
import { followLog } from '../../server/usecases/follow-log.ts'
import { watchRail } from '../../server/usecases/watch-rail.ts'
import { fakeChain } from '../fakes/chain.ts'
import { fakeClock } from '../fakes/clock.ts'
import { fakeFacilitator } from '../fakes/facilitator.ts'
import { fakeJournal, type FakeJournal } from '../fakes/journal.ts'
import { unlimited } from '../fakes/limits.ts'
import { fakeWallets } from '../fakes/wallets.ts'
import { BASE_URL, HOST, OFFER, paidBy } from '../http/wall.ts'
import { NOW, paymentOf, TERMS } from '../ports/samples.ts'

/** A wall to throw requests at. */
export type FuzzWall = {
  readonly journal: FakeJournal
  handle(request: Request): Promise<Response>
  /** Serves on a free port; answers host and port. */
  listen(): string
  /** Changes whenever a row of the database does. */
  rowsVersion(): number
  close(): Promise<void>
}

/** Wallets that own something, and the blocks they own: the nth wallet owns the nth block of the top row. */
export const OWNERS = 8

/** Opens the wall and sells the owners their blocks. */
export async function openFuzzWall(): Promise<FuzzWall> {
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-fuzz-'))
  const path = join(folder, 'wall.sqlite')
  const db = await openSqlite(path, TERMS.network)
  const chain = fakeChain()
  const facilitator = fakeFacilitator(chain)
  const clock = fakeClock(NOW)
  const journal = fakeJournal()
  const rail = watchRail({ facilitator, chain, clock, journal })
  rail.reconciled()
  await rail.probe()
  const { view, advance, subscribe } = await followLog(db.log)
  const reads = canvasReads({ view, network: TERMS.network, clock, everyMs: 0 })
  subscribe(reads.changed)
  const stream = live({
    log: db.log,
    clock: systemClock,
    number: () => view.number,
    canvasNumber: reads.canvas.number,
    advance,
    everyMs: 0,
  })
  subscribe(stream.changed)
  const world = { wallets: fakeWallets, clock, hosts: [HOST], advance, limits: unlimited }
  const { ledger, blocks, agents, store, books } = db
  const wall = app({
    seller: seller({ ...world, ledger, facilitator, chain, rail, journal, terms: TERMS, contact: null }),
    ledger,
    blocks,
    view,
    reads,
    live: stream,
    log: db.log,
    rail,
    offer: OFFER,
    contact: null,
    journal,
    store,
    books,
    pictures: workerPictures(),
    limits: unlimited,
    trustedHops: undefined,
    editing: { ...world, blocks, view },
    registering: { ...world, agents },
    viewer: await viewerFiles('/nowhere'),
  })
  const handle = async (request: Request): Promise<Response> => await wall.handle(request)
  for (let owner = 1; owner <= OWNERS; owner++) {
    const { status } = await handle(new Request(`${BASE_URL}/blocks/${owner},0`, paidBy(paymentOf(owner, owner))))
    if (status !== 200) throw new Error(`an owner could not buy: ${status}`)
  }
  const eyes = new Database(path, { readonly: true })
  const version = eyes.query<{ data_version: number }, []>('PRAGMA data_version')
  return {
    journal,
    handle,
    listen() {
      wall.listen({ hostname: '127.0.0.1', port: 0 })
      return `127.0.0.1:${wall.server?.port}`
    },
    rowsVersion: () => version.get()?.data_version ?? 0,
    async close() {
      stream.close()
      await wall.server?.stop(true)
      eyes.close()
      db.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
