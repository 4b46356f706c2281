/** `pixel-wall accept-restore`: accepts a restored database as the wall's, while the wall is stopped. */

import { CannotOpen } from '../../db/cannot-open.ts'
import { openStore } from '../../db/open.ts'
import { moneyText } from '../../shared/money.ts'
import { viemChain } from '../adapters/chain/chain.ts'
import { openEndpoints } from '../adapters/chain/endpoints.ts'
import { systemClock as clock } from '../adapters/clock.ts'
import { witnessAt } from '../adapters/witness-file.ts'
import {
  findOrphans,
  nextHeight,
  unclaimedOf,
  type FindOrphanDeps,
  type OrphanPayment,
} from '../books/find-orphan-payments.ts'
import { readConfig } from '../config.ts'
import { isOlder } from '../domain/store-position.ts'
import type { Payouts, Store, Witness } from '../ports.ts'
import { UsageError, type Command } from './command.ts'

const USAGE = `Accepts a restored database, with the settings of the wall, while the wall is stopped.

  pixel-wall accept-restore          lists what was paid for since the copy was made, and changes nothing
  pixel-wall accept-restore --yes    accepts: the listed payments are credits, owed to their payers; their blocks are open

`

const SILENT = 'the chain does not answer; nothing was changed'

/** Accepts a restored database. */
export const acceptRestore: Command = {
  usage: USAGE,
  async run(args) {
    if (args.some((arg) => arg !== '--yes') || args.length > 1) throw new UsageError()
    return await accept(args.includes('--yes'))
  },
}

async function accept(isAccepted: boolean): Promise<number> {
  const { database, network, rpcUrls, rpcCallsPerSecond, offer, witnessPath } = readConfig(Bun.env)
  const witness = witnessAt(witnessPath, database)
  const { checkpoint, payouts, store, close } = await openStore(database, network)
  try {
    const chain = viemChain(openEndpoints(network, rpcUrls, { clock, callsPerSecond: rpcCallsPerSecond }), offer)
    const lost = await listOrphans({ chain, checkpoint, terms: offer.terms }, payouts)
    const isBehind = await tellWitness(store, witness)
    if ((lost.orphans.length > 0 || isBehind) && !isAccepted) {
      console.log('Nothing was changed. Accept with --yes.')
      return 1
    }
    const now = clock.now()
    for (const orphan of lost.orphans) await payouts.owe(unclaimedOf(orphan, offer.terms, now), orphan.tx, now)
    if (lost.orphans.length > 0) console.log('They are booked as credits: pay them back, then resolve --paid-out.')
    await checkpoint.reach(lost.through)
    // Last, so that a wall whose acceptance was cut off still waits for it.
    await witness.write(await store.position())
    console.log('Accepted: the wall arms at its next start.')
    return 0
  } finally {
    await close()
  }
}

/** Prints each payment that no purchase is known for; returns them, and the height that was read to. */
async function listOrphans(
  deps: FindOrphanDeps,
  payouts: Payouts,
): Promise<{ readonly orphans: readonly OrphanPayment[]; readonly through: bigint }> {
  const start = await nextHeight(deps)
  if (start === 'silent') throw new CannotOpen(SILENT)
  const orphans: OrphanPayment[] = []
  for (let from = start; ;) {
    const window = await findOrphans(deps, from)
    if (window === 'silent') throw new CannotOpen(SILENT)
    for (const orphan of window.orphans) {
      if (await payouts.isNoted(orphan)) continue
      console.log(`${orphan.payer} paid ${moneyText(orphan.amount)} in ${orphan.tx} (nonce ${orphan.nonce})`)
      orphans.push(orphan)
    }
    from = window.next
    if (!window.isAll) continue
    const through = from - 1n
    console.log(`${orphans.length} payments belong to no purchase, up to block ${through}`)
    return { orphans, through }
  }
}

/** Prints how far the database is behind its witness; whether it is. */
async function tellWitness(store: Store, witness: Witness): Promise<boolean> {
  const [position, seen] = [await store.position(), await witness.read().catch(() => undefined)]
  if (seen === undefined || !isOlder(position, seen)) return false
  const changes = `change ${position.change} of ${seen.change}`
  console.log(`The database is older than its witness: ${changes}, payment ${position.payment} of ${seen.payment}`)
  return true
}
