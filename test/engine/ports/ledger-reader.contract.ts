import { describe, expect } from 'bun:test'
import {
  ACCOUNT_PAGE_MAX,
  STRAY_NOTE,
  type AccountPage,
  type OpenPurchase,
} from '../../../server/domain/purchase/account.ts'
import { CLAIM_ORDER } from '../../../shared/wall.ts'
import { reserveTarget, sellBlock, type Engine, type EngineTest, recordLatePayment } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  toHash,
  HEAD,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: every promise of the `LedgerReader` port. Method: purchases are driven to each of their outcomes, then read.

const NOTHING = { sales: [], nextAfter: 0, hasMore: false, open: [], credits: [], painter: null }

/** The suite of the `LedgerReader` port. */
export function testLedgerReader(name: string, test: EngineTest, testLast: EngineTest): void {
  describe(`ledger reader on ${name}`, () => {
    testHolding(test)
    testPending(test)
    testAccounts(test)
    testPages(test, testLast)
    testEverything(testLast)
  })
}

function testHolding(test: EngineTest): void {
  test('the list of held blocks contains the blocks of held purchases, but no sold or released blocks', async (wall) => {
    expect(await wall.ledgerReader.listHeld()).toEqual([])
    await sellBlock(wall, '1,1', 1, 1)
    await reserveTarget(wall, parseBlockOrThrow('9,9'), createTestPayment(1, 2))
    await reserveTarget(wall, parseBlockOrThrow('2,2'), createTestPayment(2, 3))
    const given = await reserveTarget(wall, parseBlockOrThrow('3,3'), createTestPayment(2, 4))
    expect(await wall.ledgerReader.listHeld()).toEqual([
      parseBlockOrThrow('2,2'),
      parseBlockOrThrow('3,3'),
      parseBlockOrThrow('9,9'),
    ])
    await wall.ledger.release(given, false)
    expect(await wall.ledgerReader.listHeld()).toEqual([parseBlockOrThrow('2,2'), parseBlockOrThrow('9,9')])
  })
}

function testPending(test: EngineTest): void {
  test('open purchases are counted until they end, and the result includes the time when the oldest one began', async (wall) => {
    const nothing = { held: 0, uncertain: 0, watched: 0, oldestSince: null }
    expect(await wall.ledgerReader.countPending()).toEqual(nothing)
    await sellBlock(wall, '1,1', 1, 1)
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 2), SILENT, NOW + 5)
    const doubted = await wall.ledger.markUncertain(
      await reserveTarget(wall, parseBlockOrThrow('2,2'), createTestPayment(1, 3), SILENT, NOW + 7),
    )
    const given = await reserveTarget(wall, parseBlockOrThrow('3,3'), createTestPayment(1, 4), SILENT, NOW + 3)
    await wall.ledger.release(given, false)
    expect(await wall.ledgerReader.countPending()).toEqual({ held: 2, uncertain: 1, watched: 1, oldestSince: NOW + 3 })
    await wall.ledger.release(given, true)
    expect(await wall.ledgerReader.countPending()).toEqual({ held: 2, uncertain: 1, watched: 0, oldestSince: NOW + 5 })
    for (const purchase of [held, doubted]) await wall.ledger.release(purchase, true)
    expect(await wall.ledgerReader.countPending()).toEqual(nothing)
  })
}

