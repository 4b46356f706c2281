/** Bugs that break the promises to an operator: the wall recognises an older copy, and accepting it loses no money. */

import type { Mutant } from './mutant.ts'

const CHECK = 'server/books/check-restored-backup.ts'
const FIND = 'server/books/find-orphan-payments.ts'
const ACCEPT = 'server/books/accept-restored-backup.ts'

export const mutantsOfTheOperator: readonly Mutant[] = [
  {
    name: 'a wall sells although its database is behind its witness',
    file: CHECK,
    from: 'scan.orphans.length === 0 && !isBehind',
    to: 'scan.orphans.length === 0',
    shows: 'operator',
  },
  {
    name: 'an older copy with more payments than an accepted copy counts as the newer one',
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
    name: 'money from an account that is not a signer of a current facilitator is ignored',
    file: CHECK,
    from: 'isTrusted ? await bookUnknown(deps, found, alerts) : found,',
    to: 'isTrusted ? await bookUnknown(deps, found, alerts) : found.filter(({ tx }) => BigInt(tx) % 2n === 0n),',
    shows: 'operator',
  },
  {
    name: 'only multiples of the current price may have bought blocks',
    file: FIND,
    from: '!canBuyBlocks(arrival.amount)',
    to: '!(canBuyBlocks(arrival.amount) && arrival.amount % deps.terms.amount === 0n)',
    shows: 'operator',
  },
  {
    name: 'money on the chain without a known purchase is ignored',
    file: CHECK,
    from: 'return isThrough && scan.orphans.length === 0',
    to: 'return isThrough && scan.orphans.length < 99',
    shows: 'operator',
  },
  {
    name: 'the checked height is stored before the money found there is booked',
    file: CHECK,
    from: 'if (mayReach && scan.orphans.length === 0)',
    to: 'if (mayReach)',
    shows: 'operator',
  },
  {
    name: 'money that arrives after the first check is not searched for',
    file: CHECK,
    from: 'else if (isDue) await continueScan',
    to: 'else if (isDue && !isCurrent) await continueScan',
    shows: 'operator',
  },
  {
    name: 'a payment lost by an older copy is not credited',
    file: ACCEPT,
    from: 'for (const orphan of orphans) await',
    to: 'for (const orphan of orphans.slice(1)) await',
    shows: 'operator',
  },
]
