import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Engine } from '../../../db/engine.ts'
import { openPostgres } from '../../../db/postgres/open.ts'
import { openSqlite, openWall } from '../../../db/sqlite/open.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { reserveTarget, sellBlock } from '../../support/engine.ts'
import { sellAllBut, sellAllButOnPostgres } from '../../support/nearly-sold.ts'
import { toHash, HEAD, NOW, createTestPayment, SILENT, TERMS, createWalletAddress } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { openPostgresWalls } from '../db/postgres/walls.ts'

// Goal: an accountant gets every movement of money once, in order. Method: the command as an operator types it, next to
// an open wall, on either engine.

const folder = createScratchFolder()
const { createWall: newWall } = openPostgresWalls()
const formatIso = (ms: number) => new Date(ms).toISOString()
const HEADER = 'time,kind,place,blocks,payer,nonce,amount,fee,currency,tx,network,reference'

/** Makes two sales, a credit that is paid back, stray money, and a refund of money that bought nothing. */
async function makeTrades(wall: Pick<Engine, 'ledger' | 'payouts'>): Promise<void> {
  await sellBlock(wall, '3,4', 1, 1)
  const area = await reserveTarget(
    wall,
    '10,20,4x3',
    createTestPayment(2, 2, { amount: 12_000_000n, accepted: { ...TERMS, scheme: 'exact', amount: 12_000_000n } }),
    SILENT,
    NOW + 1,
  )
  await wall.ledger.finalize(area, toHash(2), true, NOW + 1)
  const createKey = (number: number) => ({ payer: createWalletAddress(number), nonce: toHash(number) })
  await wall.payouts.recordCredit(
    { payment: createTestPayment(3, 3), target: 'next', listing: SILENT, head: HEAD },
    toHash(3),
    NOW + 2,
  )
  await wall.payouts.recordReference(createKey(3), '=HYPERLINK("x"),"y"', NOW + 3)
  await wall.payouts.recordReference(createKey(4), 'stray', NOW + 4)
  await wall.payouts.recordReference(createKey(5), 'refund 5', NOW + 5)
}

const engines = {
  SQLite: async () => {
    const path = join(folder, 'wall.sqlite')
    return { settings: { DATABASE_PATH: path }, wall: await openSqlite(path, TERMS.network) }
  },
  PostgreSQL: async () => {
    const url = await newWall()
    return { settings: { DATABASE_URL: url }, wall: await openPostgres(url, TERMS.network) }
  },
}

test.each(Object.entries(engines))(
  'every sale, credit and payout on %s is exported on its own line, in chronological order',
  async (_, open) => {
    const { settings, wall } = await open()
    await makeTrades(wall)
    const runExport = async (...args: string[]) => await runCommand(settings, folder, 'export', ...args)
    const { out, err, status } = await runExport()
    expect([status, err]).toEqual([0, ''])
    const formatTail = (number: number) => `${createWalletAddress(number)},${toHash(number)}`
    const formatPaid = (number: number) => `${toHash(number)},${TERMS.network},`
    expect(out.split('\n')).toEqual([
      HEADER,
      `${formatIso(NOW)},sale,"3,4",1,${formatTail(1)},1.00,0.00,USDC,${formatPaid(1)}`,
      `${formatIso(NOW + 1)},sale,"10,20,4x3",12,${formatTail(2)},12.00,0.00,USDC,${formatPaid(2)}`,
      `${formatIso(NOW + 2)},credit,,,${formatTail(3)},1.00,0.00,USDC,${formatPaid(3)}`,
      // The leading quote keeps a spreadsheet from evaluating the reference as a formula.
      `${formatIso(NOW + 3)},payout,,,${formatTail(3)},1.00,0.00,USDC,,${TERMS.network},"'=HYPERLINK(""x""),""y"""`,
      `${formatIso(NOW + 5)},payout,,,${formatTail(5)},,0.00,USDC,,${TERMS.network},refund 5`,
      '',
    ])
    const later = await runExport('--json', '--since', formatIso(NOW + 3))
    expect(
      later.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ kind: 'payout', amount: '1.00', reference: '=HYPERLINK("x"),"y"', tx: null }),
      expect.objectContaining({ kind: 'payout', amount: null, blocks: null, reference: 'refund 5' }),
    ])
    expect(await runExport('--since', 'yesterday')).toMatchObject({ status: 2, out: '' })
    await wall.close()
  },
)

test('the export of a sold-out wall contains each sale once, on either engine', async () => {
  const path = join(folder, 'sold-out.sqlite')
  const connection = openWall(path, TERMS.network)
  sellAllBut(0, connection)
  connection.close()
  const url = await newWall()
  await sellAllButOnPostgres(url, 0)
  for (const settings of [{ DATABASE_PATH: path }, { DATABASE_URL: url }]) {
    const { out } = await runCommand(settings, folder, 'export')
    const lines = out.trim().split('\n')
    expect([lines.length, new Set(lines).size]).toEqual([14_401, 14_401])
  }
})
