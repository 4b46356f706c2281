/** `bun run books`: holds what the wall sold against what arrived on the chain, without asking the wall. */

import { parseArgs } from 'node:util'
import { CannotOpen } from '../../db/cannot-open.ts'
import { openBooks } from '../../db/open.ts'
import { viemChain } from '../adapters/chain.ts'
import { openEndpoints } from '../adapters/chain/endpoints.ts'
import { systemClock as clock } from '../adapters/clock.ts'
import { readConfig } from '../config.ts'
import { takeStock } from '../usecases/take-stock.ts'
import { jsonOf, linesOf } from './books-report.ts'
import { Misused, printLines, runCommand } from './command.ts'

const USAGE = `Checks that the books balance, with the settings of the wall, whether it runs or not.

  bun run books [--json] [--from HEIGHT]

Looks at everything that arrived at PAY_TO since the first purchase, or since block HEIGHT.
The status is 0 if the books balance, 1 if they do not, 2 if that cannot be told.
`

await runCommand(USAGE, async (args) => {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' }, from: { type: 'string' } } })
  if (values.from !== undefined && !/^\d{1,15}$/.test(values.from)) throw new Misused()
  const { database, network, rpcUrls, rpcCallsPerSecond, offer } = readConfig(Bun.env)
  const audit = await openBooks(database)
  try {
    const chain = viemChain(openEndpoints(network, rpcUrls, { clock, callsPerSecond: rpcCallsPerSecond }), offer)
    const { amount: price, payTo } = offer.terms
    const from = values.from === undefined ? undefined : BigInt(values.from)
    const stock = await takeStock({ audit, chain, clock, price, payTo }, from, tellHeight)
    if (stock === 'silent') throw new CannotOpen('the chain does not answer, so nothing can be told')
    printLines(values.json === true ? JSON.stringify(jsonOf(stock), null, 2).split('\n') : linesOf(stock))
    return stock.balance.balances ? 0 : 1
  } finally {
    await audit.close()
  }
})

/** Years of the chain take minutes to read. */
function tellHeight(height: bigint): void {
  if (process.stderr.isTTY) process.stderr.write(`\rread the chain up to block ${height} `)
}
