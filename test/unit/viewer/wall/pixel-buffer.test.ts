import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { PALETTE_SIZE } from '../../../../shared/palette.ts'
import { PIXELS_PER_BLOCK } from '../../../../shared/pixels.ts'
import { HEIGHT, TOTAL_BLOCKS, WIDTH, type BlockIndex } from '../../../../shared/wall.ts'
import {
  NO_PICTURE,
  NO_PICTURE_FRAME,
  OPEN,
  createTexture,
  paintBlock,
  readPicture,
} from '../../../../viewer/wall/pixel-buffer.ts'
import { requireBlockAt } from '../../../support/page/sample-wall.ts'
import { blocks } from '../any-camera.ts'

const pictures = fc.uint8Array({ minLength: PIXELS_PER_BLOCK, maxLength: PIXELS_PER_BLOCK, max: PALETTE_SIZE - 1 })

const createPaintedTexture = (block: BlockIndex, px: string | undefined) => {
  const texture = createTexture()
  paintBlock(texture, block, px)
  return texture
}

test('the texture contains the pixels of a painted block as they were sent, and all other blocks stay open', () => {
  fc.assert(
    fc.property(blocks, pictures, (block, picture) => {
      const texture = createPaintedTexture(block, picture.toBase64())
      expect(readPicture(texture, block)).toEqual(picture)
      expect(texture.filter((byte) => byte === OPEN)).toHaveLength((TOTAL_BLOCKS - 1) * PIXELS_PER_BLOCK)
    }),
    { numRuns: 20 },
  )
})

test('each pixel of a block is at its position on the wall in the texture', () => {
  const px = Uint8Array.from({ length: PIXELS_PER_BLOCK }, (_, i) => i).toBase64()
  const texture = createPaintedTexture(requireBlockAt(159, 89), px)
  expect(texture).toHaveLength(WIDTH * HEIGHT)
  expect(texture.at(-1)).toBe(99)
  expect(texture[890 * WIDTH + 1590]).toBe(0)
  expect(texture[892 * WIDTH + 1593]).toBe(23)
})

test('an open block and a sold block without a picture look different from each other and from every picture', () => {
  const texture = createPaintedTexture(requireBlockAt(1, 0), undefined)
  const open = new Set(readPicture(texture, requireBlockAt(0, 0)))
  const unpainted = new Set(readPicture(texture, requireBlockAt(1, 0)))
  expect(open).toEqual(new Set([OPEN]))
  expect(unpainted).toEqual(new Set([NO_PICTURE_FRAME, NO_PICTURE]))
  expect(Math.min(...open, ...unpainted)).toBeGreaterThanOrEqual(PALETTE_SIZE)
})
