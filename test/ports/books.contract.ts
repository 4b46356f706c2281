import { describe, expect, test } from 'bun:test'
import type { OpenPurchase } from '../../server/domain/account.ts'
import { hold, on, sell, type OpenEngine } from './engine.ts'
import { blockOf, hash, NOW, paymentOf, SILENT, TERMS, wallet } from './samples.ts'

// Goal: every promise of the `Books` port. Method: purchases are driven to each of their ends, then looked at.

const NOTHING = { sales: [], open: [], credits: [] }

/** The suite of the `Books` port. */
export function booksContract(name: string, open: OpenEngine, openLast: OpenEngine): void {
  describe(`books on ${name}`, () => {
    holding(open)
    pending(open)
    accounts(open, openLast)
  })
}

function holding(open: OpenEngine): void {
  test(
    'what is held is what somebody is buying now, neither sold nor given back',
    on(open, async (wall) => {
      expect(await wall.books.held()).toEqual([])
      await sell(wall, '1,1', 1, 1)
      await hold(wall, blockOf('9,9'), paymentOf(1, 2))
      await hold(wall, blockOf('2,2'), paymentOf(2, 3))
      const given = await hold(wall, blockOf('3,3'), paymentOf(2, 4))
      expect(await wall.books.held()).toEqual([blockOf('2,2'), blockOf('3,3'), blockOf('9,9')])
      await wall.ledger.release(given, false)
      expect(await wall.books.held()).toEqual([blockOf('2,2'), blockOf('9,9')])
    }),
  )
}

function pending(open: OpenEngine): void {
  test(
    'what is open is counted until it ends, and the oldest of it told',
    on(open, async (wall) => {
      const nothing = { held: 0, uncertain: 0, watched: 0, oldestSince: null }
      expect(await wall.books.pending()).toEqual(nothing)
      await sell(wall, '1,1', 1, 1)
      const held = await hold(wall, 'next', paymentOf(1, 2), SILENT, NOW + 5)
      const doubted = await wall.ledger.markUncertain(
        await hold(wall, blockOf('2,2'), paymentOf(1, 3), SILENT, NOW + 7),
      )
      const given = await hold(wall, blockOf('3,3'), paymentOf(1, 4), SILENT, NOW + 3)
      await wall.ledger.release(given, false)
      expect(await wall.books.pending()).toEqual({ held: 2, uncertain: 1, watched: 1, oldestSince: NOW + 3 })
      await wall.ledger.release(given, true)
      expect(await wall.books.pending()).toEqual({ held: 2, uncertain: 1, watched: 0, oldestSince: NOW + 5 })
      for (const purchase of [held, doubted]) await wall.ledger.release(purchase, true)
      expect(await wall.books.pending()).toEqual(nothing)
    }),
  )
}

function accounts(open: OpenEngine, openLast: OpenEngine): void {
  test(
    'a wallet that never paid has an empty account',
    on(open, async (wall) => {
      await sell(wall, '1,1', 1, 1)
      expect(await wall.books.ofPayer(wallet(2))).toEqual(NOTHING)
    }),
  )

  test(
    'sales are told in the order they were made, with their proof',
    on(open, async (wall) => {
      const first = await hold(wall, blockOf('1,1'), paymentOf(1, 1))
      await sell(wall, '2,2', 1, 2, SILENT, NOW + 5)
      await sell(wall, '3,3', 2, 3)
      await wall.ledger.finalize(first, hash(1), false, NOW + 9)
      expect(await wall.books.ofPayer(wallet(1))).toEqual({
        ...NOTHING,
        sales: [
          { block: blockOf('2,2'), claimedAt: NOW + 5, tx: hash(2), settled: true },
          { block: blockOf('1,1'), claimedAt: NOW + 9, tx: hash(1), settled: false },
        ],
      })
    }),
  )

  test(
    'open purchases are told until they end; one given back is told until it can never land',
    on(open, async (wall) => {
      const held = await hold(wall, 'next', paymentOf(1, 1), SILENT, NOW)
      const doubted = await wall.ledger.markUncertain(
        await hold(wall, blockOf('2,2'), paymentOf(1, 2), SILENT, NOW + 5),
      )
      const given = await hold(wall, blockOf('3,3'), paymentOf(1, 3), SILENT, NOW + 9)
      await wall.ledger.release(given, false)
      const watched: OpenPurchase = {
        target: given.block,
        block: given.block,
        since: NOW + 9,
        state: { kind: 'released', dead: false },
      }
      expect(await wall.books.ofPayer(wallet(1))).toEqual({
        ...NOTHING,
        open: [
          { target: 'next', block: held.block, since: NOW, state: { kind: 'reserved', uncertain: false } },
          { target: doubted.block, block: doubted.block, since: NOW + 5, state: { kind: 'reserved', uncertain: true } },
          watched,
        ],
      })
      for (const purchase of [held, doubted, given]) await wall.ledger.release(purchase, true)
      expect(await wall.books.ofPayer(wallet(1))).toEqual(NOTHING)
    }),
  )

  test(
    'a payment that landed when no block was left is a credit',
    on(openLast, async (wall) => {
      const given = await hold(wall, 'next', paymentOf(1, 1))
      await wall.ledger.release(given, false)
      await sell(wall, 'next', 2, 2)
      await wall.ledger.owe(given, hash(1), NOW)
      expect(await wall.books.ofPayer(wallet(1))).toEqual({
        ...NOTHING,
        credits: [{ amount: TERMS.amount, tx: hash(1) }],
      })
    }),
  )
}
