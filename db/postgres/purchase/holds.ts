/** Which blocks can be had, and holding one for a payment. */

import { StaleWriteError } from '../../../server/domain/failure.ts'
import type { Listing } from '../../../server/domain/purchase/listing.ts'
import type { Hash, Payment, PaymentKey, Space, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Availability, ClaimResult, Purchase, UnclaimedPayment } from '../../../server/domain/purchase/purchase.ts'
import { blocksHeld, isBlock, type Target } from '../../../server/domain/purchase/target.ts'
import { type BlockIndex } from '../../../shared/wall.ts'
import { isTooMuch, RECEIPT_KEPT_MS } from '../../limits.ts'
import { firstPlace } from '../../places.ts'
import type { Cell, SummedRow } from '../../row-checksums.ts'
import { authorizationRow, integer, isStale, outlasts, SELECT_PURCHASE, targetColumns, type Size } from '../../rows.ts'
import type { Queries } from '../pool.ts'
import { nameForPurchase } from '../wall/painters.ts'
import { amend, amendAll, put, writeAll, type Reading, type Work } from '../writes.ts'
import { find, known, told, type Known, type PaymentRow } from './payments.ts'
import { lockBlocks, openBlocks, space, spaceIs } from './places.ts'

// What a payer has not been answered, but what a run is at for a client: $1 is the payer, $2 the nonce that asks, $3 since
// when receipts are kept, $4 the target and $7 its size, $5 the nonces of those runs. $6 is what the payer's client
// calls the purchase. Three indexes hold these, whatever else the payer bought.
const unanswered = (target: string, size: string) => `
  s.nonce <> $2 AND s.id IN (
    SELECT id FROM payments WHERE payer = $1 AND state = 'reserved' AND (uncertain = 1 OR nonce <> ALL ($5::text[]))
    UNION ALL SELECT id FROM payments WHERE payer = $1 AND unanswered = 1 AND nonce <> ALL ($5::text[])
      AND (claimed_at > $3 OR block IS NOT DISTINCT FROM ${target})
    UNION ALL SELECT id FROM payments WHERE payer = $1 AND identifier = $6 AND state IN ('reserved', 'sold'))
  AND ((s.size = ${size} AND (
      s.target IS NOT DISTINCT FROM ${target} OR (s.state = 'sold' AND s.block IS NOT DISTINCT FROM ${target})))
    OR s.identifier = $6)`

const UNANSWERED = unanswered('$4::integer', '$7')

/** The payments for which a target is held. */
export async function holders({ rows }: Queries, target: Target): Promise<readonly PaymentKey[]> {
  const columns = targetColumns(target)
  const text = `SELECT payer, nonce FROM payments WHERE state = 'reserved' AND block = coalesce($1, block) AND size = $2`
  return await rows<PaymentKey>(text, [columns.target, columns.size])
}

/** Whether a target can be bought, and which purchase of the payer's goes before. */
export async function availability(
  { queries, check }: Reading,
  target: Target,
  { payer, nonce, identifier }: Payment,
  now: UnixMs,
  attended: readonly Hash[],
): Promise<Availability> {
  // A receipt can be handed over at once, so it goes before a purchase that still has to end.
  const columns = targetColumns(target)
  const areaSpace = isBlock(target) ? undefined : await space(queries, target)
  const [row] = await queries.rows<PaymentRow & { space: Space; held: readonly Size[] }>(
    `SELECT ${spaceIs(isBlock(target) ? target : 'next', '$4::integer')} AS space, prior.*, ${HELD} AS held
    FROM (SELECT 1) AS always LEFT JOIN LATERAL (
      ${SELECT_PURCHASE} JOIN payments AS s ON s.id = p.id
      WHERE ${UNANSWERED} ORDER BY (s.state = 'sold') DESC, s.id LIMIT 1) AS prior ON true`,
    [payer, nonce, now - RECEIPT_KEPT_MS, columns.target, arrayOf(attended), identifier ?? null, columns.size],
  )
  if (row === undefined) throw new Error('a target has no availability')
  const found = areaSpace ?? row.space
  return {
    space: found === 'open' && isTooMuch(row.held, target) ? 'full' : found,
    prior: isThere(row) ? told(check, row).purchase : undefined,
  }
}

