/** Bugs in what an operator relies on: that an older copy is known for one, and that no dollar is lost by accepting it. */

import type { Mutant } from './mutant.ts'

const CHECK = 'server/books/check-restored-backup.ts'
const FIND = 'server/books/find-orphan-payments.ts'
const ACCEPT = 'server/books/accept-restored-backup.ts'

export const mutantsOfTheOperator: readonly Mutant[] = [
  {
    name: 'a store behind its witness sells',
    file: CHECK,
    from: 'scan.orphans.length === 0 && !isBehind',
    to: 'scan.orphans.length === 0',
    shows: 'operator',
  },
  {
    name: 'a copy with more payments than one that was accepted is taken for the newer one',
    file: 'server/domain/store-position.ts',
    from: 'store.height < seen.height || (store.height === seen.height && isBehind(store, seen))',
    to: 'store.height <= seen.height && isBehind(store, seen)',
    shows: 'operator',
  },
  {
    name: 'a witness counts as apart without the setting',
    file: CHECK,
    from: 'witnessed !== undefined && !isBehind && deps.isWitnessApart',
    to: 'witnessed !== undefined && !isBehind',
    shows: 'operator',
  },
  {
    name: 'what a signer of no facilitator of now sent is passed over',
    file: CHECK,
    from: 'isTrusted ? await bookUnknown(deps, found, tell) : found,',
    to: 'isTrusted ? await bookUnknown(deps, found, tell) : found.filter(({ tx }) => BigInt(tx) % 2n === 0n),',
    shows: 'operator',
  },
  {
    name: 'only multiples of the price of now may have bought blocks',
    file: FIND,
    from: '!mayBuyBlocks(arrival.amount)',
    to: '!(mayBuyBlocks(arrival.amount) && arrival.amount % deps.terms.amount === 0n)',
    shows: 'operator',
  },
  {
    name: 'what the chain shows that the store does not know is passed over',
    file: CHECK,
    from: 'return isThrough && scan.orphans.length === 0',
    to: 'return isThrough && scan.orphans.length < 99',
    shows: 'operator',
  },
  {
    name: 'the height that was read to is kept before what was found there is booked',
    file: CHECK,
    from: 'if (mayReach && scan.orphans.length === 0)',
    to: 'if (mayReach)',
    shows: 'operator',
  },
  {
    name: 'money that arrives later is not looked for',
    file: CHECK,
    from: 'else if (isDue) await scanOn',
    to: 'else if (isDue && !isCurrent) await scanOn',
    shows: 'operator',
  },
  {
    name: 'what an older copy lost is not owed',
    file: ACCEPT,
    from: 'for (const orphan of orphans) await',
    to: 'for (const orphan of orphans.slice(1)) await',
    shows: 'operator',
  },
]
