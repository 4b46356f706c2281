/** Bugs in what an operator relies on: that an older copy is known for one, and that no dollar is lost by accepting it. */

import type { Mutant } from './mutant.ts'

const CHECK = 'server/books/check-restored-backup.ts'
const ACCEPT = 'server/books/accept-restored-backup.ts'

export const mutantsOfTheOperator: readonly Mutant[] = [
  {
    name: 'a store behind its witness sells',
    file: CHECK,
    from: 'return isThrough && maySell && !isBehind',
    to: 'return isThrough && maySell',
    shows: 'operator',
  },
  {
    name: 'a witness on the same device proves that no sale is lost',
    file: CHECK,
    from: 'witnessed !== undefined && (await deps.witness.isApart())',
    to: 'witnessed !== undefined',
    shows: 'operator',
  },
  {
    name: 'what the chain shows that the store does not know is passed over',
    file: CHECK,
    from: 'const maySell = scan.orphans.length === 0 ||',
    to: 'const maySell = scan.orphans.length < 99 ||',
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
    from: 'if (isDue) await accountFor',
    to: 'if (isDue && !isCurrent) await accountFor',
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
