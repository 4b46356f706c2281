import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dark } from '../../../viewer/theme.ts'
import { type OverlayState, rankFrameworks, createLegend, renderOverlay } from '../../../viewer/wall/overlay.ts'
import { findMomentAfter, listMoments, advancePlayback, countMomentsUntil } from '../../../viewer/wall/wall-history.ts'
import {
  blockWithoutPicture,
  canvas,
  checkerBlock,
  nastyBlock,
  openBlock,
  rainbowBlock,
  buildSampleWall,
} from '../../support/page/sample-wall.ts'

const wall = buildSampleWall(canvas)
const plain: OverlayState = { overlay: 'none', agent: undefined, at: undefined }
const readStrengths = (state: OverlayState) => {
  const bytes = renderOverlay(wall, state, dark)
  return [rainbowBlock, nastyBlock, openBlock].map((block) => bytes[block * 4 + 3])
}
const [CLEAR, DIM, TINT, WHOLE] = [0, 190, 215, 255]

test('without an overlay, nothing covers the wall', () => {
  expect(renderOverlay(wall, plain, dark).every((byte) => byte === CLEAR)).toBe(true)
})

test('the blocks of a selected agent stay bright, and all others are dimmed', () => {
  expect(readStrengths({ ...plain, agent: 0 })).toEqual([CLEAR, DIM, DIM])
  expect(readStrengths({ ...plain, agent: 1 })).toEqual([DIM, CLEAR, DIM])
})

test('a block sold after the shown moment looks open', () => {
  expect(readStrengths({ ...plain, at: 1_760_000_000_000 })).toEqual([CLEAR, WHOLE, CLEAR])
  // If the wall of that moment is known, the renderer draws the block as open, with its grid lines, and needs no tint.
  expect(readStrengths({ ...plain, at: 1_760_000_000_000, past: {} })).toEqual([CLEAR, CLEAR, CLEAR])
})

test('an overlay colours its blocks and dims the rest', () => {
  expect(readStrengths({ ...plain, overlay: 'open' })).toEqual([DIM, DIM, TINT])
  expect(readStrengths({ ...plain, overlay: 'framework' })).toEqual([TINT, TINT, DIM])
})

test('the legend of an overlay lists every colour that the overlay uses', () => {
  for (const overlay of ['open', 'framework'] as const) {
    const bytes = renderOverlay(wall, { ...plain, overlay }, dark)
    const used = [rainbowBlock, nastyBlock, openBlock, blockWithoutPicture, checkerBlock].flatMap((block) => {
      const [r = 0, g = 0, b = 0, strength] = bytes.slice(block * 4, block * 4 + 4)
      return strength === TINT ? [`#${[r, g, b].map((level) => level.toString(16).padStart(2, '0')).join('')}`] : []
    })
    expect(createLegend(wall, overlay).map(({ colour }) => colour)).toEqual(expect.arrayContaining(used))
  }
})

test('frameworks are ranked by their number of blocks', () => {
  expect(rankFrameworks(wall)).toEqual([
    { name: 'eliza', blocks: 3 },
    { name: '<i>x</i>', blocks: 1 },
  ])
})

test('the moment after n sales shows n sales, and the first moment shows none', () => {
  const moments = listMoments(wall)
  expect([0, 1, 2, 3, 4].map((count) => countMomentsUntil(moments, findMomentAfter(moments, count)))).toEqual([
    0, 1, 2, 3, 4,
  ])
  expect(findMomentAfter(moments, 4)).toBeUndefined()
})

test('playing the history shows every sale within 20 seconds, however many there are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 14_400 }), (count) => {
      const moments = new Float64Array(count)
      expect(advancePlayback(moments, 0, 20_000)).toBeGreaterThanOrEqual(count - 1e-6)
    }),
  )
})
