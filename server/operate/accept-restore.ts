/** `bun run accept-restore`: says that a restored database is the wall from now on, with the wall stopped. */

import { CannotOpen } from '../../db/cannot-open.ts'
import { openStore } from '../../db/open.ts'
import { chainClient, viemChain } from '../adapters/chain.ts'
import { readConfig } from '../config.ts'
import { compareReceipts } from '../usecases/compare-receipts.ts'
import { printTrouble } from './command.ts'

const USAGE = `Accepts a restored database, with the settings of the wall, while the wall is stopped.

  bun run accept-restore          lists what was paid for since the copy was made, and changes nothing
  bun run accept-restore --yes    accepts: the listed payments are for the operator to pay back, their blocks open

`

const args = Bun.argv.slice(2)
if (args.some((arg) => arg !== '--yes') || args.length > 1) {
  console.error(USAGE)
  process.exit(2)
}
try {
  process.exitCode = await main(args.includes('--yes'))
} catch (error) {
  printTrouble(error)
  process.exitCode = 1
}

async function main(isAccepted: boolean): Promise<number> {
  const { database, network, rpcUrl, offer } = readConfig(Bun.env)
  const store = await openStore(database, network)
  try {
    const chain = viemChain(chainClient(network, rpcUrl), offer)
    const found = await compareReceipts({ chain, horizon: store.horizon, terms: offer.terms })
    if (found === 'silent') throw new CannotOpen('the chain does not answer; nothing was changed')
    for (const { payer, nonce, tx } of found.orphans) console.log(`${payer} paid in ${tx} (nonce ${nonce})`)
    console.log(`${found.orphans.length} payments belong to no purchase, up to block ${found.through}`)
    if (found.orphans.length > 0 && !isAccepted) console.log('Nothing was changed. Accept with --yes.')
    if (found.orphans.length > 0 && !isAccepted) return 1
    await store.horizon.reach(found.through)
    console.log('Accepted: the wall arms at its next start.')
    return 0
  } finally {
    await store.close()
  }
}
