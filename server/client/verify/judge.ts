/**
 * Judges a wall: compares its claims with the chain. It is pure: the same claims and facts always give the same
 * findings.
 */

import type { SaleDeed } from '../../../shared/contract/deeds.ts'
import type { ChainFacts, ChainPayment } from './chain-facts.ts'
import type { Claims } from './claims.ts'
import { type Binding, checkBinding, findSalesFlaw } from './order-check.ts'
import {
  type Credit,
  isCredit,
  toClaimKey,
  matchPayments,
  type Payments,
  createNoDeedFinding,
} from './payment-check.ts'
import type { Finding, Flaw, Verdict } from './verdict.ts'
import { addCoveredBlocks, type CoveringDeed, formatDeed, checkWall } from './wall-check.ts'

// The newest blocks of the chain may still be replaced.
const CONFIRMATIONS = 10n

// A payment without a deed may still be in progress.
const YOUNG_MS = 10 * 60_000

/**
 * Judges all claims, but checks the payments and orders only of deeds after number `since`. A payment without a deed
 * counts as old if the time of its block is unknown.
 */
export function judgeClaims(claims: Claims, facts: ChainFacts, since = 0): Verdict {
  const payments = matchPayments(claims, facts)
  const deeds = claims.deeds.map(addCoveredBlocks)
  const credits = claims.owed.filter(isCredit)
  const judged = deeds.filter(({ seq }) => seq > since)
  const [unpaid, proved] = judgePayments(deeds, credits, payments, since)
  const orphans = findOrphans(claims, payments)
  const computeAge = ({ height }: ChainPayment) =>
    facts.head.time - (facts.times.get(height) ?? Number.NEGATIVE_INFINITY)
  const lost = orphans.filter((arrival) => computeAge(arrival) > YOUNG_MS)
  const confirmed = facts.head.height - CONFIRMATIONS
  return {
    findings: [
      ...unpaid,
      ...judgeOrders(claims, judged),
      ...checkWall(claims, deeds),
      ...lost.map(createNoDeedFinding),
    ],
    ...countBlocks(proved),
    otherHosts: [...new Set(proved.flatMap(({ order }) => order?.host ?? []))].filter((host) => host !== claims.host),
    unconfirmed: proved.filter((deed) => (payments.findPayment(deed)?.height ?? 0n) > confirmed).length,
    credits: countCredits(credits, payments),
    noted: claims.owed.length - credits.length,
    notedAmount: payments.matched.resolved.reduce((sum, { amount }) => sum + amount, 0n),
    plain: payments.matched.stray.length,
    young: orphans.length - lost.length,
  }
}

/** The heights whose times decide whether a payment without a deed is old. */
export const selectHeightsToDate = (claims: Claims, facts: ChainFacts): readonly bigint[] => [
  ...new Set(findOrphans(claims, matchPayments(claims, facts)).map(({ height }) => height)),
]

/** The findings about the payments of deeds and credits, and the deeds whose payments are proved. */
function judgePayments(
  deeds: readonly CoveringDeed[],
  credits: readonly Credit[],
  payments: Payments,
  since: number,
): readonly [readonly Finding[], readonly CoveringDeed[]] {
  const findings: Finding[] = []
  const proved: CoveringDeed[] = []
  const users = new Map<string, string>()
  const checkPayment = (claim: CoveringDeed | Credit, name: string, isAsked: boolean): boolean => {
    const user = users.get(toClaimKey(claim))
    users.set(toClaimKey(claim), user ?? name)
    const twice: Flaw | undefined =
      user === undefined ? undefined : ['payment_used_twice', `its payment was already used for ${user}`]
    const flaw = twice ?? (isAsked ? payments.findFlaw(claim) : undefined)
    if (flaw === undefined) return isAsked
    const { nonce, tx } = claim
    findings.push({
      kind: flaw[0],
      message: `${name}: ${flaw[1]}`,
      ...('seq' in claim ? { seq: claim.seq } : {}),
      nonce,
      tx,
    })
    return false
  }
  for (const deed of deeds) if (checkPayment(deed, formatDeed(deed), deed.seq > since)) proved.push(deed)
  for (const credit of credits) checkPayment(credit, `credit of ${credit.wallet} (${credit.nonce})`, true)
  return [findings, proved]
}

/** The findings about orders that differ from the signed orders, or from the sales in the feed. */
function judgeOrders({ sales }: Claims, deeds: readonly CoveringDeed[]): readonly Finding[] {
  const saleOf = new Map<string, (typeof sales)[number]>(sales.map((sale) => [sale.coord, sale]))
  return deeds.flatMap((deed): readonly Finding[] => {
    const { seq, nonce, tx } = deed
    const binding = checkBinding(deed)
    const sold = deed.covers.map((coord) => saleOf.get(coord))
    const flaw = binding.kind === 'changed' ? binding.why : findSalesFlaw(deed, sold)
    return flaw === undefined
      ? []
      : [{ kind: 'order_changed', message: `${formatDeed(deed)}: ${flaw}`, seq, nonce, tx }]
  })
}

/**
 * Payments that may have been for blocks, judging by the lowest known price, and that no claim mentions, not even a
 * wrong claim.
 */
function findOrphans({ deeds, owed }: Claims, { matched }: Payments): readonly ChainPayment[] {
  const named = new Set([...deeds, ...owed].map(({ tx, nonce }) => `${tx} ${nonce}`))
  const price = deeds.map(computePrice).reduce((one, other) => (one === 0n || other < one ? other : one), 0n)
  return matched.orphans.filter(({ amount, tx, nonce }) => amount >= price && !named.has(`${tx} ${nonce}`))
}

/** The price per block according to a deed. */
const computePrice = ({ amount, blocks }: SaleDeed): bigint =>
  BigInt(amount) / BigInt('coord' in blocks ? 1 : blocks.w * blocks.h)

function countBlocks(proved: readonly CoveringDeed[]) {
  const sumBlocks = (deeds: readonly CoveringDeed[]) => deeds.reduce((blocks, { covers }) => blocks + covers.length, 0)
  const kinds = new Map(proved.map((deed) => [deed, checkBinding(deed).kind]))
  const filterByKind = (kind: Binding['kind']) => proved.filter((deed) => kinds.get(deed) === kind)
  return {
    blocks: sumBlocks(proved),
    amount: proved.reduce((total, { amount }) => total + BigInt(amount), 0n),
    bound: sumBlocks(filterByKind('bound')),
    boundToFile: sumBlocks(filterByKind('bound-to-file')),
    unbound: sumBlocks(filterByKind('unbound')),
    hiddenOrders: filterByKind('hidden').length,
  }
}

function countCredits(credits: readonly Credit[], payments: Payments): Verdict['credits'] {
  const promised = credits.filter(({ paidOut }) => paidOut !== null)
  const paidBack = promised.filter((credit) => payments.isPaidBack(credit)).length
  return { open: credits.length - promised.length, paidBack, notProved: promised.length - paidBack }
}