function testAccounts(test: EngineTest): void {
  test('a wallet that never paid has an empty account', async (wall) => {
    await sellBlock(wall, '1,1', 1, 1)
    expect(await wall.ledgerReader.readAccount(createWalletAddress(2))).toEqual(NOTHING)
  })

  test('the sales of a wallet are listed in the order in which they were made, with their transactions', async (wall) => {
    const first = await reserveTarget(wall, parseBlockOrThrow('1,1'), createTestPayment(1, 1))
    await sellBlock(wall, '2,2', 1, 2, SILENT, NOW + 5)
    await sellBlock(wall, '3,3', 2, 3)
    await wall.ledger.finalize(first, toHash(1), false, NOW + 9)
    expect(await wall.ledgerReader.readAccount(createWalletAddress(1))).toEqual({
      ...NOTHING,
      sales: [
        {
          block: parseBlockOrThrow('2,2'),
          claimedAt: NOW + 5,
          tx: toHash(2),
          settled: true,
          painter: null,
          area: null,
        },
        {
          block: parseBlockOrThrow('1,1'),
          claimedAt: NOW + 9,
          tx: toHash(1),
          settled: false,
          painter: null,
          area: null,
        },
      ],
      nextAfter: 3,
    })
  })

  test('open purchases are listed until they end, and a released purchase until it can no longer settle', async (wall) => {
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1), SILENT, NOW)
    const doubted = await wall.ledger.markUncertain(
      await reserveTarget(wall, parseBlockOrThrow('2,2'), createTestPayment(1, 2), SILENT, NOW + 5),
    )
    const given = await reserveTarget(wall, parseBlockOrThrow('3,3'), createTestPayment(1, 3), SILENT, NOW + 9)
    await wall.ledger.release(given, false)
    const watched: OpenPurchase = {
      target: given.block,
      block: given.block,
      since: NOW + 9,
      state: { kind: 'released', isFinal: false },
    }
    expect(await wall.ledgerReader.readAccount(createWalletAddress(1))).toEqual({
      ...NOTHING,
      open: [
        { target: 'next', block: held.block, since: NOW, state: { kind: 'reserved', uncertain: false } },
        { target: doubted.block, block: doubted.block, since: NOW + 5, state: { kind: 'reserved', uncertain: true } },
        watched,
      ],
    })
    for (const purchase of [held, doubted, given]) await wall.ledger.release(purchase, true)
    expect(await wall.ledgerReader.readAccount(createWalletAddress(1))).toEqual(NOTHING)
  })
}

function testEverything(test: EngineTest): void {
  test('all purchases of a wallet are listed, whatever their outcome, newest first and page by page', async (wall) => {
    const late = await reserveTarget(wall, 'next', createTestPayment(1, 1), SILENT, NOW)
    await wall.ledger.release(late, false)
    const expired = await reserveTarget(wall, 'next', createTestPayment(1, 2), SILENT, NOW + 1)
    await wall.ledger.release(expired, true)
    await sellBlock(wall, 'next', 1, 3, SILENT, NOW + 2)
    await wall.ledger.fulfilLatePayment(late, toHash(1), NOW)
    const purchases = await wall.ledgerReader.listPurchases(createWalletAddress(1), Number.MAX_SAFE_INTEGER, 9)
    expect(purchases.map(({ since, purchase }) => [since - NOW, purchase.payment.nonce, purchase.state.kind])).toEqual([
      [2, createTestPayment(1, 3).nonce, 'sold'],
      [1, createTestPayment(1, 2).nonce, 'released'],
      [0, createTestPayment(1, 1).nonce, 'credited'],
    ])
    expect(await wall.ledgerReader.listPurchases(createWalletAddress(1), purchases[0]?.number ?? 0, 1)).toEqual(
      purchases.slice(1, 2),
    )
    expect(await wall.ledgerReader.listPurchases(createWalletAddress(2), Number.MAX_SAFE_INTEGER, 9)).toEqual([])
  })
}

