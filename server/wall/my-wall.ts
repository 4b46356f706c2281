/** Lists everything that the wall stores about a wallet, for an agent that has lost its state. */

import type { AreaName } from '../../shared/area.ts'
import type { News, OpenPurchase, WalletArea, WalletQuery, WalletStanding } from '../../shared/contract/wallet.ts'
import { toBlockRef } from '../../shared/wall.ts'
import { truncateWallet } from '../../shared/wallet.ts'
import { ADVICE, REPEAT } from '../domain/advice.ts'
import { createFailure, type Failure } from '../domain/failure.ts'
import type { OpenPurchase as Unfinished, OwnSale } from '../domain/purchase/account.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { isBlock, formatTarget } from '../domain/purchase/target.ts'
import { COMPACTED_AFTER_MS } from '../domain/wall/log.ts'
import { findNearChanges, rankByBlocks } from '../domain/wall/near-changes.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { LedgerReader, Clock, Log } from '../ports.ts'

/** The inputs of the list. `contact` says whom payers can contact about money owed to them. */
export type MyWallDeps = {
  readonly view: WallView
  readonly ledgerReader: LedgerReader
  readonly clock: Clock
  readonly log: Log
  readonly contact: string | null
  readonly applyNewEntries: () => Promise<void>
}

/** The account of a wallet, with one page of its blocks; refused if the wallet is unknown. */
export async function listMyWall(
  deps: MyWallDeps,
  wallet: Address,
  page: WalletQuery,
): Promise<WalletStanding | Failure> {
  const { view, ledgerReader, clock, contact, applyNewEntries } = deps
  const { sales, nextAfter, hasMore, open, credits, painter } = await ledgerReader.readAccount(wallet, page)
  // Another process may just have sold to this wallet.
  if ((sales.length > 0 || page.after > 0) && !view.agentByName.has(wallet)) await applyNewEntries()
  const agent = view.agentByName.get(wallet)
  if (agent === undefined && sales.length + open.length + credits.length === 0) return createNoPurchasesFailure()
  const now = clock.now()
  return {
    wallet: truncateWallet(wallet),
    name: agent?.name ?? null,
    framework: agent?.framework ?? null,
    rank: agent?.id ?? null,
    firstSeenAt: agent?.firstSeenAt ?? null,
    painter: painter === null ? null : truncateWallet(painter),
    blocks: sales.map(({ block, claimedAt, tx, settled, painter: own }) => ({
      block: toBlockRef(block),
      claimedAt,
      settled,
      tx,
      ...(own === null ? {} : { painter: truncateWallet(own) }),
    })),
    areas: listAreas(sales),
    nextAfter,
    hasMore,
    open: open.map((purchase) => toOpenPurchase(purchase, now)),
    credits: credits.map(({ amount, tx }) => ({ amount: amount.toString(), tx })),
    contact,
    ...(page.since === undefined ? {} : await readNewsSince(deps, wallet, page.since)),
  }
}

async function readNewsSince(
  { view, log, clock, applyNewEntries }: MyWallDeps,
  wallet: Address,
  since: number,
): Promise<News> {
  // Another process may be ahead of this one in the log.
  if (since > view.number) await applyNewEntries()
  const agent = view.agentByName.get(wallet)
  const [first] = await log.readAfter(since, 1)
  const isWhole = first === undefined ? since <= view.number : first.at >= clock.now() - COMPACTED_AFTER_MS
  const near = agent === undefined ? { changes: [], next: view.number } : findNearChanges(view, agent, since)
  return { rankByBlocks: agent === undefined ? null : rankByBlocks(view, agent), ...near, complete: isWhole }
}

function listAreas(sales: readonly OwnSale[]): WalletArea[] {
  const areas = new Map<AreaName, WalletArea>()
  for (const { area, claimedAt, tx } of sales) if (area !== null) areas.set(area, { area, claimedAt, tx })
  return [...areas.values()]
}

function toOpenPurchase({ target, block, since, state }: Unfinished, now: number): OpenPurchase {
  const doubted = state.kind === 'reserved' && state.uncertain
  return {
    target: formatTarget(target),
    block: toBlockRef(block),
    state: state.kind,
    doubted,
    since,
    ageMs: Math.max(0, now - since),
    resend: state.kind === 'reserved',
    next:
      state.kind === 'released'
        ? whenReleased[isBlock(target) ? 'block' : 'area']
        : doubted
          ? whenDoubted
          : whenReserved,
  }
}

const whenReserved = `The payment is being settled. ${REPEAT}`

const whenDoubted = ADVICE[503]

const whenReleased = {
  block:
    'The block was released, and nothing has been charged so far. If the payment still settles, you get this block, or else the next open one, or else a credit.',
  area: 'The area was released, and nothing has been charged so far. If the payment still settles, you get this area, or else the nearest open one of its size, or else a credit for the whole amount.',
} as const

/** The refusal for an unknown wallet. */
export const createNoPurchasesFailure = (): Failure =>
  createFailure(
    'no_purchases',
    'This wallet has no purchases here. Buy with GET /blocks/next or POST /areas, or the tools buy_block and buy_area.',
  )
