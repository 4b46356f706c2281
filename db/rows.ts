/** Database rows, and the domain values that they stand for. */

import { STRAY_BY_HAND, STRAY_NOTE } from '../server/domain/purchase/account.ts'
import type { Address, Hash, Payment, UnixMs } from '../server/domain/purchase/payment.ts'
import type { Purchase } from '../server/domain/purchase/purchase.ts'
import { countBlocks, getPosition, createTarget, type Target } from '../server/domain/purchase/target.ts'
import type { AgentId, BlockContent, Hidden, LogNumber, Profile } from '../server/domain/wall/log.ts'
import { trustPixels } from '../shared/pixels.ts'
import type { BlockIndex } from '../shared/wall.ts'

/** Both engines store booleans as 0 or 1, so that a row has the same bytes on both. */
type Flag = 0 | 1

/** Width and height of what a payment buys, in blocks. */
export type SizeRow = { readonly w: number; readonly h: number }

export type ContentRow = {
  readonly pixels: Uint8Array | null
  readonly message: string | null
  readonly link: string | null
}

type AuthorizationRow = Readonly<ReturnType<typeof toAuthorizationRow>>

type StateRow =
  | { readonly state: 'reserved'; readonly uncertain: Flag }
  | {
      readonly state: 'sold'
      readonly tx: Hash
      readonly claimed_at: number
      readonly sale_name: string | null
      readonly sale_framework: string | null
      readonly settled: Flag
      readonly unanswered: Flag
    }
  | { readonly state: 'released'; readonly dead: Flag }
  | { readonly state: 'credited'; readonly tx: Hash; readonly paid_back: 1 | null }

/** A row of `payments`; for a sold payment, with the names that its sale wrote to the log. */
export type PurchaseRow = AuthorizationRow &
  ContentRow &
  SizeRow &
  StateRow & {
    readonly id: number
    readonly sale_number: number | null
    readonly target: BlockIndex | null
    readonly attempt: number
    readonly identifier: string | null
    readonly block: BlockIndex
    readonly name: string | null
    readonly framework: string | null
    readonly head: number
    readonly painter: Address | null
    readonly painter_of: number | null
    readonly reused_for?: Hash | null // nonce of the request's payment, if this receipt was the response to it
  }

export const PURCHASE_SOURCES = { payments: 'id', changes: 'sale_number', purchase_painters: 'painter_of' } as const

/**
 * SQL for the number of the payment with `payer` and `nonce`. Joins use this number. If a join compared the two columns
 * itself, SQLite would plan the statement on each run, which takes 20 of the run's 25 us.
 */
export const PAYMENT_ID = '(SELECT id FROM payments WHERE payer = $payer AND nonce = $nonce)'

/**
 * The condition that `o`, a row of payouts, records the refund of the credit `p`. A note about stray money does not
 * record a refund, because that money may become a credit later.
 */
export const PAID_OUT = `o.payer = p.payer AND o.nonce = p.nonce AND o.reference NOT IN ('${STRAY_NOTE}', '${STRAY_BY_HAND}')`

/** SQL that reads a `PurchaseRow` and `more` columns; the caller appends a condition on `p`. */
export const renderPurchaseSql = (more = ''): string => `
  SELECT p.*, sale.name AS sale_name, sale.framework AS sale_framework, sale.number AS sale_number,
    named.painter, named.payment AS painter_of,
    CASE WHEN p.state = 'credited' THEN (SELECT 1 FROM payouts AS o WHERE ${PAID_OUT}) END AS paid_back${more}
  FROM payments AS p LEFT JOIN changes AS sale ON sale.seq = p.seq
  LEFT JOIN purchase_painters AS named ON named.payment = p.id`

export const SELECT_PURCHASE = renderPurchaseSql()

/**
 * The condition that a payment is unfinished. It must be exactly the condition of the index `unfinished`; queries may
 * add further conditions.
 */
export const IS_UNFINISHED = `(state = 'reserved' OR (state = 'released' AND dead = 0) OR (state IN ('sold', 'credited') AND looks < 2))`

/** The addresses in the column `payees` of the wall’s own row. */
export const parsePayees = (column: string): readonly Address[] =>
  column.split(' ').filter((payee): payee is Address => payee !== '')