// The sizes of what a payer holds.
const HELD = `coalesce((SELECT json_agg(size) FROM payments WHERE payer = $1 AND state = 'reserved'), '[]')`

// As PostgreSQL reads an array; nonces are hex.
const arrayOf = (nonces: readonly Hash[]) => `{${nonces.join(',')}}`

/** Holds a block or a whole area for a payment that is new, or was released; a released one keeps its first target and listing. */
export async function claim(
  work: Work,
  asked: Target,
  payment: Payment,
  listing: Listing,
  head: bigint,
  now: UnixMs,
  attended: readonly Hash[],
): Promise<ClaimResult> {
  const authorization = authorizationRow(payment)
  const standing = await standingOf(work, asked, payment, now, attended)
  const { released } = standing
  if (released !== undefined && released.purchase.state.kind !== 'released')
    throw new StaleWriteError(`a ${released.purchase.state.kind} payment cannot be claimed`)
  if (standing.hasPrior) return { kind: 'prior' }
  const target = released?.purchase.target ?? asked
  const open = await openBlocks(work, target)
  if (typeof open === 'string') return { kind: 'lost', space: open }
  if (isTooMuch(standing.held, target)) return { kind: 'lost', space: 'full' }
  const [block] = open
  const row: SummedRow<'payments'> =
    released === undefined
      ? firstRow({ id: standing.id, authorization, listing, target, head, now }, block.i)
      : {
          ...released.row,
          ...(outlasts(payment, released.purchase.payment) ? authorization : {}),
          state: 'reserved',
          dead: 0,
          block: block.i,
        }
  await writeAll(work.queries, [
    released === undefined ? put('payments', row) : amend('payments', released.row, row),
    ...amendAll('blocks', open, () => ({ state: 'reserved', payment: row.id })),
  ])
  if (released !== undefined) await nextAttempt(work, row.id)
  else await nameIt(work, standing.id, { payment, listing })
  const first = { payment, target, listing, head }
  const kept = released?.purchase ?? first
  const renewed =
    released === undefined || outlasts(payment, released.purchase.payment) ? payment : released.purchase.payment
  return {
    kind: 'claimed',
    purchase: {
      ...kept,
      payment: renewed,
      block: block.i,
      state: { kind: 'reserved', uncertain: false, attempt: attemptAfter(released) },
    },
  }
}

const attemptAfter = (released: Known | undefined): number => (released === undefined ? 1 : released.row.attempt + 1)

/** A payment is held once more. */
const nextAttempt = ({ queries }: Work, id: Cell) =>
  queries.write('UPDATE payments SET attempt = attempt + 1 WHERE id = $1 RETURNING 1', [id])

/** Keeps what a new payment's client calls the purchase, and whom it names as painter. */
async function nameIt(work: Work, id: number, { payment, listing }: Pick<UnclaimedPayment, 'payment' | 'listing'>) {
  if (payment.identifier !== undefined)
    await work.queries.write('UPDATE payments SET identifier = $2 WHERE id = $1 RETURNING 1', [id, payment.identifier])
  await nameForPurchase(work, id, listing)
}

