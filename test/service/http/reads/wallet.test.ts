import { expect, test } from 'bun:test'
import { REPEAT } from '../../../../server/domain/advice.ts'
import { COMPACTED_AFTER_MS } from '../../../../server/domain/wall/log.ts'
import type { WalletStanding } from '../../../../shared/contract/wallet.ts'
import { CLAIM_ORDER } from '../../../../shared/wall.ts'
import { reserveTarget } from '../../../support/engine.ts'
import { openNearlySoldWall } from '../../../support/nearly-sold.ts'
import {
  parseBlockOrThrow,
  toHash,
  NOW,
  createTestPayment,
  SILENT,
  createWalletAddress,
} from '../../../support/samples.ts'
import { signEdit, createBodyInit } from '../../../support/service/signed.ts'
import { readErrorCode, CONTACT, readJson, openWall } from '../../../support/service/wall.ts'

const wall = await openWall()

test('the account of a wallet shows its rank, its blocks, its open purchases and its credits, but not its full address', async () => {
  const { sendRequest: ask, buyBlock, db, clock } = await openWall()
  await buyBlock('/blocks/3,4?name=Ada', 2)
  await buyBlock('/blocks/5,6?framework=loom', 1)
  await reserveTarget(db, 'next', createTestPayment(1, 7), SILENT, NOW)
  await db.ledger.markUncertain(
    await reserveTarget(db, parseBlockOrThrow('1,1'), createTestPayment(1, 8), SILENT, NOW + 1000),
  )
  await db.ledger.release(
    await reserveTarget(db, parseBlockOrThrow('2,2'), createTestPayment(1, 9), SILENT, NOW + 2000),
    false,
  )
  clock.advance(5000 - (clock.now() - NOW))
  const standing = await readJson(
    await ask(`GET /api/agents/${createWalletAddress(1).toUpperCase().replace('0X', '0x')}`),
  )
  expect(standing).toMatchObject({
    wallet: '0x0000…0001',
    name: null,
    framework: 'loom',
    rank: 2,
    blocks: [{ block: { coord: '5,6', index: 965 }, settled: true, tx: toHash(2) }],
    open: [
      {
        target: 'next',
        block: { coord: '79,44' },
        state: 'reserved',
        doubted: false,
        ageMs: 5000,
        resend: true,
      },
      { target: '1,1', state: 'reserved', doubted: true, since: NOW + 1000, ageMs: 4000, resend: true },
      { target: '2,2', state: 'released', doubted: false, ageMs: 3000, resend: false },
    ],
    nextAfter: 2,
    hasMore: false,
    credits: [],
    contact: CONTACT,
  })
  expect(JSON.stringify(standing)).not.toContain(createWalletAddress(1).slice(2))
})

test('a wallet whose first purchase is still open has no rank yet', async () => {
  const { sendRequest: ask, db } = await openWall()
  await reserveTarget(db, 'next', createTestPayment(1, 1))
  expect(await readJson(await ask(`GET /api/agents/${createWalletAddress(1)}`))).toMatchObject({
    name: null,
    rank: null,
    firstSeenAt: null,
    blocks: [],
    open: [{ next: `The payment is being settled. ${REPEAT}` }],
  })
})

test('a request for a wallet that has bought nothing gets the error no_purchases', async () => {
  for (const query of ['', '?after=1'])
    expect(await readErrorCode(await wall.sendRequest(`GET /api/agents/${createWalletAddress(1)}${query}`))).toBe(
      'no_purchases',
    )
})

test('the account of a wallet with 2,000 blocks lists them 200 at a time, or fewer if requested', async () => {
  const { sendRequest: ask } = await openWall({}, await openNearlySoldWall(CLAIM_ORDER.length - 2000))
  const readPage = async (query: string): Promise<Page> =>
    (await readJson(await ask(`GET /api/agents/${createWalletAddress(0xdecade)}${query}`))) as Page
  const listed = []
  const sizes = []
  for (let query: string | undefined = ''; query !== undefined;) {
    const { blocks, nextAfter, hasMore }: Page = await readPage(query)
    listed.push(...blocks.map(({ block }) => block.index))
    sizes.push(blocks.length)
    query = hasMore ? `?after=${nextAfter}` : undefined
  }
  expect(sizes).toEqual(Array.from({ length: 10 }, () => 200))
  expect(listed).toEqual(CLAIM_ORDER.slice(0, 2000))
  const { blocks, ...few } = await readPage('?after=1990&limit=3')
  expect([blocks.length, few]).toMatchObject([3, { rank: 1, nextAfter: 1993, hasMore: true, open: [], credits: [] }])
  expect(await readPage('?after=2000')).toMatchObject({ rank: 1, blocks: [], nextAfter: 2000, hasMore: false })
})

