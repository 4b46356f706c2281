import { expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDisk } from '../../../db/sqlite/file/wal-sync.ts'
import { openSqlite, openWall, createPorts } from '../../../db/sqlite/open.ts'
import { StoreBroken } from '../../../server/domain/failure.ts'
import { catchFailure, reserveTarget, sellBlock } from '../../support/engine.ts'
import { parseBlockOrThrow, createTestEdit, NOW, createTestPayment, TERMS } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

// Goal: everything acknowledged or published is on the disk, and other reads do not wait for the disk. Method: real
// files, and a stand-in for the disk that is slow or fails as a test requires.

const folder = createScratchFolder()

const block = parseBlockOrThrow('3,4')

/** A wall with one block sold, on a disk that is flushed with `flush`. */
async function openWallOn(name: string, flush: () => Promise<void>, onBroken: () => void = () => {}) {
  const path = join(folder, name)
  const before = await openSqlite(path, TERMS.network)
  await sellBlock(before, '3,4', 1, 1)
  before.close()
  const disk = { soon: setImmediate, flush, close: () => {} }
  const connection = openWall(path, TERMS.network, { disk, onBroken })
  return { ...createPorts(connection), [Symbol.dispose]: connection.close }
}

/** Creates a disk whose flush ends when the test calls `done`; `asked` resolves at the first flush. */
function createSlowDisk() {
  const [asked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const flush = () => {
    asked.resolve()
    return done.promise
  }
  return { flush, asked: asked.promise, done: done.resolve }
}

test('an edit is not acknowledged, and followers do not see it, until it is on the disk', async () => {
  const disk = createSlowDisk()
  using wall = await openWallOn('slow.sqlite', disk.flush)
  const heard: unknown[] = []
  const editing = wall.blocks
    .edit(block, createTestEdit(1, { message: 'painted' }), NOW)
    .then((result) => heard.push(result))
  await disk.asked
  const following = wall.log.readAfter(1, 9).then((changes) => heard.push(changes.length))
  // The availability of a block can be read in the meantime.
  expect(await wall.ledger.checkSpace(block)).toBe('claimed')
  expect(heard).toEqual([])
  disk.done()
  await Promise.all([editing, following])
  expect(new Set(heard)).toEqual(new Set([1, 'applied']))
})

test('a claim is not acknowledged, and cannot be looked up by its payment, until it is on the disk', async () => {
  const disk = createSlowDisk()
  using wall = await openWallOn('claim.sqlite', disk.flush)
  const heard: unknown[] = []
  const claiming = reserveTarget(wall, parseBlockOrThrow('5,4'), createTestPayment(1, 2)).then(({ state }) =>
    heard.push(state.kind),
  )
  await disk.asked
  const finding = wall.ledger.find(createTestPayment(1, 2)).then((purchase) => heard.push(purchase?.state.kind))
  await new Promise(setImmediate)
  expect(heard).toEqual([])
  disk.done()
  await Promise.all([claiming, finding])
  expect(heard).toEqual(['reserved', 'reserved'])
})

test('a power cut loses no acknowledged edit', async () => {
  // After a flush, the disk is certain to have what the files contained when the flush began.
  let saved = 0
  let begun = 0
  const locateCut = (at: number) => join(folder, `cut-${at}.sqlite`)
  const flush = async () => {
    const at = ++begun
    for (const ending of ['', '-wal']) copyFileSync(join(folder, `cut.sqlite${ending}`), locateCut(at) + ending)
    await new Promise(setImmediate)
    saved = at
  }
  using wall = await openWallOn('cut.sqlite', flush)
  const answered: { readonly nonce: number; readonly saved: number }[] = []
  const editBlock = async (nonce: number) => {
    await wall.blocks.edit(block, createTestEdit(nonce, { message: `edit ${nonce}` }), NOW)
    answered.push({ nonce, saved })
  }
  for (const batch of [[1], [2, 3], [4, 5, 6]]) await Promise.all(batch.map(editBlock))
  expect(answered.map(({ saved: at }) => at)).toEqual([1, 2, 2, 3, 3, 3])
  for (const { nonce, saved: at } of answered) {
    const restarted = await openSqlite(locateCut(at), TERMS.network)
    const edits = (await restarted.log.readAfter(1, 99)).map((change) => 'content' in change && change.content.message)
    restarted.close()
    expect(edits).toContain(`edit ${nonce}`)
  }
})

test('a disk that fails after the commit of an edit is reported immediately, and the edit is not acknowledged', async () => {
  let broken = 0
  using wall = await openWallOn(
    'failing.sqlite',
    () => Promise.reject(new Error('EIO')),
    () => void broken++,
  )
  expect(await catchFailure(wall.blocks.edit(block, createTestEdit(1), NOW))).toBeInstanceOf(StoreBroken)
  expect(broken).toBe(1)
})

test('a flush covers the write-ahead log, and fails if that file does not exist', async () => {
  const path = join(folder, 'real.sqlite')
  const wall = await openSqlite(path, TERMS.network)
  const disk = createDisk(path)
  await disk.flush?.()
  disk.close()
  wall.close()
  // A closed database is a single file, without a write-ahead log.
  expect(await catchFailure(Promise.try(() => createDisk(path).flush?.()))).toMatchObject({ code: 'ENOENT' })
})

test('closing a database during a flush causes no error, and the edit in progress is applied', async () => {
  let broken = 0
  const path = join(folder, 'closing.sqlite')
  const wall = await openSqlite(path, TERMS.network, { onBroken: () => void broken++ })
  await sellBlock(wall, '3,4', 1, 1)
  await wall.blocks.edit(block, createTestEdit(1, { message: 'first' }), NOW)
  const later = wall.blocks.edit(block, createTestEdit(2, { message: 'last' }), NOW)
  await new Promise(setImmediate)
  wall.close()
  expect(await later).toBe('applied')
  expect(broken).toBe(0)
})
