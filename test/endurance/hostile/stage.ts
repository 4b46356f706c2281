/** A wall in its own process, with a sold block, and a view of every change to its rows. */

import { Database } from 'bun:sqlite'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import type { PaymentRequirements } from '@x402/core/types'
import { createWallet, type Wallet } from '../../../server/local/wallets.ts'
import { COLS } from '../../../shared/wall.ts'
import { buyBlock, fetchBlock } from '../../support/e2e/buyer.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { waitFor } from '../../support/wait.ts'

/** The wall that gets the requests of the cases, with its surroundings. */
export type Stage = {
  readonly world: World
  readonly host: string // with its port, as in a Host header
  readonly terms: PaymentRequirements
  readonly owner: Wallet
  readonly stranger: Wallet
  readonly owned: string
  /** An open block that no other case uses. */
  findOpenBlock(): string
  /** The compared rows of each table, and how many settlements were requested, as text. */
  readState(): ReadonlyMap<string, string>
  stop(): Promise<void>
}

const OWNED = '150,80'
const OPEN_ROW = 86

// Released payments are not compared: the wall keeps watching a payment that it rejected after verifying it, but such a
// payment holds nothing.
const HELD_OR_SOLD = ` WHERE state != 'released'`

// The row of this table stores the height up to which the chain was read. The wall raises that height from time to
// time, so the table is not compared.
const OF_THE_CHAIN = 'wall'

// The wall checks a sale on the chain again 20 seconds after the sale, and then writes these columns of its payment.
const OF_THE_CHECK: readonly string[] = ['settled', 'looks', 'sum']

/** Starts the wall and sells one block to the owner. */
export async function openStage(): Promise<Stage> {
  const world = await startWorld()
  const { accepts } = decodePaymentRequiredHeader(
    (await fetchBlock(world, 'next')).headers.get('payment-required') ?? '',
  )
  const [terms] = accepts
  if (terms === undefined) throw new Error('the wall offers no terms')
  const owner = await world.createFundedWallet()
  await buyBlock(world, owner, OWNED)
  const rows = new Database(world.databasePath, { readonly: true })
  const unnoted = rows.query<{ count: number }, []>('SELECT count(*) AS count FROM payments WHERE unanswered = 1')
  await waitFor(async () => (unnoted.get()?.count === 0 ? true : undefined))
  const columns = rows.query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
  const createQuery = (table: string) => {
    const isPayments = table === 'payments'
    const names = columns.all(table).map(({ name }) => name)
    const compared = names.filter((name) => !(isPayments && OF_THE_CHECK.includes(name)))
    return rows.query<unknown[], []>(`SELECT ${compared.join()} FROM ${table}${isPayments ? HELD_OR_SOLD : ''}`)
  }
  const tables = rows
    .query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .filter(({ name }) => name !== OF_THE_CHAIN)
    .map(({ name }) => [name, createQuery(name)] as const)
  let opened = 0
  return {
    world,
    host: new URL(world.url).host,
    terms,
    owner,
    stranger: createWallet(),
    owned: OWNED,
    findOpenBlock: () => `${opened % COLS},${OPEN_ROW + Math.floor(opened++ / COLS)}`,
    readState: () =>
      new Map([
        ...tables.map(([name, query]) => [name, JSON.stringify(query.values())] as const),
        ['settlements', String(world.facilitator.settle.countCalls())],
      ]),
    async stop() {
      rows.close()
      await world.stop()
    },
  }
}
