/** The whole service on a database file that a second connection watches, with some blocks sold. */

import { Database } from 'bun:sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../../db/sqlite/open.ts'
import type { FakeLogger } from '../../support/fakes/logger.ts'
import { createTestPayment, TERMS } from '../../support/samples.ts'
import { BASE_URL, openWall, createPaidInit } from '../../support/service/wall.ts'

/** A wall to send requests to. */
export type FuzzWall = {
  readonly logger: FakeLogger
  handle(request: Request): Promise<Response>
  /** Serves on a free port; returns host and port. */
  listen(): string
  /**
   * Returns a number that changes whenever a row of the database changes. It first waits for purchases in progress,
   * because a purchase still writes a row after its response is sent.
   */
  readRowsVersion(): Promise<number>
  close(): Promise<void>
}

/** How many wallets own a block: the nth wallet owns the block `n,0`. */
export const OWNERS = 8

/** Opens the wall and sells the owners their blocks. */
export async function openFuzzWall(): Promise<FuzzWall> {
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-fuzz-'))
  const path = join(folder, 'wall.sqlite')
  const db = await openSqlite(path, TERMS.network)
  const { app: wall, live, logger, waitUntilIdle } = await openWall({}, db)
  const handle = async (request: Request): Promise<Response> => await wall.handle(request)
  for (let owner = 1; owner <= OWNERS; owner++) {
    const { status } = await handle(
      new Request(`${BASE_URL}/blocks/${owner},0`, createPaidInit(createTestPayment(owner, owner))),
    )
    if (status !== 200) throw new Error(`an owner could not buy: ${status}`)
  }
  const eyes = new Database(path, { readonly: true })
  const version = eyes.query<{ data_version: number }, []>('PRAGMA data_version')
  return {
    logger,
    handle,
    listen() {
      wall.listen({ hostname: '127.0.0.1', port: 0 })
      return `127.0.0.1:${wall.server?.port}`
    },
    async readRowsVersion() {
      await waitUntilIdle()
      return version.get()?.data_version ?? 0
    },
    async close() {
      live.close()
      await wall.server?.stop(true)
      eyes.close()
      db.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
