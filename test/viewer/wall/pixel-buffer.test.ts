import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { PALETTE_SIZE } from '../../../shared/palette.ts'
import { PIXELS_PER_BLOCK } from '../../../shared/pixels.ts'
import { ALL_BLOCKS, HEIGHT, TOTAL_BLOCKS, WIDTH, type BlockIndex } from '../../../shared/wall.ts'
import {
  BARE,
  BARE_FRAME,
  OPEN,
  blankAtlas,
  decodePicture,
  paintBlock,
  pictureAt,
} from '../../../viewer/wall/pixel-buffer.ts'
import { at } from '../stage/sample-wall.ts'

const blocks = fc.integer({ min: 0, max: TOTAL_BLOCKS - 1 }).map((i) => ALL_BLOCKS[i] ?? at(0, 0))
const pictures = fc.uint8Array({ minLength: PIXELS_PER_BLOCK, maxLength: PIXELS_PER_BLOCK, max: PALETTE_SIZE - 1 })

const painted = (block: BlockIndex, px: string | undefined) => {
  const atlas = blankAtlas()
  paintBlock(atlas, block, px)
  return atlas
}

test('a painted block is in the atlas as it was sent, and its neighbours stay open', () => {
  fc.assert(
    fc.property(blocks, pictures, (block, picture) => {
      const atlas = painted(block, picture.toBase64())
      expect(pictureAt(atlas, block)).toEqual(picture)
      expect(atlas.filter((byte) => byte === OPEN)).toHaveLength((TOTAL_BLOCKS - 1) * PIXELS_PER_BLOCK)
    }),
    { numRuns: 20 },
  )
})

test('a pixel of a block lies at its place in the wall', () => {
  const px = Uint8Array.from({ length: PIXELS_PER_BLOCK }, (_, i) => i).toBase64()
  const atlas = painted(at(159, 89), px)
  expect(atlas).toHaveLength(WIDTH * HEIGHT)
  expect(atlas.at(-1)).toBe(99)
  expect(atlas[890 * WIDTH + 1590]).toBe(0)
  expect(atlas[892 * WIDTH + 1593]).toBe(23)
})

test('an open block and an owned one without a picture look different from each other and from every picture', () => {
  const atlas = painted(at(1, 0), undefined)
  const open = new Set(pictureAt(atlas, at(0, 0)))
  const bare = new Set(pictureAt(atlas, at(1, 0)))
  expect(open).toEqual(new Set([OPEN]))
  expect(bare).toEqual(new Set([BARE_FRAME, BARE]))
  expect(Math.min(...open, ...bare)).toBeGreaterThanOrEqual(PALETTE_SIZE)
})

test('a picture is read from base64 byte by byte', () => {
  fc.assert(fc.property(pictures, (picture) => expect(decodePicture(picture.toBase64())).toEqual(picture)))
})
