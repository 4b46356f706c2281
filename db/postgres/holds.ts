/** Which blocks can be had, and holding one for a payment. */

import { Overtaken } from '../../server/domain/failure.ts'
import type { Listing } from '../../server/domain/listing.ts'
import type { Hash, Payment, PaymentKey, Space, Target, UnixMs } from '../../server/domain/payment.ts'
import type { Availability, Claiming, Purchase } from '../../server/domain/purchase.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { HOLDS_MAX, RECEIPT_KEPT_MS } from '../limits.ts'
import type { Cell, SummedRow } from '../row-sums.ts'
import { authorizationRow, integer, isOvertaken, SELECT_PURCHASE, type FaceRow } from '../rows.ts'
import type { Transaction } from './connection.ts'
import { nameForPurchase } from './painters.ts'
import { known, told, type Known, type PaymentRow, type Reading } from './payments.ts'
import type { Queries } from './pool.ts'
import { amend, isSound, put, writeAll, type Check, type Stored } from './writes.ts'

/** A transaction, and what notices damaged rows. */
export type Work = { readonly queries: Transaction; readonly check: Check }

/** A block with all of its columns. */
export type BlockRow = Stored<'blocks'> &
  FaceRow & { readonly i: BlockIndex; readonly state: Exclude<Space, 'full'>; readonly changed: number | null }

// What a payer has not been answered, but what a run is at for a client: $1 is the payer, $2 the nonce that asks, $3 since
// when receipts are kept, $4 the target, $5 the nonces of those runs. $6 is what the payer's client
// calls the purchase. Three indexes hold these, whatever else the payer bought.
const unanswered = (target: string) => `
  s.nonce <> $2 AND s.id IN (
    SELECT id FROM payments WHERE payer = $1 AND state = 'reserved' AND (uncertain = 1 OR nonce <> ALL ($5::text[]))
    UNION ALL SELECT id FROM payments WHERE payer = $1 AND unanswered = 1 AND nonce <> ALL ($5::text[])
      AND (claimed_at > $3 OR block IS NOT DISTINCT FROM ${target})
    UNION ALL SELECT id FROM payments WHERE payer = $1 AND identifier = $6 AND state IN ('reserved', 'sold'))
  AND (s.target IS NOT DISTINCT FROM ${target} OR (s.state = 'sold' AND s.block IS NOT DISTINCT FROM ${target})
    OR s.identifier = $6)`

const UNANSWERED = unanswered('$4::integer')

// $1 names those to pass by.
const OPEN = `
  SELECT * FROM blocks WHERE state = 'open' AND NOT (i = ANY ($1::integer[])) ORDER BY rank LIMIT 1 FOR UPDATE`

const LOCK = 'SELECT * FROM blocks WHERE i = ANY ($1::integer[]) ORDER BY i FOR UPDATE'

// How often to look again for a block that others are just taking or giving back.
const LOOKS = 5

/** Statement, with one value, that tells whether a target can be bought by anyone. */
const spaceIs = (target: Target, value: string) =>
  target === 'next'
    ? `CASE WHEN EXISTS (SELECT 1 FROM blocks WHERE state = 'open') THEN 'open'
         WHEN EXISTS (SELECT 1 FROM payments WHERE state = 'reserved') THEN 'reserved' ELSE 'claimed' END`
    : `(SELECT state FROM blocks WHERE i = ${value})`

/** Whether a target can be bought by anyone. */
export async function space({ rows }: Queries, target: Target): Promise<Exclude<Space, 'full'>> {
  const values = target === 'next' ? [] : [target]
  const [row] = await rows<{ space: Exclude<Space, 'full'> }>(`SELECT ${spaceIs(target, '$1')} AS space`, values)
  if (row === undefined) throw new Error('a target has no space')
  return row.space
}

