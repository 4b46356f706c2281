/** `pixel-wall accept-restore`: accepts a restored database as the wall's, while the wall is stopped. */

import { parseArgs } from 'node:util'
import { CannotOpen } from '../../db/cannot-open.ts'
import { openStore } from '../../db/open.ts'
import { formatCountWithNoun, formatMoney } from '../../shared/money.ts'
import { isAddress } from '../../shared/wallet.ts'
import { createViemChain } from '../adapters/chain/chain.ts'
import { openEndpoints } from '../adapters/chain/endpoints.ts'
import { systemClock as clock } from '../adapters/clock.ts'
import { openWitness } from '../adapters/witness-file.ts'
import { acceptRestoredBackup, findLostPayments, type LostPayments } from '../books/accept-restored-backup.ts'
import { readConfig } from '../config.ts'
import { toLowerAddress, type Address } from '../domain/purchase/payment.ts'
import { isOlder, type StorePosition } from '../domain/store-position.ts'
import { UsageError, type Command } from './command.ts'

const USAGE = `Accepts a restored database. Uses the wall's settings. The wall must be stopped.

  pixel-wall accept-restore          lists the payments made since the copy, and changes nothing
  pixel-wall accept-restore --yes    accepts: books the listed payments as credits owed to their payers; their blocks are open again
  --pay-to ADDRESS                   also lists payments to an earlier PAY_TO that neither the copy nor the witness knows;
                                     may be repeated

Exit status without --yes: 0 if there is nothing to accept, 1 if there is.
`

// Printed for a copy of a database that the wall never opened, or for a new file that replaces a missing one.
const NEVER_LOOKED =
  'The chain was never read for this database, so this command cannot find out which payments are missing. To list them: pixel-wall books --from HEIGHT'

const OPTIONS = { yes: { type: 'boolean' }, 'pay-to': { type: 'string', multiple: true } } as const

/** Accepts a restored database. */
export const acceptRestore: Command = {
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    const payees = values['pay-to'] ?? []
    for (const payee of payees) if (!isAddress(payee)) throw new UsageError(`--pay-to: not an address: ${payee}`)
    return await acceptStore(values.yes === true, payees.map(toLowerAddress))
  },
}

async function acceptStore(isAccepted: boolean, otherPayees: readonly Address[]): Promise<number> {
  const { database, network, rpcUrls, rpcCallsPerSecond, offer, witnessPath } = readConfig(Bun.env)
  const witness = openWitness(witnessPath)
  const { checkpoint, payouts, store, close } = await openStore(database, network)
  try {
    const chain = createViemChain(openEndpoints(network, rpcUrls, { clock, callsPerSecond: rpcCallsPerSecond }), offer)
    const deps = { chain, checkpoint, terms: offer.terms, payouts, store, witness, clock }
    const seen = await witness.read().catch(() => undefined)
    const lost = await findLostPayments(deps, seen, otherPayees)
    if (lost === 'silent') throw new CannotOpen('the chain does not respond; nothing was changed')
    listLostPayments(lost)
    if ((await checkpoint.readHeight()) === undefined) console.log(NEVER_LOOKED)
    const isBehind = reportWitness(await store.readPosition(), seen)
    if (!isAccepted) {
      const isLevel = lost.orphans.length === 0 && !isBehind
      console.log(`Nothing was changed. ${isLevel ? NOTHING_LOST : 'To accept, run this again with --yes.'}`)
      return isLevel ? 0 : 1
    }
    await acceptRestoredBackup(deps, lost)
    if (lost.orphans.length > 0)
      console.log(
        'The payments are booked as credits. Pay them back, then record that with pixel-wall resolve --paid-out.',
      )
    console.log('Accepted. The wall will arm at its next start.')
    return 0
  } finally {
    await close()
  }
}

const NOTHING_LOST = 'There is nothing to accept: the wall will arm at its next start.'

/** Prints each payment without a known purchase. */
function listLostPayments({ orphans, through }: LostPayments): void {
  for (const { payer, amount, tx, nonce, isBooked } of orphans)
    console.log(
      `${payer} paid ${formatMoney(amount)} in ${tx} (nonce ${nonce})${isBooked ? ', booked as stray by the wall' : ''}`,
    )
  console.log(`${formatCountWithNoun(orphans.length, 'payment')} without a known purchase, up to block ${through}`)
}

/** Prints how far the database is behind its witness; returns whether it is behind. */
function reportWitness(position: StorePosition, seen: StorePosition | undefined): boolean {
  if (seen === undefined || !isOlder(position, seen)) return false
  const changes = `change ${position.change} of ${seen.change}`
  console.log(`The database is older than its witness: ${changes}, payment ${position.payment} of ${seen.payment}`)
  return true
}
