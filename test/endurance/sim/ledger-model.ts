/** The ledger's promises as a model in memory: small enough to be obviously correct. */

import { StaleWriteError } from '../../../server/domain/failure.ts'
import type { Listing } from '../../../server/domain/purchase/listing.ts'
import {
  FIRST_CONFIRMATION_MS,
  toPaymentKey,
  LAST_CONFIRMATION_MS,
  type Address,
  type Hash,
  type Payment,
  type PaymentKey,
  type Availability,
  type Target,
  type UnixMs,
} from '../../../server/domain/purchase/payment.ts'
import { isSold, type Purchase, type SoldPurchase } from '../../../server/domain/purchase/purchase.ts'
import {
  listHeldBlocks,
  countBlocks,
  resolveTarget,
  getPosition,
  createTarget,
} from '../../../server/domain/purchase/target.ts'
import type { Audit } from '../../../server/operator-ports.ts'
import type { Agents, Blocks, ChainCheckpoint, Ledger, Log, Payouts, Store } from '../../../server/ports.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { findNearestPlace } from './areas.ts'

/**
 * A ledger for the simulation, with extra reads for the simulation's checks, and the other ports if the engine is the
 * real one.
 */
export type Book = {
  readonly ledger: Ledger
  /** The ports that owners use, if the engine is the real one: testing a model of them would prove nothing. */
  readonly paint: Paint | undefined
  /** The stored purchase of a payment, given its key (see `toPaymentKey`), for observers. */
  findRow(key: string): Purchase | undefined
  /** For each block held or sold, the key (see `toPaymentKey`) of its payment. */
  readHolders(): ReadonlyMap<BlockIndex, string>
  /** The payment addresses of all stored payments. */
  listPayees(): Promise<readonly Address[]>
  /** The sales after number `after`, in order. Sales are numbered from 1 without gaps. */
  listSales(after: number): Promise<readonly Sale[]>
  /** The operator's ports, if the engine is the real one. */
  readonly vault: Vault | undefined
  close(): void
}

/**
 * The file of a book: the ports for the operator, and numbered copies that can be restored. Restoring a copy closes all
 * ports that were read from the book before.
 */
export type Vault = {
  readonly ports: {
    readonly store: Store
    readonly checkpoint: ChainCheckpoint
    readonly payouts: Payouts
    readonly audit: Audit
  }
  saveCopy(number: number): void
  restoreCopy(number: number): void
}

export type Sale = {
  readonly seq: number
  readonly block: BlockIndex
  readonly at: UnixMs
  readonly message: string | null
}

export type Paint = { readonly blocks: Blocks; readonly agents: Agents; readonly log: Log }

/**
 * Opens an empty ledger whose wall has only these blocks, in the order in which `next` sells them. `sells` is `areas`
 * if the wall sells areas as well as single blocks.
 */
export type OpenBook = (wall: readonly BlockIndex[], sells: 'blocks' | 'areas') => Promise<Book>

const HOLDS_MAX = 16
const HELD_BLOCKS_MAX = 400
const RECEIPT_OWED_MS = 10 * 60_000
const REUSES_MAX = 16

export const openModelBook: OpenBook = async (wall) => {
  const shelf = createShelf(wall)
  return {
    ledger: createModelLedger(shelf),
    paint: undefined,
    findRow: (key) => shelf.rows.get(key),
    readHolders: () =>
      new Map(shelf.holders.entries().map(([block, { payment }]) => [block, toPaymentKey(payment)] as const)),
    listPayees: async () => [...shelf.rows.values()].map(({ payment }) => payment.to),
    listSales: async (after) => shelf.sales.slice(after),
    vault: undefined,
    close: () => {},
  }
}

type Shelf = {
  readonly wall: readonly BlockIndex[]
  readonly sales: Sale[]
  readonly attempts: Map<string, number> // how often each payment was held
  readonly looks: Map<string, number> // how many confirmation checks each sale has had; it needs no more than 2
  /** For each payment that got an earlier receipt: the key of the purchase in that receipt. */
  readonly reused: Map<string, string>
  readonly rows: ReadonlyMap<string, Purchase>
  readonly holders: ReadonlyMap<BlockIndex, Purchase>
  storePurchase<P extends Purchase>(purchase: P): P
  getRow(key: PaymentKey): Purchase
  /** The first block of an available position for the target, or why there is none. */
  findOpenPlace(target: Target): BlockIndex | Exclude<Availability, 'open' | 'full'>
}

