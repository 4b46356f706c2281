import { Database } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CannotOpen } from '../../../db/cannot-open.ts'
import type { DamagedRow } from '../../../db/row-checksums.ts'
import { openSqlite, openSqliteUnchecked, openWall, createPorts, type Sqlite } from '../../../db/sqlite/open.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { toCanvasBlock, toFeedPage, type WallView } from '../../../server/domain/wall/wall-view.ts'
import { followLog } from '../../../server/instances/follow-log.ts'
import { CLAIM_ORDER } from '../../../shared/wall.ts'
import { catchFailure, reserveTarget, sellBlock } from '../../support/engine.ts'
import { createPrng } from '../../support/prng.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  createTestIdentity,
  createTestListing,
  NOW,
  createTestPayment,
  createPixels,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { WAYS } from './ways.ts'

// Goal: no flipped bit in the file is ever served as if it were valid. Method: bits of a real file are flipped while no
// process has it open; then every read of the store is compared with the same read before the flip.

const folder = createScratchFolder()

const SALES = 60
// To flip more bits and print a report, run `FLIPS=1000 TELL=1 bun test test/engine/db/damage`.
const ROUNDS = Number(Bun.env['FLIPS'] ?? 20)
const keys = Array.from({ length: SALES }, (_, at) => ({
  payer: createWalletAddress(1 + (at % 7)),
  nonce: toHash(at + 1),
}))
const path = join(folder, 'wall.sqlite')
const EDITED = parseBlockOrThrow('80,45')

beforeAll(async () => {
  const wall = await openSqlite(path, TERMS.network)
  for (const at of keys.keys())
    await sellBlock(
      wall,
      'next',
      1 + (at % 7),
      at + 1,
      createTestListing({ message: `sale ${at}`, pixels: createPixels(at) }),
    )
  const painted = (await wall.ledger.find(keys[3] ?? createKey(0)))?.block ?? EDITED
  await wall.blocks.edit(painted, createTestEdit(1, { message: 'repainted' }), NOW)
  await wall.agents.register(createWalletAddress(2), createTestIdentity(2, { name: 'Bob' }), NOW)
  await reserveTarget(wall, parseBlockOrThrow('0,0'), createTestPayment(9, 999))
  wall.close()
})

const createKey = (at: number) => createTestPayment(1, at)

/** Returns the results of all reads that readers and buyers make, one by one; `null` for an error of the store. */
async function readEverything(wall: Omit<Sqlite, 'close'>): Promise<unknown[]> {
  const { view } = await followLog(wall.log)
  const readToOutcome = async (work: unknown) => {
    try {
      return await work
    } catch (error) {
      if (error instanceof StoreUnavailable) return null
      throw error
    }
  }
  const blocks = [...view.claimed.keys()]
  return [
    toFeedPage(view, { after: 0, limit: 1000 }).sales.length,
    view.canvas,
    ...blocks.map((block) => toCanvasBlock(view, block)),
    ...(await Promise.all(keys.map((key) => readToOutcome(wall.ledger.find(key))))),
    ...(await Promise.all(blocks.map((block) => readToOutcome(wall.blocks.findOwned(block))))),
    ...(await Promise.all(keys.map(({ payer }) => readToOutcome(wall.ledgerReader.readAccount(payer))))),
    await readToOutcome(wall.ledgerReader.listHeld()),
    await readToOutcome(wall.ledger.find(createTestPayment(9, 999))),
    await readToOutcome(wall.ledger.checkSpace(parseBlockOrThrow('0,0'))),
    await readToOutcome(wall.ledger.checkSpace(parseBlockOrThrow('159,89'))),
  ]
}

