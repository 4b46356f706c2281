/** A process that owns a database and sells block after block, printing each sale's nonce once it is acknowledged. */

import { openSqlite } from '../../../db/sqlite/open.ts'
import { sellBlock } from '../../support/engine.ts'
import { TERMS } from '../../support/samples.ts'

const [path = '', first = '1'] = process.argv.slice(2)

const engine = await openSqlite(path, TERMS.network)
console.log('open')
try {
  for (let nonce = Number(first); ; nonce++) {
    await sellBlock(engine, 'next', nonce, nonce)
    console.log(nonce)
  }
} catch (error) {
  console.log(error instanceof Error ? error.name : 'unknown')
}
