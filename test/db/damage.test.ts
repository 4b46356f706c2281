import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CannotOpen } from '../../db/sqlite/errors.ts'
import { openSqlite, openWall, ports, type Sqlite } from '../../db/sqlite/open.ts'
import type { DamagedRow } from '../../db/sqlite/sums.ts'
import { StoreUnavailable } from '../../server/domain/failure.ts'
import { canvasBlock, feedPage } from '../../server/domain/wall-view.ts'
import { followLog } from '../../server/usecases/follow-log.ts'
import { hold, sell } from '../ports/engine.ts'
import {
  blockOf,
  editOf,
  hash,
  identityOf,
  listingOf,
  NOW,
  paymentOf,
  pixelsOf,
  TERMS,
  wallet,
} from '../ports/samples.ts'

// Goal: no bit that turns over in the file is ever served as if it were true. Method: bytes of a real file are flipped
// while nobody has it open; what the store then tells is compared with what it told before, row by row.

const folder = mkdtempSync(join(tmpdir(), 'wall-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SALES = 60
const ROUNDS = Number(Bun.env['FLIPS'] ?? 80)
const keys = Array.from({ length: SALES }, (_, at) => ({ payer: wallet(1 + (at % 7)), nonce: hash(at + 1) }))
const path = join(folder, 'wall.sqlite')
const EDITED = blockOf('80,45')

beforeAll(async () => {
  const wall = await openSqlite(path, TERMS.network)
  for (const at of keys.keys())
    await sell(wall, 'next', 1 + (at % 7), at + 1, listingOf({ message: `sale ${at}`, pixels: pixelsOf(at) }))
  const painted = (await wall.ledger.find(keys[3] ?? keyOf(0)))?.block ?? EDITED
  await wall.blocks.edit(painted, editOf(1, { message: 'repainted' }), NOW)
  await wall.agents.identify(wallet(2), identityOf(2, { name: 'Bob' }), NOW)
  await hold(wall, blockOf('0,0'), paymentOf(9, 999))
  wall.close()
})

const keyOf = (at: number) => paymentOf(1, at)

/** Everything a reader or a buyer could be told, each answer on its own; a refusal of the store is `null`. */
async function toldBy(wall: Omit<Sqlite, 'close'>): Promise<unknown[]> {
  const { view } = await followLog(wall.log)
  const told = async (work: Promise<unknown>) => {
    try {
      return await work
    } catch (error) {
      if (error instanceof StoreUnavailable) return null
      throw error
    }
  }
  const blocks = [...view.claimed.keys()]
  return [
    feedPage(view, { after: 0, limit: 1000 }).sales.length,
    view.canvas,
    ...blocks.map((block) => canvasBlock(view, block)),
    ...(await Promise.all(keys.map((key) => told(wall.ledger.find(key))))),
    ...(await Promise.all(blocks.map((block) => told(wall.blocks.owned(block))))),
    ...(await Promise.all(keys.map(({ payer }) => told(wall.books.ofPayer(payer))))),
    await told(wall.books.held()),
    await told(wall.ledger.find(paymentOf(9, 999))),
    await told(wall.ledger.space(blockOf('0,0'))),
    await told(wall.ledger.space(blockOf('159,89'))),
  ]
}

/** Numbers that are the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test(
  'of bits turned over in the file none changes what anyone is told: it is noticed, or it meant nothing',
  async () => {
    const whole = await Bun.file(path).bytes()
    const before = await openSqlite(path, TERMS.network)
    const truth = await toldBy(before)
    before.close()
    const roll = dice(4)
    const seen = { refused: 0, noticed: 0, harmless: 0, silent: [] as string[] }
    const copy = join(folder, 'flipped.sqlite')
    for (let round = 0; round < ROUNDS; round++) {
      const at = roll(whole.length)
      const bit = 1 << roll(8)
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
      const told = await toldBy(ports(connection))
      connection.close()
      const changed = told.filter((answer, which) => answer !== null && !Bun.deepEquals(answer, truth[which]))
      if (changed.length > 0 && damaged.length === 0) seen.silent.push(`${at}.${bit}: ${JSON.stringify(changed[0])}`)
      else if (damaged.length > 0) seen.noticed++
      else seen.harmless++
    }
    expect(seen.silent).toEqual([])
    expect(seen.noticed + seen.refused).toBeGreaterThan(ROUNDS / 10)
    if (Bun.env['TELL'] === '1') console.log(seen)
  },
  { timeout: 60_000 },
)