test(
  'no flipped bit in the file changes the result of a read unless the damage is also reported',
  async () => {
    const whole = await Bun.file(path).bytes()
    const before = await openSqlite(path, TERMS.network)
    const truth = await readEverything(before)
    before.close()
    const prng = createPrng(4)
    const seen = { refused: 0, noticed: 0, harmless: 0, silent: [] as string[] }
    const copy = join(folder, 'flipped.sqlite')
    for (let round = 0; round < ROUNDS; round++) {
      const at = prng.nextInt(whole.length)
      const bit = 1 << prng.nextInt(8)
      const flipped = whole.slice()
      flipped[at] = (flipped[at] ?? 0) ^ bit
      await Bun.write(copy, flipped)
      const damaged: DamagedRow[] = []
      let connection
      try {
        connection = openWall(copy, TERMS.network, { onDamaged: (row) => damaged.push(row) })
      } catch (error) {
        expect([at, error instanceof CannotOpen ? '' : error]).toEqual([at, ''])
        seen.refused++
        continue
      }
      const answers = await readEverything(createPorts(connection))
      connection.close()
      const changed = answers.filter((answer, which) => answer !== null && !Bun.deepEquals(answer, truth[which]))
      if (changed.length > 0 && damaged.length === 0) seen.silent.push(`${at}.${bit}: ${JSON.stringify(changed[0])}`)
      else if (damaged.length > 0) seen.noticed++
      else seen.harmless++
    }
    expect(seen.silent).toEqual([])
    expect(seen.noticed + seen.refused).toBeGreaterThan(ROUNDS / 10)
    if (Bun.env['TELL'] === '1') console.log(seen)
  },
  { timeout: ROUNDS * 1000 },
)

describe('damage to the history alone', () => {
  const REPAINTS = 300
  const history = join(folder, 'history.sqlite')
  const ofOldRepaint = 'old repaint 17'

  beforeAll(async () => {
    await Bun.write(history, Bun.file(path))
    const wall = await openSqlite(history, TERMS.network)
    const block = (await wall.ledger.find(keys[0] ?? createKey(0)))?.block ?? EDITED
    for (let at = 0; at < REPAINTS; at++) {
      const ts = NOW + at
      await wall.blocks.edit(block, createTestEdit(100 + at, { message: `old repaint ${at}`, ts }), ts)
    }
    wall.close()
  })

  test('a damaged entry of the history does not prevent a start, is never served, and is reported', async () => {
    const copy = join(folder, 'damaged-history.sqlite')
    await Bun.write(copy, Bun.file(history))
    const vandal = new Database(copy)
    vandal.run(`DROP TRIGGER changes_are_never_rewritten;
      UPDATE changes SET message = 'forged' WHERE message = '${ofOldRepaint}'`)
    vandal.close(true)
    const damaged: DamagedRow[] = []
    const { store, checked, checkHistory } = await openSqliteUnchecked(copy, TERMS.network, {
      onDamaged: (row) => damaged.push(row),
    })
    expect(await checked).toBe('whole')
    expect(damaged).toEqual([])
    expect(await catchFailure(store.log.readAfter(0, 1000))).toBeInstanceOf(StoreUnavailable)
    const messages = (await store.log.readAfter(0, 1000)).map((change) => 'content' in change && change.content.message)
    expect(messages).toContain('old repaint 16')
    expect(messages).not.toContain('forged')
    await checkHistory()
    expect(damaged).toEqual([{ table: 'changes', row: expect.any(Number) }])
    store.close()
  })

  test('an unreadable history does not prevent a start, but the later check of the history fails', async () => {
    const copy = join(folder, 'broken-history.sqlite')
    const bytes = await Bun.file(history).bytes()
    // The page with the entry loses its header, and with it all its rows.
    const page = new DataView(bytes.buffer).getUint16(16)
    const at = Buffer.from(bytes).indexOf(ofOldRepaint)
    bytes.fill(0, at - (at % page), at - (at % page) + 8)
    await Bun.write(copy, bytes)
    const { store, checked, checkHistory } = await openSqliteUnchecked(copy, TERMS.network)
    expect(await checked).toBe('whole')
    expect(await catchFailure(checkHistory())).toBeInstanceOf(CannotOpen)
    store.close()
  })
})