type Page = Pick<WalletStanding, 'blocks' | 'nextAfter' | 'hasMore'>

test('a returning owner gets the changes to its blocks and their neighbours, and its rank by number of blocks', async () => {
  const { sendRequest: ask, buyBlock, clock } = await openWall()
  const readSince = async (number: number) =>
    (await readJson(await ask(`GET /api/agents/${createWalletAddress(1)}?since=${number}`))) as WalletStanding
  await buyBlock('/blocks/10,10', 1, 1)
  await buyBlock('/blocks/20,20', 2, 2)
  await buyBlock('/blocks/21,20', 2, 3)
  const first = await readSince(0)
  expect(first.changes).toMatchObject([{ number: 1, kind: 'sale', coord: '10,10', yours: true }])
  expect(first).toMatchObject({ rankByBlocks: 2, next: 3, complete: true })
  await buyBlock('/blocks/11,11?message=hi&name=Ada', 2, 4)
  await buyBlock('/blocks/12,11', 2, 5)
  await ask('PUT /blocks/10,10', createBodyInit(signEdit(1, '10,10', { message: 'mine' }, { ts: clock.now() })))
  const { changes, next } = await readSince(3)
  expect(changes).toMatchObject([
    { number: 4, kind: 'sale', coord: '11,11', yours: false, owner: { name: 'Ada' }, message: 'hi' },
    { number: 6, kind: 'repaint', coord: '10,10', yours: true, message: 'mine' },
  ])
  expect(await readSince(next ?? 0)).toMatchObject({ changes: [], next: 6, complete: true })
  expect(await readSince(7)).toMatchObject({ changes: [], next: 6, complete: false })
  // Compaction may have removed repaints after entry 3.
  clock.advance(COMPACTED_AFTER_MS + 1)
  expect(await readSince(3)).toMatchObject({ next: 6, complete: false })
})

test('an owner with more than a hundred changes gets the oldest first, and `next` leads to the later ones', async () => {
  const { sendRequest: ask } = await openWall({}, await openNearlySoldWall(CLAIM_ORDER.length - 250))
  const listed: number[] = []
  const sizes: number[] = []
  for (let next = 0; next < 250;) {
    const page = (await readJson(
      await ask(`GET /api/agents/${createWalletAddress(0xdecade)}?since=${next}&limit=1`),
    )) as WalletStanding
    listed.push(...(page.changes ?? []).map(({ number }) => number))
    sizes.push(page.changes?.length ?? 0)
    next = page.next ?? 250
  }
  expect([sizes, listed]).toEqual([[100, 100, 50], Array.from({ length: 250 }, (_, at) => at + 1)])
})

test.each([
  ['after=-1', 'invalid_after'],
  ['since=-1', 'invalid_after'],
  ['since=1&since=2', 'invalid_after'],
  ['after=1&after=2', 'invalid_after'],
  ['limit=0', 'invalid_limit'],
  ['limit=201', 'invalid_limit'],
])('a request for the account of a wallet is rejected if its query is %s', async (query, code) => {
  expect(await readErrorCode(await wall.sendRequest(`GET /api/agents/${createWalletAddress(1)}?${query}`))).toBe(code)
})

test.each(['0x12', 'ada.eth', `${createWalletAddress(1)}0`, '%zz', `0x${'g'.repeat(40)}`])(
  '%s is rejected as a wallet address',
  async (text) => {
    expect(await readErrorCode(await wall.sendRequest(`GET /api/agents/${text}`))).toBe('invalid_wallet')
  },
)
