/** Tells an agent that has lost its state what the wall holds of its wallet. */

import type { OpenPurchase, WalletStanding } from '../../shared/contract/wallet.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import { truncatedWallet } from '../../shared/wallet.ts'
import type { OpenPurchase as Unfinished } from '../domain/account.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { Address } from '../domain/payment.ts'
import { registryEntry, type WallView } from '../domain/wall-view.ts'
import type { Books, Clock } from '../ports.ts'

/** What telling needs. `contact` is where a payer who is owed money turns to. */
export type Telling = {
  readonly view: WallView
  readonly books: Books
  readonly clock: Clock
  readonly contact: string | null
  readonly advance: () => Promise<void>
}

/** All that is known of a wallet; a wallet of which there is nothing to tell is refused. */
export async function myWall(
  { view, books, clock, contact, advance }: Telling,
  wallet: Address,
): Promise<WalletStanding | Failure> {
  const { sales, open, credits } = await books.ofPayer(wallet)
  if (sales.length + open.length + credits.length === 0) return noPurchases()
  // Another process may have sold to it just now.
  if (sales.length > 0 && registryEntry(view, wallet) === undefined) await advance()
  const entry = registryEntry(view, wallet)
  const now = clock.now()
  return {
    wallet: truncatedWallet(wallet),
    name: entry?.name ?? null,
    framework: entry?.framework ?? null,
    rank: entry?.rank ?? null,
    firstSeenAt: entry?.firstSeenAt ?? null,
    blocks: sales.map(({ block, claimedAt, settled, tx }) => ({ block: refOf(block), claimedAt, settled, tx })),
    open: open.map((purchase) => openPurchase(purchase, now)),
    credits: credits.map(({ amount, tx }) => ({ amount: amount.toString(), tx })),
    contact,
  }
}

const refOf = (block: BlockIndex) => ({ coord: coordOf(block), index: block })

function openPurchase({ target, block, since, state }: Unfinished, now: number): OpenPurchase {
  const doubted = state.kind === 'reserved' && state.uncertain
  return {
    target: target === 'next' ? target : coordOf(target),
    block: refOf(block),
    state: state.kind,
    doubted,
    since,
    ageMs: Math.max(0, now - since),
    resend: state.kind === 'reserved',
    next: state.kind === 'released' ? whenReleased : doubted ? whenDoubted : whenReserved,
  }
}

const whenReserved = 'Send the same signed request again to finish it.'

const whenDoubted = 'The payment may have gone through. Do not pay again: send the same signed request again.'

const whenReleased =
  'The block was given back, and nothing was charged so far. Should the payment land yet, you get this block, else the next open one, else a credit.'

const noPurchases = (): Failure =>
  failure(
    'no_purchases',
    'This wallet has bought nothing here, and is buying nothing. Buy with GET /blocks/next, or the tool buy_block.',
  )