function createShelf(wall: readonly BlockIndex[]): Shelf {
  const rows = new Map<string, Purchase>()
  const holders = new Map<BlockIndex, Purchase>()
  return {
    wall,
    sales: [],
    attempts: new Map(),
    looks: new Map(),
    reused: new Map(),
    rows,
    holders,
    storePurchase(purchase) {
      const before = rows.get(toPaymentKey(purchase.payment))
      if (before !== undefined && isHeld(before)) for (const block of listHeldBlocks(before)) holders.delete(block)
      if (isHeld(purchase)) for (const block of listHeldBlocks(purchase)) holders.set(block, purchase)
      rows.set(toPaymentKey(purchase.payment), purchase)
      return purchase
    },
    getRow(key) {
      const found = rows.get(toPaymentKey(key))
      if (found === undefined) throw new Error('no such payment')
      return found
    },
    findOpenPlace: (target) => searchOpenPlace(wall, holders, target),
  }
}

const isHeld = ({ state }: Purchase) => state.kind === 'reserved' || state.kind === 'sold'

const createModelLedger = (shelf: Shelf): Ledger => ({
  find: async (key) => shelf.rows.get(toPaymentKey(key)),
  listHolders: async (target) =>
    [...shelf.rows.values()]
      .filter(
        (row) => row.state.kind === 'reserved' && (target === toNext(row.target) || target === resolveTarget(row)),
      )
      .map(({ payment }) => payment),
  checkSpace: async (target) => computeSpace(shelf, target),
  async listUnavailable(target) {
    const { at } = getPosition(target)
    const blocks = at === 'next' ? [] : listHeldBlocks({ target, block: at })
    const filterByKind = (kind: 'sold' | 'reserved') =>
      blocks.filter((block) => describeHold(shelf.holders.get(block)) === kind)
    return { taken: filterByKind('sold'), held: filterByKind('reserved') }
  },

  async checkAvailability(target, payment, now, activeNonces) {
    const prior = findPriors(shelf, target, payment, now, activeNonces)
    const reused = prior
      .filter(isSold)
      .find((row) => shelf.reused.get(toPaymentKey(payment)) === toPaymentKey(row.payment))
    const again = reused && { ...reused, state: { ...reused.state, receiptReusedFor: payment.nonce } }
    return { space: computeAvailability(shelf, target, payment), prior: again ?? prior.find(isSold) ?? prior[0] }
  },

  async claim(asked, signed, draft, height, now, activeNonces) {
    const known = shelf.rows.get(toPaymentKey(signed))
    if (known !== undefined && known.state.kind !== 'released') throw new StaleWriteError('claimed twice')
    const payment = known === undefined ? signed : renewPayment(known.payment, signed)
    const { target, listing, head } = known ?? { target: asked, listing: draft, head: height }
    const isSameOrder = formatTexts(listing) === formatTexts(draft)
    const own = isSameOrder ? draft.pixels : null
    const shown = { ...listing, pixels: listing.pixels ?? own }
    if (findPriors(shelf, target, payment, now, activeNonces).length > 0) return { kind: 'prior' }
    const space = computeAvailability(shelf, target, payment)
    if (space !== 'open') return { kind: 'lost', space }
    const block = shelf.findOpenPlace(target)
    if (typeof block === 'string') throw new Error('the target counts as open, but has no open position')
    const attempt = (shelf.attempts.get(toPaymentKey(payment)) ?? 0) + 1
    shelf.attempts.set(toPaymentKey(payment), attempt)
    const state = { kind: 'reserved', uncertain: false, attempt } as const
    return { kind: 'claimed', purchase: shelf.storePurchase({ payment, target, block, listing: shown, head, state }) }
  },

  async markUncertain({ payment }) {
    const held = shelf.getRow(payment)
    if (held.state.kind !== 'reserved') throw new StaleWriteError('uncertain without being held')
    return shelf.storePurchase({ ...held, state: { ...held.state, uncertain: true } })
  },

  async finalize({ payment }, tx, settled, now) {
    const { state, ...held } = shelf.getRow(payment)
    if (state.kind === 'sold') {
      if (settled && !state.settled) confirmSale(shelf, { ...held, state }, tx)
      const sold = shelf.getRow(payment)
      return isSold(sold) ? sold : { ...held, state }
    }
    if (state.kind !== 'reserved') throw new StaleWriteError('sold without being held')
    return storeSale(shelf, { ...held, state }, tx, settled, now)
  },

  async confirm({ payment }, tx) {
    const { state, ...sold } = shelf.getRow(payment)
    if (state.kind !== 'sold') throw new Error('confirmed without being sold')
    confirmSale(shelf, { ...sold, state }, tx)
  },

  async markFinal({ payment }, tx) {
    const { state, ...sold } = shelf.getRow(payment)
    if (state.kind !== 'sold' && state.kind !== 'credited')
      throw new Error('marked as final without being sold or credited')
    shelf.storePurchase({ ...sold, state: state.kind === 'sold' ? { ...state, tx, settled: true } : { ...state, tx } })
    shelf.looks.set(toPaymentKey(payment), 2)
  },

  markMissing: async ({ payment }) => unsettleSale(shelf, payment, 0),
  async writeOff({ payment }) {
    const known = shelf.getRow(payment)
    if (known.state.kind === 'credited') shelf.storePurchase({ ...known, state: { kind: 'released', isFinal: true } })
    else unsettleSale(shelf, payment, 2)
  },

  async release({ payment, state: before }, isFinal) {
    const held = shelf.getRow(payment)
    if (held.state.kind === 'sold' || held.state.kind === 'credited')
      throw new StaleWriteError('released after it was sold or credited')
    if (held.payment.validBefore !== payment.validBefore) throw new StaleWriteError('signed with another expiry time')
    if (held.state.kind === 'reserved') {
      const isTakenUp = before.kind !== 'reserved' || (held.state.uncertain && !before.uncertain)
      if (isTakenUp || held.state.attempt !== before.attempt) throw new StaleWriteError('settled by another')
    }
    shelf.storePurchase({
      ...held,
      state: { kind: 'released', isFinal: isFinal || (held.state.kind === 'released' && held.state.isFinal) },
    })
  },

  async recordUnclaimed(unclaimed) {
    if (shelf.rows.has(toPaymentKey(unclaimed.payment))) throw new StaleWriteError('known')
    const block = chooseBlock(shelf, unclaimed.target)
    return shelf.storePurchase({ ...unclaimed, block, state: { kind: 'released', isFinal: false } })
  },

  fulfilLatePayment: async ({ payment }, tx, now) => fulfilLatePayment(shelf, shelf.getRow(payment), tx, now),

  async reuseReceipt({ payment }, to) {
    const sale = shelf.getRow(payment)
    const later = toPaymentKey({ payer: payment.payer, nonce: to })
    const own = shelf.rows.get(later)
    const isFree = own === undefined || own.state.kind === 'released'
    const uses = [...shelf.reused.values()].filter((earlier) => earlier === toPaymentKey(payment)).length
    if (!shelf.reused.has(later) && isSold(sale) && sale.state.unanswered && isFree && uses < REUSES_MAX)
      shelf.reused.set(later, toPaymentKey(payment))
    return shelf.reused.get(later) === toPaymentKey(payment)
  },

  async markAnswered(key) {
    const known = shelf.rows.get(toPaymentKey(key))
    if (known === undefined || !isSold(known)) return
    shelf.storePurchase({ ...known, state: { ...known.state, unanswered: false } })
  },

  listUnfinished: async (now) =>
    [...shelf.rows.values()].filter((row) => isUnfinished(shelf, row, now)).map(({ payment }) => payment),
})

