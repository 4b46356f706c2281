import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { readBlock } from '../../../server/domain/wall/canvas.ts'
import type { Change, BlockContent, Hidden, Profile } from '../../../server/domain/wall/log.ts'
import { omitHiddenParts } from '../../../server/domain/wall/moderation.ts'
import {
  applyChange,
  toCanvasAgents,
  toCanvasBlock,
  createEmptyView,
  toFeedPage,
  toRegistry,
  findRegistryEntry,
  computeStats,
  type WallView,
} from '../../../server/domain/wall/wall-view.ts'
import { FeedPage } from '../../../shared/contract/feed.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../../shared/wall.ts'
import { generateLog, compactLog, isSale, NOTHING_HIDDEN, rereadLog } from '../../support/any-log.ts'
import {
  BARE,
  parseBlockOrThrow,
  NOBODY,
  NOW,
  createPixels,
  createTestSale,
  createWalletAddress,
} from '../../support/samples.ts'

const FULL: BlockContent = { pixels: createPixels(7), message: 'hello', link: 'https://ada.example/' }
const ADA: Profile = { name: 'Ada', framework: 'loom' }

function buildView(log: readonly Change[]): WallView {
  const view = createEmptyView()
  for (const change of log) applyChange(view, change)
  return view
}

/** The number and the time of a change in a log. */
const createEntry = (number: number) => ({ number, at: NOW + number })

/** The `number`-th sale of a log with only sales, to the `agent`-th agent. */
const createSale = (number: number, agent: number, content = BARE, profile = NOBODY): Change =>
  createTestSale(number, CLAIM_ORDER[number - 1] ?? parseBlockOrThrow('0,0'), {
    ...createEntry(number),
    content,
    agent,
    wallet: createWalletAddress(agent),
    profile,
  })

const createRepaint = (number: number, block: BlockIndex, content: BlockContent): Change => ({
  ...createEntry(number),
  kind: 'repaint',
  block,
  content,
})

const createHide = (number: number, block: BlockIndex, hidden: Hidden, content: BlockContent): Change => ({
  ...createEntry(number),
  kind: 'hide',
  block,
  hidden,
  content,
})

const createIdentity = (number: number, agent: number, profile: Profile): Change => ({
  ...createEntry(number),
  kind: 'identity',
  agent,
  profile,
})

/** Everything that a reader can see, except the pixels. */
const collectVisibleState = (view: WallView) => ({
  stats: computeStats(view),
  agents: toCanvasAgents(view),
  blocks: CLAIM_ORDER.slice(0, view.claimed.size + 1).map((block) => toCanvasBlock(view, block)),
  feed: toFeedPage(view, { after: 0, limit: 200 }),
  registry: toRegistry(view),
})

describe('the wall', () => {
  test('a wall without sales is empty in every read', () => {
    const empty = createEmptyView()
    expect(computeStats(empty)).toEqual({
      claimed: 0,
      remaining: 14_400,
      agents: 0,
      lastClaimedAt: null,
      lastSaleId: 0,
    })
    expect(toFeedPage(empty, { after: 0, limit: 50 })).toEqual({ nextAfter: 0, hasMore: false, sales: [] })
    expect(toRegistry(empty)).toEqual({ agents: [], total: 0 })
    expect(toCanvasBlock(empty, parseBlockOrThrow('80,45'))).toBeUndefined()
  })

  test('a sale appears in every read', () => {
    const view = buildView([createSale(1, 1, FULL, ADA)])
    const block = parseBlockOrThrow('79,44')
    const px = createPixels(7).toBase64()
    const shown = { name: 'Ada', wallet: '0x0000…0001', framework: 'loom' }
    const said = { m: 'hello', l: 'https://ada.example/', px }
    expect(computeStats(view)).toEqual({
      claimed: 1,
      remaining: 14_399,
      agents: 1,
      lastClaimedAt: NOW + 1,
      lastSaleId: 1,
    })
    expect(toCanvasAgents(view)).toEqual([{ id: 1, ...shown, blocks: 1 }])
    expect(toCanvasBlock(view, block)).toEqual({ i: block, a: 0, t: NOW + 1, ...said })
    const sold = { seq: 1, i: block, coord: '79,44', t: NOW + 1, agent: { id: 1, ...shown }, ...said }
    expect(toFeedPage(view, { after: 0, limit: 50 })).toEqual({ nextAfter: 1, hasMore: false, sales: [sold] })
    expect(toRegistry(view)).toEqual({
      agents: [{ rank: 1, ...shown, blocks: 1, firstSeenAt: NOW + 1, link: 'https://ada.example/' }],
      total: 1,
    })
  })

  test('fields that the buyer left out are absent from every read', () => {
    const view = buildView([createSale(1, 1)])
    expect(Object.keys(toCanvasBlock(view, parseBlockOrThrow('79,44')) ?? {})).toEqual(['i', 'a', 't'])
    const [item = {}] = toFeedPage(view, { after: 0, limit: 1 }).sales
    expect(Object.keys(item)).toEqual(['seq', 'i', 'coord', 't', 'agent'])
    expect(Object.keys(toRegistry(view).agents[0] ?? {})).not.toContain('link')
  })

  test('a repaint changes the canvas, but the feed keeps the listing as it was sold', () => {
    const view = buildView([createSale(1, 1, FULL, ADA), createRepaint(2, parseBlockOrThrow('79,44'), BARE)])
    expect(toCanvasBlock(view, parseBlockOrThrow('79,44'))).toEqual({ i: parseBlockOrThrow('79,44'), a: 0, t: NOW + 1 })
    expect(toFeedPage(view, { after: 0, limit: 1 }).sales).toMatchObject([
      { m: 'hello', px: createPixels(7).toBase64() },
    ])
  })

  test('a new name changes the canvas, but the feed keeps the name from the time of the sale', () => {
    const view = buildView(
      [createSale(1, 1, BARE, ADA), createIdentity(2, 1, NOBODY), createSale(3, 1, BARE, NOBODY)].map(renumberChange),
    )
    expect(toCanvasAgents(view)).toMatchObject([{ name: null, framework: null, blocks: 2 }])
    expect(toFeedPage(view, { after: 0, limit: 9 }).sales.map(({ agent }) => agent.name)).toEqual(['Ada', null])
  })

  test('an agent has the name and framework of its latest purchase', () => {
    const view = buildView([createSale(1, 1, BARE, NOBODY), createSale(2, 1, BARE, ADA)])
    expect(findRegistryEntry(view, createWalletAddress(1))).toMatchObject({
      name: 'Ada',
      framework: 'loom',
      firstSeenAt: NOW + 1,
    })
  })
})

