/** The real ledger for histories: a small wall on SQLite. Each history gets a fresh copy of a prepared file. */

import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { readStatement } from '../../../db/purchase/books.ts'
import type { Connection } from '../../../db/sqlite/connection.ts'
import { createSqliteDriver } from '../../../db/sqlite/driver.ts'
import { openWall, createPorts } from '../../../db/sqlite/open.ts'
import type { Address, Hash, PaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { Purchase } from '../../../server/domain/purchase/purchase.ts'
import type { Ledger } from '../../../server/ports.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { readSettledResult } from '../../support/scheduler.ts'
import { sellsAreas } from './areas.ts'
import type { Book, OpenBook, Sale } from './ledger-model.ts'
import { TERMS } from './samples.ts'
import { hasOperator } from './world.ts'

// One in this many histories is played with the real engine, which is slower, and the others with a model of its port.
// The share is half as large among histories with areas, because their files keep every block of the wall.
const REAL_EVERY = 200

// A history on a wide wall has several times as many events as other histories, so fewer use the real engine.
const WIDE_REAL_EVERY = 2000

/**
 * Whether a history is played with the real engine. Every history with an operator is, and so is a share of the others,
 * including some with two servers or a wide wall.
 */
export function usesRealBook(seed: number): boolean {
  const every = sellsAreas(seed) ? 2 * REAL_EVERY : REAL_EVERY
  return (
    hasOperator(seed) ||
    seed % every === REAL_EVERY / 2 + 1 ||
    seed % (4 * every) === 4 * REAL_EVERY - 1 ||
    seed % WIDE_REAL_EVERY === 0
  )
}

/** Creates temporary walls on the real engine; `close` deletes all their files. */
export function openRealBooks(): { readonly open: OpenBook; close(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'pixel-wall-sim-'))
  const prepared = new Set<string>()
  let count = 0
  return {
    async open(wall, sells) {
      const blank = join(folder, `blank-${sells}-${wall.length}`)
      if (!prepared.has(blank)) prepareWall(blank, wall, sells)
      prepared.add(blank)
      const path = join(folder, `wall-${(count += 1)}`)
      copyFileSync(blank, path)
      let opened = openBook(path)
      return {
        get ledger() {
          return opened.ledger
        },
        get paint() {
          return opened.paint
        },
        findRow: (key) => opened.findRow(key),
        readHolders: () => opened.readHolders(),
        listPayees: () => opened.listPayees(),
        listSales: (after) => opened.listSales(after),
        vault: {
          get ports() {
            return opened.ports
          },
          saveCopy: (number) => copyFileSync(path, `${path}-copy-${number}`),
          restoreCopy(number) {
            opened.close()
            copyFileSync(`${path}-copy-${number}`, path)
            opened = openBook(path)
          },
        },
        close() {
          opened.close()
          for (const name of readdirSync(folder))
            if (name === basename(path) || name.startsWith(`${basename(path)}-copy-`)) rmSync(join(folder, name))
        },
      }
    },
    close: () => rmSync(folder, { recursive: true }),
  }
}

/** Opens the book in a file. The file stays open until the book is closed. */
function openBook(path: string) {
  // The disk uses microtasks, because a step of a history runs nothing else.
  const connection = openWall(path, TERMS.network, { disk: { soon: queueMicrotask, close: () => {} } })
  // These settings are safe: the file is temporary, nobody else opens it, and a power cut is not simulated.
  connection.run('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY')
  const { ledger, blocks, agents, log, checkpoint, payouts, store } = createPorts(connection)
  const driver = createSqliteDriver(connection)
  return {
    ledger,
    paint: { blocks, agents, log },
    ports: { checkpoint, payouts, store, audit: { readStatement: () => driver.query(readStatement) } },
    findRow: createRowReader(connection, ledger),
    readHolders: createHolderReader(connection),
    listPayees: checkpoint.listPayees,
    async listSales(after: number): Promise<readonly Sale[]> {
      const changes = await log.readAfter(0, 2000)
      return changes.flatMap((change) =>
        change.kind === 'sale' && change.seq > after
          ? [{ seq: change.seq, block: change.block, at: change.at, message: change.content.message }]
          : [],
      )
    },
    close: () => connection.close(),
  }
}

/** Creates a reader that caches rows, because observers read far more often than the ledger writes. */
function createRowReader(connection: Connection, ledger: Ledger): Book['findRow'] {
  const rows = new Map<string, Purchase | undefined>()
  let version = -1
  return (key) => {
    if (version !== connection.getVersion()) rows.clear()
    version = connection.getVersion()
    if (!rows.has(key)) rows.set(key, readSettledResult(ledger.find(parsePaymentKey(key))))
    return rows.get(key)
  }
}

function createHolderReader(connection: Connection): Book['readHolders'] {
  const rows = connection.prepare<{ block: BlockIndex; payment: string }>(
    `SELECT b.i AS block, p.payer || ':' || p.nonce AS payment FROM blocks AS b JOIN payments AS p ON p.id = b.payment`,
  )
  return () => new Map(rows.all({}).map(({ block, payment }) => [block, payment] as const))
}

function parsePaymentKey(key: string): PaymentKey {
  const [payer, nonce] = key.split(':')
  return { payer: payer as Address, nonce: nonce as Hash }
}

/**
 * Prepares a wall of only these blocks. For areas, the other blocks exist but are damaged, so that nobody can buy them.
 */
function prepareWall(path: string, wall: readonly BlockIndex[], sells: 'blocks' | 'areas'): void {
  const connection = openWall(path, TERMS.network)
  const others = `WHERE i NOT IN (${wall.join(', ')})`
  connection.run(sells === 'blocks' ? `DELETE FROM blocks ${others}` : `UPDATE blocks SET sum = zeroblob(8) ${others}`)
  connection.run('PRAGMA journal_mode = DELETE; VACUUM')
  connection.close()
}