/** Of two authorizations for the same money, the one that is valid for longer. */
function renewPayment(before: Payment, signed: Payment): Payment {
  if (signed.amount !== before.amount || signed.to !== before.to) throw new StaleWriteError('another amount or payee')
  return signed.validBefore < before.validBefore ? before : { ...before, ...signed }
}

function computeSpace({ findOpenPlace: place }: Shelf, target: Target): Exclude<Availability, 'full'> {
  const found = place(target)
  return typeof found === 'string' ? found : 'open'
}

/** A target without its position. */
const toNext = (target: Target): Target => createTarget('next', getPosition(target))

function searchOpenPlace(
  wall: readonly BlockIndex[],
  holders: Shelf['holders'],
  target: Target,
): BlockIndex | Exclude<Availability, 'open' | 'full'> {
  const { at } = getPosition(target)
  const isBlockSold = (block: BlockIndex) => describeHold(holders.get(block)) === 'sold'
  if (at !== 'next') {
    const blocks = listHeldBlocks({ target, block: at })
    if (blocks.some(isBlockSold)) return 'claimed'
    return blocks.some((block) => holders.has(block)) ? 'reserved' : at
  }
  const open = findNearestPlace(wall, target, (block) => holders.has(block))
  if (open !== undefined) return open
  if (wall.every(isBlockSold)) return 'claimed'
  return findNearestPlace(wall, target, isBlockSold) === undefined ? 'crowded' : 'reserved'
}

const describeHold = (held: Purchase | undefined): 'sold' | 'reserved' | 'none' =>
  held === undefined ? 'none' : held.state.kind === 'sold' ? 'sold' : 'reserved'

