import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { renderAtlasFeed, renderAtlasHtml } from '../../../server/discovery/atlas.ts'
import { findArtwork, listArtworks } from '../../../server/domain/wall/artworks.ts'
import { applyChange, createEmptyView, type WallView } from '../../../server/domain/wall/wall-view.ts'
import { ALL_BLOCKS, COLS, type BlockIndex } from '../../../shared/wall.ts'
import { groupIntoWorks } from '../../../shared/works.ts'
import { OFFER } from '../../support/offer.ts'
import { BARE, parseBlockOrThrow, NOW, createTestSale, createWalletAddress } from '../../support/samples.ts'

// Goal: readers see whole artworks, and a page reads only what it shows. Method: another algorithm finds the artworks,
// one agent at a time; and a wall counts how often its blocks are read.

/** A wall on which these blocks were sold in this order, each to a numbered agent. */
function createSoldWall(sold: readonly (readonly [block: BlockIndex, agent: number])[]): WallView {
  const view = createEmptyView()
  const numbers = new Map<number, number>()
  for (const [at, [block, buyer]] of sold.entries()) {
    const agent = numbers.get(buyer) ?? numbers.size + 1
    numbers.set(buyer, agent)
    const content = { ...BARE, message: `sale ${at + 1}` }
    applyChange(
      view,
      createTestSale(at + 1, block, { at: NOW + at, agent, wallet: createWalletAddress(agent), content }),
    )
  }
  return view
}

// Only eight columns, eight rows and three agents, so that blocks of one agent often touch.
const crowds = fc
  .uniqueArray(fc.tuple(fc.nat(7), fc.nat(7), fc.nat(2)), { selector: ([col, row]) => `${col},${row}`, maxLength: 64 })
  .map((cells) => cells.map(([col, row, agent]) => [parseBlockOrThrow(`${col},${row}`), agent] as const))

test('the list of artworks contains the artworks of all agents, the most recently extended first', () => {
  fc.assert(
    fc.property(crowds, (sold) => {
      const view = createSoldWall(sold)
      const { total, works } = listArtworks(view, 0, sold.length)
      const expected = view.agents.flatMap(({ blocks }) => groupIntoWorks(blocks))
      expect(total).toBe(expected.length)
      expect(works.map(({ blocks }) => blocks.join()).toSorted()).toEqual(expected.map(String).toSorted())
      expect(works.map(({ until }) => until)).toEqual(works.map(({ until }) => until).toSorted((a, b) => b - a))
      for (const work of works) for (const block of work.blocks) expect(findArtwork(view, block)).toEqual(work)
      for (const agent of view.agents)
        expect(listArtworks(view, 0, sold.length, agent).works).toEqual(works.filter((work) => work.agent === agent))
    }),
  )
})

const site = { offer: OFFER, contact: null, tools: [], operations: [] }

test('a page of the list of artworks reads only the artworks that it shows, and a page that does not exist reads none', () => {
  // Neighbouring blocks belong to different agents, so that each block is an artwork.
  const view = createSoldWall(ALL_BLOCKS.map((block) => [block, (block + Math.floor(block / COLS)) % 2]))
  expect(listArtworks(view, 0, 0).total).toBe(ALL_BLOCKS.length)
  let lookUps = 0
  const { get } = view.claimed
  view.claimed.get = (block) => {
    lookUps++
    return get.call(view.claimed, block)
  }
  const countLookUps = (page: () => unknown) => {
    lookUps = 0
    page()
    return lookUps
  }
  expect(countLookUps(() => renderAtlasHtml(site, view, { list: 'works', page: 200 }))).toBeLessThanOrEqual(2 * 48)
  expect(countLookUps(() => renderAtlasHtml(site, view, { list: 'works', page: 9000 }))).toBe(0)
  expect(countLookUps(() => renderAtlasFeed(site, view, undefined))).toBeLessThanOrEqual(2 * 50)
})