/** A target as columns: `target` is its top left block, `null` for the open place nearest the centre. */
export function toTargetColumns(target: Target): SizeRow & { readonly target: BlockIndex | null } {
  const { at, w, h } = getPosition(target)
  return { target: at === 'next' ? null : at, w, h }
}

/** The target in these columns. */
export const toTarget = ({ target, w, h }: Pick<PurchaseRow, 'target' | 'w' | 'h'>): Target =>
  createTarget(target ?? 'next', { w, h })

/** A wallet that has bought at least one block. */
export type Agent = Profile & {
  readonly id: AgentId
  readonly wallet: Address
  readonly changed: LogNumber
  readonly signed_at: UnixMs | null
}

/** The domain value of a row of `payments`. */
export function toPurchase(row: PurchaseRow): Purchase {
  const target = toTarget(row)
  const { name, framework, pixels, message, link } = row
  return {
    payment: toPayment(row),
    target,
    block: row.block,
    listing: {
      name,
      framework,
      message,
      link,
      pixels: pixels === null ? null : trustPixels(pixels, countBlocks(target)),
      painter: row.painter,
    },
    head: BigInt(row.head),
    state: toState(row),
  }
}

export function toContent({ pixels, message, link }: ContentRow): BlockContent {
  return { pixels: pixels === null ? null : trustPixels(pixels), message, link }
}

/** The hidden parts, from a column of bits. */
export const toHiddenParts = (mask: number): Hidden => ({
  pixels: (mask & 1) !== 0,
  message: (mask & 2) !== 0,
  link: (mask & 4) !== 0,
})

/** The hidden parts, as a column of bits. */
export const toMask = ({ pixels, message, link }: Hidden): number =>
  (pixels ? 1 : 0) | (message ? 2 : 0) | (link ? 4 : 0)

/** A payment's columns. Throws if the payment differs from the terms that it accepts. */
export function toAuthorizationRow(payment: Payment) {
  const { accepted } = payment
  if (accepted.payTo !== payment.to || accepted.amount !== payment.amount)
    throw new RangeError('a payment that differs from the terms it accepts cannot be stored')
  return {
    payer: payment.payer,
    nonce: payment.nonce,
    pay_to: payment.to,
    asset: accepted.asset,
    network: accepted.network,
    scheme: accepted.scheme,
    amount: toInteger(payment.amount),
    valid_after: toInteger(payment.validAfter),
    valid_before: toInteger(payment.validBefore),
    signature: payment.signature,
  }
}

/** An amount, a height or a time as a number. Throws if it is negative or not a safe integer. */
export function toInteger(value: bigint): number {
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER))
    throw new RangeError(`${value} is negative or not a safe integer`)
  return Number(value)
}

function toPayment(row: AuthorizationRow & Pick<PurchaseRow, 'identifier'>): Payment {
  const amount = BigInt(row.amount)
  return {
    ...(row.identifier === null ? {} : { identifier: row.identifier }),
    payer: row.payer,
    nonce: row.nonce,
    to: row.pay_to,
    amount,
    validAfter: BigInt(row.valid_after),
    validBefore: BigInt(row.valid_before),
    signature: row.signature,
    accepted: { scheme: row.scheme, network: row.network, asset: row.asset, payTo: row.pay_to, amount },
  }
}

function toState(row: StateRow & Pick<PurchaseRow, 'attempt' | 'reused_for'>): Purchase['state'] {
  switch (row.state) {
    case 'reserved':
      return { kind: 'reserved', uncertain: row.uncertain === 1, attempt: row.attempt }
    case 'sold':
      return {
        kind: 'sold',
        tx: row.tx,
        claimedAt: row.claimed_at,
        name: row.sale_name,
        framework: row.sale_framework,
        settled: row.settled === 1,
        unanswered: row.unanswered === 1,
        ...(typeof row.reused_for === 'string' ? { receiptReusedFor: row.reused_for } : {}),
      }
    case 'released':
      return { kind: 'released', isFinal: row.dead === 1 }
    case 'credited':
      return { kind: 'credited', tx: row.tx, ...(row.paid_back === 1 ? { isPaidBack: true } : {}) }
  }
}