function computeAvailability(shelf: Shelf, target: Target, { payer }: Payment): Availability {
  const space = computeSpace(shelf, target)
  const holds = [...shelf.rows.values()].filter(
    ({ payment, state }) => payment.payer === payer && state.kind === 'reserved',
  )
  const blocks = holds.reduce((sum, held) => sum + countBlocks(held.target), countBlocks(target))
  return space === 'open' && (holds.length >= HOLDS_MAX || blocks > HELD_BLOCKS_MAX) ? 'full' : space
}

/** The payer's earlier purchases to resolve first: in doubt, without a waiting client, or with the same identifier. */
function findPriors(
  { rows, reused }: Shelf,
  target: Target,
  { payer, nonce, identifier }: Payment,
  now: UnixMs,
  activeNonces: readonly Hash[],
): Purchase[] {
  return [...rows.values()].filter((row) => {
    const { payment, target: asked, state } = row
    if (payment.payer !== payer || payment.nonce === nonce) return false
    const isNamed = identifier !== undefined && payment.identifier === identifier
    if (isNamed && (state.kind === 'reserved' || state.kind === 'sold')) return true
    if (reused.get(toPaymentKey({ payer, nonce })) === toPaymentKey(payment)) return true
    const isAttended = activeNonces.includes(payment.nonce)
    if (state.kind === 'reserved') return asked === target && (state.uncertain || !isAttended)
    if (state.kind !== 'sold' || !state.unanswered || isAttended) return false
    return resolveTarget(row) === target || (asked === target && now - state.claimedAt < RECEIPT_OWED_MS)
  })
}

function isUnfinished({ looks }: Shelf, { payment, state }: Purchase, now: UnixMs): boolean {
  if (state.kind === 'reserved') return true
  if (state.kind === 'released') return !state.isFinal
  const looked = looks.get(toPaymentKey(payment)) ?? 0
  if (looked === 2) return false
  if (Number(payment.validBefore) <= Math.floor((now - LAST_CONFIRMATION_MS) / 1000)) return true
  return state.kind === 'sold' && (!state.settled || (looked === 0 && state.claimedAt <= now - FIRST_CONFIRMATION_MS))
}

function confirmSale({ looks, storePurchase: put }: Shelf, sold: SoldPurchase, tx: Hash): void {
  if (sold.state.settled) looks.set(toPaymentKey(sold.payment), Math.max(1, looks.get(toPaymentKey(sold.payment)) ?? 0))
  put({ ...sold, state: { ...sold.state, tx, settled: true } })
}

function unsettleSale({ looks, getRow, storePurchase: put }: Shelf, payment: Payment, look: number): void {
  const sold = getRow(payment)
  if (!isSold(sold)) throw new Error('marked as missing without being sold')
  put({ ...sold, state: { ...sold.state, settled: false } })
  looks.set(toPaymentKey(payment), look)
}

function storeSale(
  { sales, storePurchase: put }: Shelf,
  purchase: Purchase,
  tx: Hash,
  settled: boolean,
  now: UnixMs,
): SoldPurchase {
  const at = Math.max(now, sales.at(-1)?.at ?? 0)
  const { name, framework, message } = purchase.listing
  for (const block of listHeldBlocks(purchase)) sales.push({ seq: sales.length + 1, block, at, message })

  return put({ ...purchase, state: { kind: 'sold', tx, claimedAt: at, name, framework, settled, unanswered: true } })
}

function fulfilLatePayment(shelf: Shelf, known: Purchase, tx: Hash, now: UnixMs): Purchase {
  if (known.state.kind === 'sold' || known.state.kind === 'credited') return known
  if (known.state.kind === 'reserved') throw new StaleWriteError('fulfilled late while a block is held')
  const own = shelf.findOpenPlace(resolveTarget(known))
  const block = typeof own === 'string' ? shelf.findOpenPlace(toNext(known.target)) : own
  if (typeof block === 'string') return shelf.storePurchase({ ...known, state: { kind: 'credited', tx } })
  return storeSale(shelf, { ...known, block }, tx, true, now)
}

/** The first block that the target would have on an empty wall. */
function chooseBlock({ wall }: Shelf, target: Target): BlockIndex {
  const { at } = getPosition(target)
  const first = at === 'next' ? searchOpenPlace(wall, new Map(), target) : at
  if (typeof first === 'string') throw new Error('the wall has no position for this target')
  return first
}

const formatTexts = ({ name, framework, message, link, painter }: Listing) =>
  JSON.stringify([name, framework, message, link, painter])
