/** The books for auditors: the queries, the conversion of their results, and the identity of the store. */

import { STRAY_BY_HAND, STRAY_NOTE } from '../../server/domain/purchase/account.ts'
import type { BookedCredit, BookedSale, MoneyEntry, Payout, Statement } from '../../server/domain/purchase/balance.ts'
import type { PaymentKey, UnixMs } from '../../server/domain/purchase/payment.ts'
import type { StorePosition } from '../../server/domain/store-position.ts'
import type { Audit } from '../../server/operator-ports.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import {
  PAID_OUT,
  parsePayees,
  toPurchase,
  SELECT_PURCHASE,
  toTarget,
  type PurchaseRow,
  type SizeRow,
} from '../rows.ts'
import { queryOne, queryRows, runTogether, type Tx } from '../tx.ts'
import { listPayees } from './chain-money.ts'

const TOTALS = `
  SELECT (SELECT count(*) FROM blocks WHERE state = 'claimed') AS claimed, (SELECT min(head) FROM payments) AS head`
const SALES = "SELECT payer, nonce, block, w, h, amount, tx, head FROM payments WHERE state = 'sold' ORDER BY seq"
const CREDITS = `
  SELECT p.payer, p.nonce, p.amount, p.tx, p.head, o.reference AS paid_out
  FROM payments AS p LEFT JOIN payouts AS o ON ${PAID_OUT} WHERE p.state = 'credited' ORDER BY p.id`
const OPEN = `${SELECT_PURCHASE} WHERE p.state = 'reserved' OR (p.state = 'released' AND p.dead = 0) ORDER BY p.id`
const FINAL = "SELECT payer, nonce FROM payments WHERE state = 'released' AND dead = 1 ORDER BY id"
const PAYOUTS = 'SELECT payer, nonce, reference, at FROM payouts ORDER BY at'

type Totals = { readonly claimed: number; readonly head: number | null }
type Amount = { readonly amount: number; readonly head: number }
type CreditRow = Omit<BookedCredit, 'amount' | 'head' | 'paidOut'> & Amount & { readonly paid_out: string | null }

const IDENTITY = `
  SELECT (SELECT network FROM wall) AS network, (SELECT max(number) FROM changes) AS change,
    (SELECT max(id) FROM payments) AS payment, (SELECT seen_height FROM wall) AS height, (SELECT payees FROM wall) AS payees`

type IdentityRow = Record<'network' | 'payees', string | null> & Record<'change' | 'payment' | 'height', number | null>

/** The position of a store, and its network if a wall was ever opened on it. */
export function* readIdentity(): Tx<{ readonly network: string | undefined; readonly position: StorePosition }> {
  const { network, change, payment, height, payees } = yield* queryOne<IdentityRow>(IDENTITY)
  return {
    network: network ?? undefined,
    position: {
      change: change ?? 0,
      payment: payment ?? 0,
      height: BigInt(height ?? 0),
      payees: parsePayees(payees ?? ''),
    },
  }
}

/** The content of the books, from one snapshot. */
export function* readStatement(): Tx<Statement> {
  const [{ claimed, head }, sales, credits, open, final, payouts, payTo] = yield* runTogether(
    queryOne<Totals>(TOTALS),
    queryRows<Omit<BookedSale, 'amount' | 'head' | 'blocks'> & SizeRow & Amount>(SALES),
    queryRows<CreditRow>(CREDITS),
    queryRows<PurchaseRow & { readonly created_at: UnixMs }>(OPEN),
    queryRows<PaymentKey>(FINAL),
    queryRows<Payout>(PAYOUTS),
    listPayees(),
  )
  return {
    claimed,
    sales: sales.map(({ amount, head: at, w, h, ...sale }) => ({
      ...sale,
      blocks: w * h,
      amount: BigInt(amount),
      head: BigInt(at),
    })),
    credits: credits.map(({ amount, head: at, paid_out: paidOut, ...credit }) => ({
      ...credit,
      amount: BigInt(amount),
      head: BigInt(at),
      paidOut,
    })),
    open: open.map((row) => ({ purchase: toPurchase(row), since: row.created_at })),
    final,
    payouts,
    payees: payTo,
    from: head === null ? undefined : BigInt(head),
  }
}

const ENTRIES = `
  SELECT * FROM (
    SELECT 'sale' AS kind, claimed_at AS at, payer, nonce, amount, tx, network, block, w, h, NULL AS reference
    FROM payments WHERE seq > 0
    UNION ALL
    SELECT 'credit', created_at, payer, nonce, amount, tx, network, NULL, w, h, NULL
    FROM payments {index credits_of_payer} WHERE state = 'credited'
    UNION ALL
    SELECT 'payout', o.at, o.payer, o.nonce, p.amount, NULL, wall.network, NULL, NULL, NULL, o.reference
    FROM payouts AS o CROSS JOIN wall
      LEFT JOIN payments AS p ON p.payer = o.payer AND p.nonce = o.nonce AND p.state = 'credited'
    WHERE o.reference NOT IN ('${STRAY_NOTE}', '${STRAY_BY_HAND}')
  ) AS entry
  WHERE at >= $at AND (at, payer, nonce, kind) > ($at, $payer, $nonce, $kind)
  ORDER BY at, payer, nonce, kind LIMIT $limit`

const ENTRIES_PAGE = 500

type EntryRow = Pick<MoneyEntry, 'kind' | 'at' | 'payer' | 'nonce' | 'tx' | 'network' | 'reference'> & {
  readonly amount: number | null
  readonly block: BlockIndex | null
} & SizeRow

/** The position of an entry in the list of entries, which is ordered by time. */
type EntryPlace = Readonly<Record<'payer' | 'nonce' | 'kind', string>> & { readonly at: UnixMs }

/** A page of the movements of money after a position. */
function* listMoneyEntries(after: EntryPlace): Tx<readonly MoneyEntry[]> {
  const { at, payer, nonce, kind } = after
  const found = yield* queryRows<EntryRow>(ENTRIES, { at, payer, nonce, kind, limit: ENTRIES_PAGE })
  return found.map(({ amount, block, w, h, ...entry }) => ({
    ...entry,
    amount: amount === null ? null : BigInt(amount),
    holding: block === null ? null : { target: toTarget({ target: block, w, h }), block },
  }))
}

/** The books of an open database, read while its processes run. */
export type Books = Audit & {
  /** All movements of money since a time, in pages. */
  readEntries(since: UnixMs): AsyncIterable<readonly MoneyEntry[]>
  /** When the last backup was made. */
  readLastBackupTime(): Promise<UnixMs | undefined>
  /** The position of the store. Rejects with `CannotOpen` if no wall of the network (CAIP-2) could start on it. */
  readPosition(network: string): Promise<StorePosition>
}

/** All movements of money since a time, in pages, which `read` reads one by one. */
export async function* readEntries(
  since: UnixMs,
  read: (work: () => Tx<readonly MoneyEntry[]>) => Promise<readonly MoneyEntry[]>,
): AsyncGenerator<readonly MoneyEntry[]> {
  for (let after: EntryPlace | undefined = { at: since, payer: '', nonce: '', kind: '' }; after !== undefined;) {
    const from: EntryPlace = after
    const page = await read(() => listMoneyEntries(from))
    if (page.length > 0) yield page
    after = page.at(-1)
  }
}