function testPages(test: EngineTest, testLast: EngineTest): void {
  test('the sales after a given number are listed up to a limit, and the result says whether there are more', async (wall) => {
    for (const [at, coord] of ['1,1', '2,2', '3,3', '4,4'].entries())
      await sellBlock(wall, coord, at === 1 ? 2 : 1, at + 1)
    const readPage = async (after: number, limit: number) => {
      const { sales, nextAfter, hasMore } = await wall.ledgerReader.readAccount(createWalletAddress(1), {
        after,
        limit,
      })
      return [sales.map(({ tx }) => tx), nextAfter, hasMore]
    }
    expect(await readPage(0, 2)).toEqual([[toHash(1), toHash(3)], 3, true])
    expect(await readPage(3, 2)).toEqual([[toHash(4)], 4, false])
    expect(await readPage(0, 3)).toEqual([[toHash(1), toHash(3), toHash(4)], 4, false])
    expect(await readPage(4, 2)).toEqual([[], 4, false])
    expect(await readPage(9, 2)).toEqual([[], 9, false])
  })

  testLast(
    'the account of a wallet with thousands of blocks lists each block once, page by page',
    async ({ ledgerReader }) => {
      const blocks = []
      for (let page: AccountPage | undefined = { after: 0, limit: ACCOUNT_PAGE_MAX }; page !== undefined;) {
        const { sales, nextAfter, hasMore } = await ledgerReader.readAccount(createWalletAddress(0xdecade), page)
        expect(sales).toHaveLength(hasMore ? ACCOUNT_PAGE_MAX : (CLAIM_ORDER.length - 1) % ACCOUNT_PAGE_MAX)
        blocks.push(...sales.map(({ block }) => block))
        page = hasMore ? { after: nextAfter, limit: ACCOUNT_PAGE_MAX } : undefined
      }
      expect(blocks).toEqual(CLAIM_ORDER.slice(0, -1))
    },
  )

  test('an account lists every held purchase, and a limited number of the latest released ones', async (wall) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('1,1'), createTestPayment(1, 1))
    for (let nonce = 2; nonce <= ACCOUNT_PAGE_MAX + 1; nonce++)
      await wall.ledger.release(
        await reserveTarget(wall, 'next', createTestPayment(1, nonce), SILENT, NOW + nonce),
        false,
      )
    const { open: listed } = await wall.ledgerReader.readAccount(createWalletAddress(1))
    expect(listed.map(({ since }) => since - NOW)).toEqual([0, ...listNumbers(3, ACCOUNT_PAGE_MAX + 1)])
    expect(listed[0]).toMatchObject({ block: held.block, state: { kind: 'reserved' } })
  })

  testLast('a credit that was paid back is no longer listed as owed', async (wall) => {
    await sellBlock(wall, 'next', 2, 1)
    await addCredit(wall, 2)
    const credited = { kind: 'credited', tx: toHash(2) } as const
    const readAnswers = async () => [
      (await wall.ledgerReader.readAccount(createWalletAddress(1))).credits.length,
      (await wall.ledgerReader.listPurchases(createWalletAddress(1), Number.MAX_SAFE_INTEGER, 1))[0]?.purchase.state,
      (await wall.ledger.find(createTestPayment(1, 2)))?.state,
    ]
    expect(await readAnswers()).toEqual([1, credited, credited])
    await wall.payouts.recordReference(createTestPayment(1, 2), STRAY_NOTE, NOW)
    expect(await readAnswers()).toEqual([1, credited, credited])
    await wall.payouts.recordReference(createTestPayment(1, 2), 'refund 0x1', NOW)
    const paidBack = { ...credited, isPaidBack: true } as const
    expect(await readAnswers()).toEqual([0, paidBack, paidBack])
  })

  testLast('if a wallet has more credits than fit on a page, the latest ones are listed', async (wall) => {
    await sellBlock(wall, 'next', 2, 1)
    for (const nonce of listNumbers(2, ACCOUNT_PAGE_MAX + 2)) await addCredit(wall, nonce)
    const { credits } = await wall.ledgerReader.readAccount(createWalletAddress(1))
    expect(credits).toEqual(
      listNumbers(3, ACCOUNT_PAGE_MAX + 2).map((nonce) => ({ amount: TERMS.amount, tx: toHash(nonce) })),
    )
  })
}

/** Records a payment that settled when no block was left. */
const addCredit = (wall: Engine, nonce: number) =>
  recordLatePayment(
    wall,
    { payment: createTestPayment(1, nonce), target: 'next', listing: SILENT, head: HEAD },
    toHash(nonce),
  )

const listNumbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)