describe.each(WAYS)('a damaged row in a file that is opened %s', (_, open) => {
  const [first, second] = [keys[0] ?? createKey(0), keys[1] ?? createKey(0)]

  /** Opens a wall after foreign SQL ran on its file; `damaged` collects the damaged rows that are found. */
  async function openDamagedWall(sql: string) {
    const copy = join(folder, `${crypto.randomUUID()}.sqlite`)
    await Bun.write(copy, Bun.file(path))
    const vandal = new Database(copy)
    vandal.run(`DROP TRIGGER changes_are_never_rewritten; DROP TRIGGER payments_at_their_end_stay_there; ${sql}`)
    vandal.close(true)
    const damaged: DamagedRow[] = []
    const wall = await open(copy, TERMS.network, { onDamaged: (row) => damaged.push(row) })
    return { wall, damaged }
  }

  test('if the row of a payment is damaged, looking up the payment fails instead of finding nothing, and other payers can buy', async () => {
    for (const column of [`payer = '${createWalletAddress(99)}'`, `nonce = '${toHash(4711)}'`, `tx = '${toHash(1)}'`]) {
      const { wall, damaged } = await openDamagedWall(`UPDATE payments SET ${column} WHERE id = 2`)
      expect(damaged).toEqual([{ table: 'payments', row: 2 }])
      expect(await catchFailure(wall.ledger.find(second))).toBeInstanceOf(StoreUnavailable)
      expect(await catchFailure(wall.ledger.find(second))).toBeInstanceOf(StoreUnavailable)
      expect((await wall.ledger.find(first))?.state.kind).toBe('sold')
      await sellBlock(wall, 'next', 50, 5000)
      expect(damaged).toHaveLength(1)
      wall.close()
    }
  })

  test('if the row of a block is damaged, reads and repaints of the block fail, and the log still shows the content that the owner set', async () => {
    const { wall, damaged } = await openDamagedWall(
      `UPDATE blocks SET message = 'forged' WHERE i = (SELECT block FROM payments WHERE id = 1)`,
    )
    const block = (await wall.ledger.find(first))?.block ?? EDITED
    expect(damaged).toEqual([{ table: 'blocks', row: block }])
    expect(await catchFailure(wall.blocks.findOwned(block))).toBeInstanceOf(StoreUnavailable)
    expect(await catchFailure(wall.blocks.edit(block, createTestEdit(7, { message: 'mine' }), NOW))).toBeInstanceOf(
      StoreUnavailable,
    )
    const { view } = await followLog(wall.log)
    expect(toCanvasBlock(view, block)?.m).toBe('sale 0')
    wall.close()
  })

  test('if the row of an open block is damaged, the block is not sold, and an order for the next block skips it', async () => {
    const { wall } = await openDamagedWall(
      `UPDATE blocks SET rank = rank + 100000 WHERE i = (SELECT i FROM blocks WHERE state = 'open' ORDER BY rank LIMIT 1)`,
    )
    const { block } = await sellBlock(wall, 'next', 50, 5000)
    const passedBy = CLAIM_ORDER[SALES]
    expect([block, passedBy]).toEqual([CLAIM_ORDER[SALES + 1], expect.any(Number)])
    expect(await catchFailure(wall.ledger.checkSpace(passedBy ?? EDITED))).toBeInstanceOf(StoreUnavailable)
    wall.close()
  })

  test('if an entry of the log is damaged, its effect is read from the tables', async () => {
    for (const number of [4, SALES + 1, SALES + 2]) {
      const whole = await openDamagedWall('SELECT 1')
      const { wall, damaged } =
        await openDamagedWall(`UPDATE changes SET message = 'forged' WHERE number = ${number} AND kind <> 'identity';
        UPDATE changes SET name = 'forged' WHERE number = ${number} AND kind = 'identity'`)
      expect(damaged).toEqual([{ table: 'changes', row: number }])
      const views = await Promise.all([followLog(wall.log), followLog(whole.wall.log)])
      // Only the time of the entry is lost.
      const listDeeds = (view: WallView) => [...view.claimed].map(([block, deed]) => [block, { ...deed, changedAt: 0 }])
      const [found, truth] = views.map(({ view }) => [view.canvas, listDeeds(view), view.agents, view.number])
      expect(found).toEqual(truth)
      wall.close()
      whole.wall.close()
    }
  })

  test('if the row of an agent is damaged, the blocks of the agent are shown with the wallet that paid, and the agent cannot be renamed', async () => {
    const { wall, damaged } = await openDamagedWall(
      `UPDATE agents SET wallet = '${createWalletAddress(99)}' WHERE id = 2`,
    )
    expect(damaged).toEqual([{ table: 'agents', row: 2 }])
    const { view } = await followLog(wall.log)
    expect(view.agents[1]?.wallet).toBe(createWalletAddress(2))
    expect(
      await catchFailure(wall.agents.register(createWalletAddress(99), createTestIdentity(8, { name: 'Eve' }), NOW)),
    ).toBeInstanceOf(StoreUnavailable)
    wall.close()
  })
})