/** Gives sales consecutive sale numbers if other changes are in between. */
function renumberChange(change: Change, _: number, log: readonly Change[]): Change {
  return isSale(change) ? { ...change, seq: log.filter(isSale).indexOf(change) + 1 } : change
}

describe('the registry', () => {
  test('the registry lists the first hundred agents by rank, counts all agents, and has no entry for a wallet that owns nothing', () => {
    const view = buildView(Array.from({ length: 103 }, (_, i) => createSale(i + 1, i + 1)))
    const { agents, total } = toRegistry(view)
    expect(agents.map(({ rank }) => rank)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
    expect(total).toBe(103)
    expect(findRegistryEntry(view, createWalletAddress(103))).toMatchObject({ rank: 103, blocks: 1 })
    expect(findRegistryEntry(view, createWalletAddress(104))).toBeUndefined()
  })

  test('for each wallet, the registry shows the link of its first block that currently has a link', () => {
    const createLinkedContent = (link: string | null): BlockContent => ({ ...BARE, link })
    const findLink = (log: readonly Change[]) => findRegistryEntry(buildView(log), createWalletAddress(1))?.link
    const sales = [
      createSale(1, 1),
      createSale(2, 1, createLinkedContent('https://two.example/')),
      createSale(3, 1, createLinkedContent('https://three.example/')),
    ]
    expect(findLink(sales)).toBe('https://two.example/')
    expect(findLink([...sales, createRepaint(4, parseBlockOrThrow('80,44'), BARE)])).toBe('https://three.example/')
    expect(
      findLink([...sales, createRepaint(4, parseBlockOrThrow('79,44'), createLinkedContent('https://one.example/'))]),
    ).toBe('https://one.example/')
  })
})

describe('a change', () => {
  const sold = [createSale(1, 1, FULL, ADA)]

  test.each<[string, Change]>([
    ['a change that was applied before', createSale(1, 1)],
    ['a change with an old number', { ...createSale(2, 1), number: 0 }],
    ['a sale that skips a sale number', { ...createSale(3, 1), number: 2 }],
    ['a sale that skips an agent number', createSale(2, 3)],
    ['a repaint of an open block', createRepaint(2, parseBlockOrThrow('0,0'), FULL)],
    ['a name for an agent without a purchase', createIdentity(2, 2, ADA)],
  ])('%s is rejected and changes nothing', (_, change) => {
    const view = buildView(sold)
    expect(() => applyChange(view, change)).toThrow(RangeError)
    expect(view).toEqual(buildView(sold))
  })

  test('change numbers may have gaps, as in a compacted log', () => {
    expect(computeStats(buildView([createSale(1, 1), { ...createSale(2, 1), number: 40 }]))).toMatchObject({
      claimed: 2,
    })
  })
})

describe('any history', () => {
  test('the view of any log equals the view of its compacted log, or of its compacted beginning followed by the rest', () => {
    fc.assert(
      fc.property(generateLog(40), fc.nat(40), (log, cut) => {
        const followed = buildView(log)
        for (const beginning of [log.length, cut]) {
          const rebuilt = buildView(compactLog(log.slice(0, beginning)))
          for (const change of log.slice(beginning)) applyChange(rebuilt, change)
          expect(collectVisibleState(rebuilt)).toEqual(collectVisibleState(followed))
          expect(Buffer.compare(rebuilt.canvas, followed.canvas)).toBe(0)
          expect(rebuilt.number).toBe(followed.number)
        }
      }),
    )
  })

  test('feed pages of any size hold every sale once, in order, and never change', () => {
    fc.assert(
      fc.property(generateLog(60), fc.integer({ min: 1, max: 25 }), (log, limit) => {
        const view = createEmptyView()
        const read: number[] = []
        let after = 0
        for (const change of log) {
          applyChange(view, change)
          const page = toFeedPage(view, { after, limit })
          expect(Value.Check(FeedPage, page)).toBe(true)
          expect(page.sales).toHaveLength(Math.min(limit, computeStats(view).lastSaleId - after))
          read.push(...page.sales.map(({ seq }) => seq))
          after = page.nextAfter
          expect(page.hasMore).toBe(after < computeStats(view).lastSaleId)
        }
        expect(read).toEqual(Array.from({ length: after }, (_, i) => i + 1))
        const whole = listPages(view, limit)
        expect(whole).toEqual(view.sales)
        expect(whole.map(({ i }) => i)).toEqual(log.filter(isSale).map(({ block }) => block))
      }),
    )
  })

  test('the canvas shows the latest content of every block', () => {
    fc.assert(
      fc.property(generateLog(40), (log) => {
        const view = buildView(log)
        const contents = new Map<BlockIndex, BlockContent>()
        for (const change of log) if (change.kind !== 'identity') contents.set(change.block, change.content)
        for (const [block, { pixels, message, link }] of contents) {
          const item = toCanvasBlock(view, block)
          expect([item?.m ?? null, item?.l ?? null]).toEqual([message, link])
          expect(item?.px).toBe(pixels === null ? undefined : pixels.toBase64())
          expect(readBlock(view.canvas, block)).toEqual(new Uint8Array(pixels ?? new Uint8Array(100).fill(255)))
        }
        expect(view.claimed.size).toBe(contents.size)
      }),
    )
  })
})

/** Reads the feed to its end as a client does. */
function listPages(view: WallView, limit: number) {
  const sales = []
  let page = toFeedPage(view, { after: 0, limit })
  sales.push(...page.sales)
  while (page.hasMore) {
    page = toFeedPage(view, { after: page.nextAfter, limit })
    sales.push(...page.sales)
  }
  return sales
}

test('a feed cursor beyond the last sale stays where it is', () => {
  const view = buildView([createSale(1, 1)])
  expect(toFeedPage(view, { after: 9, limit: 50 })).toEqual({ nextAfter: 9, hasMore: false, sales: [] })
})

describe('hidden content', () => {
  const BLOCK = CLAIM_ORDER[0] ?? parseBlockOrThrow('0,0')
  const all = { pixels: true, message: true, link: true }
  const sold = [createSale(1, 1, FULL, ADA), createSale(2, 1, { ...FULL, link: 'https://second.example/' })]

  test('hidden content is absent from the canvas read, pixels, feed and registry, and its block stays sold', () => {
    const view = buildView([...sold, createHide(3, BLOCK, all, BARE)])
    const item = toCanvasBlock(view, BLOCK)
    expect(item).toEqual({ i: BLOCK, a: 0, t: NOW + 1 })
    expect(readBlock(view.canvas, BLOCK)).toEqual(new Uint8Array(100).fill(255))
    const [first, second] = toFeedPage(view, { after: 0, limit: 9 }).sales
    expect(Object.keys(first ?? {})).toEqual(['seq', 'i', 'coord', 't', 'agent'])
    expect(second).toMatchObject({ m: 'hello', l: 'https://second.example/' })
    expect(findRegistryEntry(view, createWalletAddress(1))).toMatchObject({
      link: 'https://second.example/',
      blocks: 2,
    })
    expect(computeStats(view)).toMatchObject({ claimed: 2, lastSaleId: 2 })
  })

  test('hidden content that is shown again returns to the canvas, but never to the feed', () => {
    const view = buildView([
      createSale(1, 1, FULL),
      createHide(
        2,
        BLOCK,
        { ...NOTHING_HIDDEN, message: true },
        omitHiddenParts(FULL, { ...NOTHING_HIDDEN, message: true }),
      ),
      { number: 3, at: NOW, kind: 'unhide', block: BLOCK, hidden: NOTHING_HIDDEN, content: FULL },
    ])
    expect(toCanvasBlock(view, BLOCK)).toMatchObject({ m: 'hello' })
    const [item] = toFeedPage(view, { after: 0, limit: 9 }).sales
    expect([item?.m, item?.l, item?.px]).toEqual([undefined, FULL.link ?? '', createPixels(7).toBase64()])
  })

  test('a log that is read again without its hidden content gives the same view as the original log', () => {
    fc.assert(
      fc.property(generateLog(40), (log) => {
        expect(collectVisibleState(buildView(rereadLog(log)))).toEqual(collectVisibleState(buildView(log)))
      }),
    )
  })
})
