/** The deeds of the wall, a page at a time, with everything needed to check each one on the chain. */

import type { DeedsPage, DeedsQuery, OrderAsSigned, OwedMoney, SaleDeed } from '../../shared/contract/deeds.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import { type Order, parseOrderText } from '../../shared/order.ts'
import { formatCoord } from '../../shared/wall.ts'
import { formatWallet, truncateWallet } from '../../shared/wallet.ts'
import type { OwedPayment, SoldPayment } from '../domain/purchase/deeds.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { countBlocks, isBlock, getPosition } from '../domain/purchase/target.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { LedgerReader } from '../ports.ts'
import type { Offer } from '../x402/terms.ts'

export type DeedsDeps = {
  readonly ledgerReader: Pick<LedgerReader, 'listSold' | 'listOwed'>
  readonly view: WallView
  readonly applyNewEntries: () => Promise<void>
  readonly offer: Offer
  readonly payees: ReadonlySet<Address>
}

/** Reads a page. Deeds of sales that are not yet in the feed come with a later page. */
export async function readDeeds(deps: DeedsDeps, { after, owedAfter, limit }: DeedsQuery): Promise<DeedsPage> {
  const { ledgerReader, view, applyNewEntries, offer, payees } = deps
  const [found, owed] = await Promise.all([
    ledgerReader.listSold(after, limit + 1),
    ledgerReader.listOwed(owedAfter, limit + 1),
  ])
  const isSeen = ({ seq }: SoldPayment) => seq <= view.sales.length
  if (!found.every(isSeen)) await applyNewEntries()
  const page = found.slice(0, limit).filter(isSeen)
  return {
    nextAfter: page.at(-1)?.seq ?? after,
    hasMore: page.length < found.length,
    payTo: [...payees].map(formatWallet),
    asset: formatWallet(offer.terms.asset),
    network: offer.terms.network,
    // Sale numbers start at 1 and have no gaps, so they give the positions in `sales`.
    deeds: page.map((sold) =>
      toSaleDeed(sold, view.sales.slice(sold.seq - 1, sold.seq - 1 + countBlocks(sold.target))),
    ),
    owed: owed.slice(0, limit).map(toOwedMoney),
    hasMoreOwed: owed.length > limit,
  }
}

function toSaleDeed(sold: SoldPayment, sales: readonly Sale[]): SaleDeed {
  const { target, block, order } = sold
  const { at, w, h } = getPosition(target)
  return {
    seq: sold.seq,
    blocks: isBlock(target) ? { coord: formatCoord(block) } : { at: formatCoord(block), w, h },
    ...(at === 'next' || at === block ? {} : { placedElsewhere: true }),
    wallet: truncateWallet(sold.payer),
    tx: sold.tx,
    nonce: sold.nonce,
    amount: sold.amount.toString(),
    payTo: formatWallet(sold.payTo),
    claimedAt: sold.claimedAt,
    settled: sold.settled,
    ...(order === null ? {} : { salt: order.salt, ...hideOrderParts(parseOrderText(order.text), sold, sales) }),
  }
}

/** The order without parts that are hidden on any of its blocks, or were hidden since the sale. */
function hideOrderParts(
  order: Order | undefined,
  { isPainted }: SoldPayment,
  sales: readonly Sale[],
): Pick<SaleDeed, 'order' | 'hidden'> {
  if (order === undefined) return {}
  // A picture that was never shown cannot have been hidden.
  const hidesPicture = isPainted && sales.some(({ px }) => px === undefined)
  const hides: Readonly<Partial<Record<keyof Order, boolean>>> = {
    name: sales.some(({ agent }) => agent.name === null),
    framework: sales.some(({ agent }) => agent.framework === null),
    message: sales.some(({ m }) => m === undefined),
    link: sales.some(({ l }) => l === undefined),
    px: hidesPicture,
    pixels: hidesPicture,
    image: hidesPicture,
  }
  const hidden = Object.keys(order).filter((name) => hides[name as keyof Order] === true)
  if (hidden.length === 0) return { order }
  const shown: OrderAsSigned = { ...order, ...Object.fromEntries(hidden.map((name) => [name, null])) }
  return { order: shown, hidden }
}

const transactionPattern = /^0x[0-9a-f]{64}$/

/** The public form of owed money. A reference that is not a transaction hash (the operator's own words) is omitted. */
const toOwedMoney = ({ payer, nonce, tx, amount, reference }: OwedPayment): OwedMoney => ({
  wallet: truncateWallet(payer),
  nonce,
  tx,
  amount: amount === null ? null : amount.toString(),
  paidOut: reference !== null && transactionPattern.test(reference.toLowerCase()) ? reference.toLowerCase() : null,
})
