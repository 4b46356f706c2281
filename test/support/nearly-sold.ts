/** Fills a wall quickly: by SQL instead of 28,800 transactions. */

import type { Connection } from '../../db/sqlite/connection.ts'
import { NOW, wallet } from './samples.ts'

/** Sells all but the last `left` blocks of the order of sale to one wallet that no sample uses. */
export function sellAllBut(left: number, connection: Connection): void {
  const chosen = `WITH sold AS (SELECT i, rank + 1 AS seq FROM blocks WHERE rank < 14400 - ${left})`
  const hex = (length: number) => `'0x' || printf('%0${length}x', seq)`
  const buyer = wallet(0xdecade)
  connection.write(() =>
    connection.run(`
      INSERT INTO agents (wallet, first_seen_at, changed) VALUES ('${buyer}', ${NOW}, 1);
      ${chosen} INSERT INTO changes (number, at, kind, seq, block, agent)
        SELECT seq, ${NOW}, 'sale', seq, i, 1 FROM sold ORDER BY seq;
      ${chosen} INSERT INTO payments (id, payer, nonce, pay_to, asset, network, scheme, amount, valid_after, valid_before,
          signature, block, head, created_at, state, settled, tx, seq, claimed_at)
        SELECT seq, '${buyer}', ${hex(64)}, '${buyer}', '${buyer}', 'eip155:8453', 'exact', 1000000, 0, 1, '0x', i, 1,
          ${NOW}, 'sold', 1, ${hex(64)}, seq, ${NOW} FROM sold;
      UPDATE blocks SET state = 'claimed', payment = rank + 1, agent = 1, changed = rank + 1
        WHERE rank < 14400 - ${left};`),
  )
}