/** The payments for which a target is held. */
export async function holders({ rows }: Queries, target: Target): Promise<readonly PaymentKey[]> {
  const text = `SELECT payer, nonce FROM payments WHERE state = 'reserved' AND block = coalesce($1, block)`
  return await rows<PaymentKey>(text, [columnOf(target)])
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
  const [row] = await queries.rows<PaymentRow & { space: Space; held: number }>(
    `SELECT ${spaceIs(target, '$4::integer')} AS space, prior.*,
      (SELECT count(*) FROM payments WHERE payer = $1 AND state = 'reserved') AS held
    FROM (SELECT 1) AS always LEFT JOIN LATERAL (
      ${SELECT_PURCHASE} JOIN payments AS s ON s.id = p.id
      WHERE ${UNANSWERED} ORDER BY (s.state = 'sold') DESC, s.id LIMIT 1) AS prior ON true`,
    [payer, nonce, now - RECEIPT_KEPT_MS, columnOf(target), arrayOf(attended), identifier ?? null],
  )
  if (row === undefined) throw new Error('a target has no availability')
  const isFull = row.space === 'open' && row.held >= HOLDS_MAX
  return {
    space: isFull ? 'full' : row.space,
    prior: isThere(row) ? told(check, row).purchase : undefined,
  }
}

// As PostgreSQL reads an array; nonces are hex.
const arrayOf = (nonces: readonly Hash[]) => `{${nonces.join(',')}}`

