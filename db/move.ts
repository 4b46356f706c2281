/**
 * Moves a wall: copies it from one engine into an empty database of the other, row by row and unchanged, and compares
 * the copy with the original before the move is final.
 */

import { resolve } from 'node:path'
import { StoreUnavailable } from '../server/domain/failure.ts'
import type { Database } from '../server/domain/store-position.ts'
import {
  applyChange,
  toCanvasAgents,
  toCanvasBlock,
  createEmptyView,
  toRegistry,
  computeStats,
} from '../server/domain/wall/wall-view.ts'
import type { Log } from '../server/ports.ts'
import { ALL_BLOCKS } from '../shared/wall.ts'
import { CannotOpen } from './cannot-open.ts'
import type { Bound } from './fragments.ts'
import {
  WALL_COLUMNS,
  WALL_TABLES,
  type WallRow,
  type WallTable,
  type Moving,
  type NewWall,
  type WallRows,
} from './wall-rows.ts'

/** The number of moved rows per table. */
export type Moved = Readonly<Partial<Record<WallTable, number>>>

/**
 * Moves a wall from one location to another. Throws `CannotOpen` if the move fails; the new location then stays empty
 * unless the message says otherwise.
 */
export async function moveWall(from: Database, to: Database, given: Omit<Moving, 'note'>): Promise<Moved> {
  const moving = { ...given, note: `has moved to ${formatLocation(to)} at ${new Date().toISOString()}` }
  try {
    if (from.kind === 'sqlite' && to.kind === 'postgres') return await moveToPostgres(from.path, to.url, moving)
    if (from.kind === 'postgres' && to.kind === 'sqlite') return await moveToSqlite(from.url, to.path, moving)
  } catch (error) {
    throw error instanceof StoreUnavailable ? new CannotOpen(error.message) : error
  }
  throw new CannotOpen(
    'the wall already uses that kind of database; to move the wall to another location, restore a backup there',
  )
}

/** A location as shown to the operator, without the secrets in its URL. */
export function formatLocation(place: Database): string {
  if (place.kind === 'sqlite') return resolve(place.path)
  const { host, pathname } = new URL(place.url)
  return `${host}${pathname}`
}

async function moveToPostgres(path: string, url: string, moving: Moving): Promise<Moved> {
  const [{ exportSqlite }, { importPostgres }] = await importEngines()
  return await exportSqlite(path, moving, (from, close) =>
    importPostgres(url, moving, (to) => copyWall(from, to), close),
  )
}

async function moveToSqlite(url: string, path: string, moving: Moving): Promise<Moved> {
  const [{ importSqlite }, { exportPostgres }] = await importEngines()
  return await exportPostgres(url, moving, (from, close) =>
    importSqlite(path, moving, (to) => copyWall(from, to), close),
  )
}

const importEngines = () => Promise.all([import('./sqlite/move.ts'), import('./postgres/move.ts')])

async function copyWall(from: WallRows, to: NewWall): Promise<Moved> {
  for (const table of WALL_TABLES) await copyTable(table, from, to)
  await to.finish()
  const moved: Partial<Record<WallTable, number>> = {}
  for (const table of WALL_TABLES) moved[table] = await compareTables(table, from, to)
  if ((await readLogState(from.log)) !== (await readLogState(to.log)))
    throw createCopyError('shows a different picture')
  return moved
}

async function copyTable(table: WallTable, from: WallRows, to: NewWall): Promise<void> {
  let sales = 0
  for await (const page of from.readPages(table)) {
    for (const row of page) {
      // Compaction may have removed old repaints, but it never removes sales.
      if (table === 'changes' && row.seq !== null && row.seq !== ++sales)
        throw new CannotOpen(`the log lacks sale ${sales}; restore an intact backup, and move the wall again`)
    }
    // Open blocks are not copied, because they are the same on every wall.
    const rows = page.filter(({ state }) => table !== 'blocks' || state !== 'open')
    if (rows.length > 0) await to.write(table, rows)
  }
}

/** Compares the written rows with the rows to move, value by value; returns the number of rows. */
async function compareTables(table: WallTable, from: WallRows, to: WallRows): Promise<number> {
  const [olds, news] = [from, to].map((wall) => wall.readPages(table)[Symbol.asyncIterator]())
  let count = 0
  for (;;) {
    const [old, made] = [await readNextPage(olds), await readNextPage(news)]
    if (old.length !== made.length) throw createCopyError(`has a different number of rows in ${table}`)
    if (old.length === 0) return count
    for (const [at, row] of made.entries()) {
      const before = old[at]
      if (before === undefined || !WALL_COLUMNS[table].every((column) => isSameValue(row[column], before[column])))
        throw createCopyError(`has a different row ${count + at + 1} in ${table}`)
    }
    count += old.length
  }
}

async function readNextPage(pages: AsyncIterator<readonly WallRow[]> | undefined): Promise<readonly WallRow[]> {
  const page = await pages?.next()
  return page === undefined || page.done === true ? [] : page.value
}

function isSameValue(one: Bound | undefined, other: Bound | undefined): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other) === 0
  return one === other && one !== undefined
}

/** Everything that readers derive from a log, as one text. */
async function readLogState(log: Log): Promise<string> {
  const view = createEmptyView()
  for (const change of await log.readCompacted()) applyChange(view, change)
  const blocks = ALL_BLOCKS.map((block) => toCanvasBlock(view, block))
  return JSON.stringify([view.number, computeStats(view), toCanvasAgents(view), blocks, toRegistry(view), view.sales])
}

const createCopyError = (how: string) =>
  new CannotOpen(`the copy ${how} and was discarded; this is a bug in the program`)
