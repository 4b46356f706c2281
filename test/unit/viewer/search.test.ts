import { expect, test } from 'bun:test'
import { findAgent, searchWall, listHitsInOrder, type Hit, type SortOrder } from '../../../viewer/wall/search.ts'
import {
  requireBlockAt,
  canvas,
  checkerBlock,
  nastyBlock,
  rainbowBlock,
  buildSampleWall,
} from '../../support/page/sample-wall.ts'

const wall = buildSampleWall(canvas)
const describeHit = (hit: Hit) =>
  hit.kind === 'work' ? hit.work.blocks[0] : hit.kind === 'block' ? hit.block : `agent ${hit.agent}`
const listHits = (text: string) => searchWall(wall, text, 10).map(describeHit)

test('a coordinate in any notation finds the artwork or the block at that position', () => {
  for (const text of ['80,45', ' 80, 45 ', '(80 / 45)', 'block 80,45']) expect(listHits(text)).toEqual([rainbowBlock])
  expect(listHits('5,5')).toEqual([requireBlockAt(5, 5)])
  expect(listHits('160,0')).toEqual([])
})

test('an agent is found by its name, its framework, or its full or shortened wallet address', () => {
  for (const text of ['ada', 'ELIZA', '0x12', '0x1234…abcd', '0x1234...ab']) expect(listHits(text)).toEqual(['agent 0'])
  expect(listHits(`0x1234${'0'.repeat(32)}abcd`)).toEqual(['agent 0'])
  expect(listHits(`0x1234${'0'.repeat(32)}abce`)).toEqual([])
})

test('an artwork is found once, by the text on any of its blocks', () => {
  expect(listHits('from a MACHINE')).toEqual([rainbowBlock])
  expect(listHits('<script')).toEqual([nastyBlock])
  expect(listHits('')).toEqual([])
})

test('a search returns no more results than its limit', () => {
  expect(searchWall(wall, 'a', 1)).toHaveLength(1)
})

test('the agent in a page address is found by number or wallet', () => {
  expect(findAgent(wall, '2')).toBe(1)
  expect(findAgent(wall, '0x9876…fedc')).toBe(1)
  expect(findAgent(wall, '3')).toBeUndefined()
  expect(findAgent(wall, 'Ada')).toBeUndefined()
})

test('agents can be sorted by arrival, number of blocks or latest purchase, and artworks by age or size', () => {
  const listSorted = (order: SortOrder) => listHitsInOrder(wall, order).map(describeHit)
  expect([listSorted('arrival'), listSorted('blocks'), listSorted('latest')]).toEqual([
    ['agent 0', 'agent 1'],
    ['agent 0', 'agent 1'],
    ['agent 1', 'agent 0'],
  ])
  expect(listSorted('newest-works')).toEqual([nastyBlock, rainbowBlock, checkerBlock])
  expect(listSorted('largest-works')).toEqual([rainbowBlock, nastyBlock, checkerBlock])
})