/** Keeps a payment for which nothing was held, as if it had been released. */
export async function recordUnclaimed(work: Work, unclaimed: UnclaimedPayment, now: UnixMs): Promise<Purchase> {
  const { payment, target } = unclaimed
  if ((await find(work, payment)) !== undefined) throw new StaleWriteError('the payment is known')
  const [fresh] = await work.queries.rows<{ id: number }>(
    `SELECT nextval(pg_get_serial_sequence('payments', 'id')) AS id`,
  )
  if (fresh === undefined) throw new Error('payments have no numbers')
  const block = firstPlace(target)
  const row = firstRow({ id: fresh.id, authorization: authorizationRow(payment), ...unclaimed, now }, block)
  await writeAll(work.queries, [put('payments', { ...row, state: 'released' })])
  await nameIt(work, fresh.id, unclaimed)
  return { ...unclaimed, block, state: { kind: 'released', isFinal: false } }
}

type Standing = {
  readonly released: Known | undefined
  readonly held: readonly Size[]
  readonly hasPrior: boolean
  readonly id: number
}

/** What the payer of a claim has open, with a number for the claim's row. */
async function standingOf(
  { queries, check }: Work,
  asked: Target,
  { payer, nonce, identifier }: Payment,
  now: UnixMs,
  attended: readonly Hash[],
): Promise<Standing> {
  const target = 'CASE WHEN p.id IS NULL THEN $4::integer ELSE p.target END'
  const columns = targetColumns(asked)
  const [row] = await queries.rows<PaymentRow & { held: readonly Size[]; prior: boolean; fresh: number }>(
    `SELECT p.*, nextval(pg_get_serial_sequence('payments', 'id')) AS fresh,
      ${HELD} AS held,
      EXISTS (SELECT 1 FROM payments AS s WHERE ${unanswered(target, 'coalesce(p.size, $7)')}) AS prior
    FROM (SELECT 1) AS always LEFT JOIN (${SELECT_PURCHASE} WHERE p.payer = $1 AND p.nonce = $2) AS p ON true`,
    [payer, nonce, now - RECEIPT_KEPT_MS, columns.target, arrayOf(attended), identifier ?? null, columns.size],
  )
  if (row === undefined) throw new Error('a payer has no standing')
  const { held, prior, fresh } = row
  return { released: isThere(row) ? told(check, row) : undefined, held, hasPrior: prior, id: fresh }
}

/** The first row of a payment. */
type First = {
  readonly id: number
  readonly authorization: ReturnType<typeof authorizationRow>
  readonly listing: Listing
  readonly target: Target
  readonly head: bigint
  readonly now: UnixMs
}

/** The row of a payment for which a block is held from now on. */
function firstRow(
  { id, authorization, listing, target, head, now }: First,
  block: BlockIndex,
): SummedRow<'payments'> & Listing {
  return {
    id,
    ...authorization,
    ...listing,
    ...targetColumns(target),
    block,
    head: integer(head),
    created_at: now,
    state: 'reserved',
    uncertain: 0,
    dead: 0,
    settled: 0,
    looks: 0,
    unanswered: 0,
    tx: null,
    seq: null,
    claimed_at: null,
  }
}

/** Gives a held block back, or notes that a payment released before can never land. */
export async function release(work: Work, { payment, state: before }: Purchase, isFinal: boolean): Promise<void> {
  const { row, purchase } = await known(work, payment)
  const { state } = purchase
  if (state.kind === 'released')
    return await writeAll(work.queries, [amend('payments', row, { dead: state.isFinal || isFinal ? 1 : 0 })])
  if (state.kind !== 'reserved') throw new StaleWriteError(`a ${state.kind} payment cannot be released`)
  if (isStale(state, before)) throw new StaleWriteError('somebody else has taken the payment up')
  const held = await lockBlocks(work.queries, blocksHeld(purchase))
  for (const block of held) work.check('blocks', block)
  await writeAll(work.queries, [
    ...amendAll('blocks', held, () => ({ state: 'open', payment: null })),
    amend('payments', row, { state: 'released', uncertain: 0, dead: isFinal ? 1 : 0 }),
  ])
}

/** Whether the row of an outer join holds anything. */
const isThere = (row: PaymentRow): boolean => (row as { readonly id: number | null }).id !== null
