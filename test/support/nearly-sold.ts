/** Fills a wall quickly: by SQL instead of 28,800 transactions. */

import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import type { Connection } from '../../db/sqlite/connection.ts'
import { openSqlite, type Sqlite } from '../../db/sqlite/open.ts'
import { CLAIM_ORDER } from '../../shared/wall.ts'
import { connectToBlankWall } from './blank-wall.ts'
import { NOW, TERMS, createWalletAddress } from './samples.ts'

const buyer = createWalletAddress(0xdecade)

/**
 * SQL that sells the first `sold` blocks, for either engine; `hexOfSeq` is an SQL expression for a sale's number in 64
 * hexadecimal digits.
 */
const renderSaleSql = (sold: number, hexOfSeq: string) => `
  INSERT INTO agents (id, wallet, first_seen_at, changed) VALUES (1, '${buyer}', ${NOW}, 1);
  INSERT INTO changes (number, at, kind, seq, block, agent)
    SELECT seq, ${NOW}, 'sale', seq, i, 1
    FROM (SELECT i, rank + 1 AS seq FROM blocks WHERE rank < ${sold}) AS sold ORDER BY seq;
  INSERT INTO payments (id, payer, nonce, pay_to, asset, network, scheme, amount, valid_after, valid_before,
      signature, block, head, created_at, state, settled, tx, seq, claimed_at)
    SELECT seq, '${buyer}', '0x' || ${hexOfSeq}, '${buyer}', '${buyer}', 'eip155:8453', 'exact', 1000000, 0, 1,
      '0x', i, 1, ${NOW}, 'sold', 1, '0x' || ${hexOfSeq}, seq, ${NOW}
    FROM (SELECT i, rank + 1 AS seq FROM blocks WHERE rank < ${sold}) AS sold;
  UPDATE blocks SET state = 'claimed', payment = rank + 1, agent = 1, changed = rank + 1 WHERE rank < ${sold}`

/** Sells all blocks to a wallet that no sample uses, except the last `left` blocks in the order of sale. */
export function sellAllBut(left: number, connection: Connection): void {
  connection.write(() => connection.run(renderSaleSql(CLAIM_ORDER.length - left, `printf('%064x', seq)`)))
}

const made = new Map<number, Uint8Array>()

/** Opens a nearly sold-out wall in memory, as a copy of one that is made once for all tests of a file. */
export async function openNearlySoldWall(left: number): Promise<Sqlite> {
  const copyOf = made.get(left) ?? createNearlySoldWall(left)
  made.set(left, copyOf)
  return await openSqlite(':memory:', TERMS.network, { copyOf })
}

function createNearlySoldWall(left: number): Uint8Array {
  const file = join(tmpdir(), `${crypto.randomUUID()}.sqlite`)
  const connection = connectToBlankWall()
  sellAllBut(left, connection)
  connection.run(`VACUUM INTO '${file}'`)
  connection.close()
  const bytes = readFileSync(file)
  rmSync(file)
  return bytes
}

/** Sells all but the last `left` blocks on PostgreSQL. */
export async function sellAllButOnPostgres(url: string, left: number): Promise<void> {
  const sold = CLAIM_ORDER.length - left
  const sql = new SQL(url, { max: 1 })
  await sql
    .unsafe(`
    SET session_replication_role = replica;
    ${renderSaleSql(sold, `lpad(to_hex(seq), 64, '0')`)};
    UPDATE counters SET number = ${sold}, seq = ${sold}, agent = 1, at = ${NOW};
    SELECT setval(pg_get_serial_sequence('payments', 'id'), ${sold})`)
    .simple()
  await sql.close()
}
