import { Database, SQLiteError } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { cpSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { toErrorAtCommit, toErrorBeforeCommit } from '../../../db/sqlite/errors.ts'
import { openSqlite, openWall, createPorts } from '../../../db/sqlite/open.ts'
import { StoreBroken, StoreUnavailable } from '../../../server/domain/failure.ts'
import { isBehind } from '../../../server/domain/store-position.ts'
import { catchFailure, sellBlock } from '../../support/engine.ts'
import {
  toHash,
  HEAD,
  createTestListing,
  NOW,
  createTestPayment,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

// Goal: everything acknowledged is kept and a failed step leaves nothing behind, however a process ends or a disk fills
// up. Method: a child process sells on a real file and is killed; limits of the operating system stand in for a failing
// disk.

const folder = createScratchFolder()

const seller = Bun.fileURLToPath(import.meta.resolve('./seller.ts'))

/** Starts a seller, which inherits the limits that the shell command `limit` sets. */
function startSeller(path: string, first: number, limit = 'true') {
  const command = `${limit}; exec "$0" "$@"`
  const child = Bun.spawn(['sh', '-c', command, process.execPath, seller, path, String(first)], { stdout: 'pipe' })
  return { child, lines: readLines(child.stdout) }
}

async function* readLines(output: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of output) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

test('every acknowledged sale survives kill -9, and the numbers of sales have no gap after the restart', async () => {
  const path = join(folder, 'killed.sqlite')
  const acknowledged: number[] = []
  for (const round of [1, 2, 3]) {
    const { child, lines } = startSeller(path, round * 1000)
    for await (const line of lines) {
      if (line === 'open') continue
      acknowledged.push(Number(line))
      if (acknowledged.length >= round * 40 && !child.killed) child.kill('SIGKILL')
    }
    await child.exited
  }
  const { ledger, log, close } = await openSqlite(path, TERMS.network)
  expect(acknowledged.length).toBeGreaterThanOrEqual(120)
  for (const nonce of acknowledged)
    expect((await ledger.find({ payer: createWalletAddress(nonce), nonce: toHash(nonce) }))?.state.kind).toBe('sold')
  const sales = await log.readAfter(0, 10_000)
  // At most one sale per round was committed without an acknowledgement.
  expect(sales.length - acknowledged.length).toBeWithin(0, 4)
  expect(sales.map((change) => change.kind === 'sale' && change.seq)).toEqual(sales.map((_, at) => at + 1))
  close()
})

test('a disk that fails at commit breaks the store, and after a restart everything acknowledged is still stored', async () => {
  const path = join(folder, 'limited.sqlite')
  ;(await openSqlite(path, TERMS.network)).close()
  // The write-ahead log exceeds the file size limit before a checkpoint copies it into the main file.
  const { lines } = startSeller(path, 1, `trap '' XFSZ; ulimit -f 6000`)
  const said = await Array.fromAsync(lines)
  expect(said.at(-1)).toBe('StoreBroken')
  const { log, close } = await openSqlite(path, TERMS.network)
  const sales = await log.readAfter(0, 10_000)
  expect(sales.length).toBeGreaterThanOrEqual(said.length - 2)
  close()
})

test('on a full disk, a claim is rejected as a whole, reads continue, and the same claim succeeds once there is space', async () => {
  const connection = openWall(join(folder, 'full.sqlite'), TERMS.network)
  const { ledger, log, store } = createPorts(connection)
  connection.run('PRAGMA max_page_count = 1')
  let nonce = 0
  // Each step has its own payer, so a rejected step can be repeated unchanged.
  const claimNext = () => ledger.claim('next', createTestPayment(nonce, nonce), createTestListing(), HEAD, NOW, [])
  const failure = await (async () => {
    for (;;) {
      nonce++
      try {
        await claimNext()
      } catch (error) {
        return error
      }
    }
  })()
  expect(failure).toBeInstanceOf(StoreUnavailable)
  expect(failure).not.toBeInstanceOf(StoreBroken)
  expect(String(failure)).not.toMatch(/insert|update|payments/i)
  const before = [
    await log.readAfter(0, 9999),
    await ledger.find(createTestPayment(nonce, nonce)),
    await ledger.checkSpace('next'),
  ]
  expect(await catchFailure(claimNext())).toBeInstanceOf(StoreUnavailable)
  const after = [
    await log.readAfter(0, 9999),
    await ledger.find(createTestPayment(nonce, nonce)),
    await ledger.checkSpace('next'),
  ]
  expect(after).toEqual(before)
  expect(await store.isReadable()).toBe(true)
  connection.run('PRAGMA max_page_count = 100000')
  expect(await claimNext()).toMatchObject({ kind: 'claimed' })
  connection.close()
})

describe('an error of SQLite', () => {
  /** Creates an error of SQLite and replaces its code, because only SQLite itself can create such errors. */
  const createError = (code: string) => {
    try {
      new Database(':memory:').run('SELECT secret')
    } catch (error) {
      if (error instanceof SQLiteError) return Object.create(error, { code: { value: code } })
    }
    throw new Error('the statement should have failed')
  }

  test.each([
    ['SQLITE_BUSY_SNAPSHOT', 'StoreUnavailable', 'StoreUnavailable'],
    ['SQLITE_FULL', 'StoreUnavailable', 'StoreUnavailable'],
    ['SQLITE_READONLY_DBMOVED', 'StoreUnavailable', 'StoreUnavailable'],
    ['SQLITE_CORRUPT_INDEX', 'StoreUnavailable', 'StoreUnavailable'],
    ['SQLITE_IOERR_READ', 'StoreUnavailable', 'StoreBroken'],
    ['SQLITE_IOERR_FSYNC', 'StoreUnavailable', 'StoreBroken'],
    ['SQLITE_CONSTRAINT_UNIQUE', 'itself', 'itself'],
    ['SQLITE_ERROR', 'itself', 'itself'],
  ])('the SQLite error %s is thrown as %s before commit and as %s at commit', (code, before, at) => {
    const error = createError(code)
    const describeThrown = (thrown: unknown) => (thrown === error ? 'itself' : thrown instanceof Error && thrown.name)
    expect([describeThrown(toErrorBeforeCommit(error)), describeThrown(toErrorAtCommit(error))]).toEqual([before, at])
  })
})

describe.each(['copied over', 'moved to'] as const)(
  'an older copy that is %s the path of a running wall’s file',
  (way) => {
    test('if an older copy replaces the file of a running wall, nothing is sold twice, and the next start detects whether the copy is in use', async () => {
      const path = join(folder, `${way}.sqlite`)
      const first = await openSqlite(path, TERMS.network)
      await sellBlock(first, '3,4', 1, 1)
      first.close()
      cpSync(path, `${path}.copy`)
      const wall = await openSqlite(path, TERMS.network)
      const sold = await sellBlock(wall, '5,6', 2, 2)
      const seen = await wall.store.readPosition()
      if (way === 'copied over') cpSync(`${path}.copy`, path)
      else renameSync(`${path}.copy`, path)
      expect(await wall.ledger.find(createTestPayment(2, 2))).toEqual(sold)
      expect(
        await wall.ledger.claim(sold.block, createTestPayment(3, 3), createTestListing(), HEAD, NOW, []),
      ).toMatchObject({
        kind: 'lost',
      })
      wall.close()
      const next = await openSqlite(path, TERMS.network)
      expect(isBehind(await next.store.readPosition(), seen)).toBe(way === 'moved to')
      next.close()
    })
  },
)