/** Holds a block for a payment that is new, or was released; a released one keeps its first target and listing. */
export async function claim(
  work: Work,
  asked: Target,
  payment: Payment,
  listing: Listing,
  head: bigint,
  now: UnixMs,
  attended: readonly Hash[],
): Promise<Claiming> {
  const authorization = authorizationRow(payment)
  const standing = await standingOf(work, asked, payment, now, attended)
  const { released } = standing
  if (released !== undefined && released.purchase.state.kind !== 'released')
    throw new Overtaken(`a ${released.purchase.state.kind} payment cannot be claimed`)
  if (standing.hasPrior) return { kind: 'prior' }
  const target = released?.purchase.target ?? asked
  const block = await openBlock(work, target)
  if (typeof block === 'string') return { kind: 'lost', space: block }
  if (standing.held >= HOLDS_MAX) return { kind: 'lost', space: 'full' }
  const row: SummedRow<'payments'> =
    released === undefined
      ? firstRow({ id: standing.id, authorization, listing, target, head, now }, block.i)
      : {
          ...released.row,
          ...(outlives(released, payment) ? authorization : {}),
          state: 'reserved',
          dead: 0,
          block: block.i,
        }
  await writeAll(work.queries, [
    released === undefined ? put('payments', row) : amend('payments', released.row, row),
    amend('blocks', block, { state: 'reserved', payment: row.id }),
  ])
  if (released !== undefined) await nextAttempt(work, row.id)
  else if (payment.identifier !== undefined) await nameIt(work, row.id, payment.identifier)
  if (released === undefined) await nameForPurchase(work, standing.id, listing)
  const first = { payment, target, listing, head }
  const kept = released?.purchase ?? first
  const renewed = released === undefined || outlives(released, payment) ? payment : released.purchase.payment
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

/** A purchase is called as its client calls it. */
const nameIt = ({ queries }: Work, id: Cell, identifier: string) =>
  queries.write('UPDATE payments SET identifier = $2 WHERE id = $1 RETURNING 1', [id, identifier])

type Standing = {
  readonly released: Known | undefined
  readonly held: number
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
  const [row] = await queries.rows<PaymentRow & { held: number; prior: boolean; fresh: number }>(
    `SELECT p.*, nextval(pg_get_serial_sequence('payments', 'id')) AS fresh,
      (SELECT count(*) FROM payments WHERE payer = $1 AND state = 'reserved') AS held,
      EXISTS (SELECT 1 FROM payments AS s WHERE ${unanswered(target)}) AS prior
    FROM (SELECT 1) AS always LEFT JOIN (${SELECT_PURCHASE} WHERE p.payer = $1 AND p.nonce = $2) AS p ON true`,
    [payer, nonce, now - RECEIPT_KEPT_MS, columnOf(asked), arrayOf(attended), identifier ?? null],
  )
  if (row === undefined) throw new Error('a payer has no standing')
  const { held, prior, fresh } = row
  return { released: isThere(row) ? told(check, row) : undefined, held, hasPrior: prior, id: fresh }
}

/** The open block a target names, locked until the transaction ends, or why there is none. */
export async function openBlock(work: Work, target: Target): Promise<BlockRow | 'reserved' | 'claimed'> {
  const block = target === 'next' ? await nextOpen(work) : await lockBlock(work.queries, target)
  if (block === undefined) return (await space(work.queries, 'next')) === 'claimed' ? 'claimed' : 'reserved'
  work.check('blocks', block)
  return block.state === 'open' ? block : block.state
}

/**
 * The first open block that nobody is taking; where all of them are being taken, the first that is left in the end. Damaged
 * ones are passed by.
 */
async function nextOpen({ queries, check }: Work): Promise<BlockRow | undefined> {
  const damaged: BlockIndex[] = []
  for (let looks = 0; looks < LOOKS;) {
    const passing = [`{${damaged.join(', ')}}`]
    const [free] = await queries.rows<BlockRow>(`${OPEN} SKIP LOCKED`, passing)
    const block = free ?? (await queries.rows<BlockRow>(OPEN, passing))[0]
    if (block !== undefined && isSound(check, 'blocks', block)) return block
    if (block !== undefined) damaged.push(block.i)
    else if ((await space(queries, 'next')) !== 'open') return undefined
    else looks += 1
  }
  return undefined
}

/** A block, locked until the transaction ends. */
export async function lockBlock({ rows }: Queries, block: BlockIndex): Promise<BlockRow> {
  const [row] = await rows<BlockRow>('SELECT * FROM blocks WHERE i = $1 FOR UPDATE', [block])
  if (row === undefined) throw new Error('a block of the wall is not in its table')
  return row
}

/** Blocks, row by row, locked until the transaction ends; in the order that all lock them in. */
export async function lockBlocks({ rows }: Queries, blocks: readonly BlockIndex[]): Promise<readonly BlockRow[]> {
  const found = await rows<BlockRow>(LOCK, [`{${blocks.join(', ')}}`])
  if (found.length !== blocks.length) throw new Error('a block of the wall is not in its table')
  return found
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
export function firstRow(
  { id, authorization, listing, target, head, now }: First,
  block: BlockIndex,
): SummedRow<'payments'> & Listing {
  return {
    id,
    ...authorization,
    ...listing,
    target: columnOf(target),
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

/**
 * A nonce can be signed for twice. The authorization verified last is kept, unless the one before outlives it: what may
 * still land is watched to its end.
 */
const outlives = ({ purchase }: Known, payment: Payment): boolean => payment.validBefore >= purchase.payment.validBefore

/** Gives a held block back, or notes that a payment released before can never land. */
export async function release(work: Work, { payment, state: before }: Purchase, dead: boolean): Promise<void> {
  const { row, purchase } = await known(work, payment)
  const { block, state } = purchase
  if (state.kind === 'released')
    return await writeAll(work.queries, [amend('payments', row, { dead: state.dead || dead ? 1 : 0 })])
  if (state.kind !== 'reserved') throw new Overtaken(`a ${state.kind} payment cannot be released`)
  if (isOvertaken(state, before)) throw new Overtaken('somebody else has taken the payment up')
  const held = await lockBlock(work.queries, block)
  work.check('blocks', held)
  await writeAll(work.queries, [
    amend('blocks', held, { state: 'open', payment: null }),
    amend('payments', row, { state: 'released', uncertain: 0, dead: dead ? 1 : 0 }),
  ])
}

/** Whether the row of an outer join holds anything. */
const isThere = (row: PaymentRow): boolean => (row as { readonly id: number | null }).id !== null

export const columnOf = (target: Target): BlockIndex | null => (target === 'next' ? null : target)
