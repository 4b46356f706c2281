/** Bugs that exist, or can be observed, only with areas. */

import type { Mutant } from './mutant.ts'

const SCRIPT = 'server/domain/purchase/purchase-script.ts'
const RULES = 'server/domain/purchase/claim-rules.ts'
const MODEL = 'test/endurance/sim/ledger-model.ts'
const HOLDS = 'db/purchase/holds.ts'
const SALES = 'db/purchase/sales.ts'

export const mutantsOfAreas: readonly Mutant[] = [
  {
    name: 'only a part of an area is charged',
    file: 'server/domain/purchase/payment.ts',
    from: 'amount: computePrice(terms, countBlocks(target)),',
    to: 'amount: terms.amount,',
    seed: 2,
  },
  {
    name: 'a part of an area is sold',
    file: 'server/domain/purchase/target.ts',
    from: 'isBlock(holding.target) ? [holding.block] : listAreaBlocks(getArea(holding))',
    to: 'isBlock(holding.target) ? [holding.block] : listAreaBlocks(getArea(holding)).slice(0, 1)',
    seed: 2,
  },
  {
    name: 'a part of an area is released',
    file: MODEL,
    from: 'for (const block of listHeldBlocks(before)) holders.delete(block)',
    to: 'holders.delete(before.block)',
    seed: 48,
  },
  {
    name: 'only a part of an area is sold (SQL)',
    file: SALES,
    from: 'const sold = listHeldBlocks(selling)',
    to: 'const sold = listHeldBlocks(selling).slice(0, 1)',
  },
  {
    name: 'only a part of an area is released (SQL)',
    file: HOLDS,
    from: `    changeRows('a held payment to release', RELEASE, values),\n  )\n`,
    to: `    changeRows('a held payment to release', RELEASE, values),\n  )
  yield* holdBlocks(purchase, (yield* readKnownPurchase(payment)).id, purchase.block)\n`,
  },
  {
    name: 'the blocks of an area are sold in reverse order (SQL)',
    file: SALES,
    from: 'const sold = listHeldBlocks(selling)',
    to: 'const sold = listHeldBlocks(selling).toReversed()',
  },
  {
    name: 'an area is sold although a part of it is not open',
    file: MODEL,
    from: `return blocks.some((block) => holders.has(block)) ? 'reserved' : at`,
    to: `return blocks.every((block) => holders.has(block)) ? 'reserved' : at`,
    seed: 29,
  },
  {
    name: 'an area is sold although a part of it is not open (SQL)',
    file: 'db/purchase/places.ts',
    from: `  const state = findWorstState(found.map(({ state }) => state))\n`,
    to: `  const state = found.some(({ state }) => state === 'open') ? 'open' : findWorstState(found.map(({ state }) => state))\n`,
  },
  {
    name: 'an area that settled late is placed where only a block has space',
    file: MODEL,
    from: `typeof own === 'string' ? shelf.findOpenPlace(toNext(known.target)) : own`,
    to: `typeof own === 'string' ? shelf.findOpenPlace('next') : own`,
  },
  {
    name: 'a payment that settled late is credited although there is space',
    file: MODEL,
    from: `typeof own === 'string' ? shelf.findOpenPlace(toNext(known.target)) : own`,
    to: 'own',
  },
  {
    name: 'a purchase that settled late is moved although its own place is open',
    file: MODEL,
    from: `typeof own === 'string' ? shelf.findOpenPlace(toNext(known.target)) : own`,
    to: 'shelf.findOpenPlace(toNext(known.target))',
  },
  {
    name: 'the limit of held blocks for one payer is not enforced (SQL)',
    file: RULES,
    from: ` || held.reduce((sum, blocks) => sum + blocks, countBlocks(target)) > HELD_BLOCKS_MAX`,
    to: '',
    shows: 'real wide',
  },
  {
    name: 'a request for the first block of an area gets the receipt of the area',
    file: RULES,
    from: '  if (asked === resolveTarget(purchase)) return',
    to: '  if (asked === resolveTarget(purchase) || asked === purchase.block) return',
  },
  {
    name: 'a credit for an area is reported as one dollar',
    file: SCRIPT,
    from: 'createPaymentCreditedFailure(purchase.payment.amount, credit, contact)',
    to: 'createPaymentCreditedFailure(1_000_000n, credit, contact)',
  },
  {
    name: 'a picture is read after its area is held',
    file: SCRIPT,
    from: `  if (isFailure(painted)) return refuse(painted)
  const claiming = yield* requestStep({ do: 'claim', target, payment, listing: painted, head: chain.head })
`,
    to: `  const said = isFailure(painted) ? omitPicture(listing) : painted
  const claiming = yield* requestStep({ do: 'claim', target, payment, listing: said, head: chain.head })
  if (isFailure(painted)) return refuse(painted)
`,
  },
]
