import { expect, test } from 'bun:test'
import { PALETTE } from '../../../../shared/palette.ts'
import { ALL_BLOCKS, getCell } from '../../../../shared/wall.ts'
import { createTexture, paintBytes } from '../../../../viewer/wall/pixel-buffer.ts'
import { LIGHT_HEIGHT, LIGHT_WIDTH, computeRoomLight } from '../../../../viewer/wall/room-light.ts'

const RED = PALETTE.indexOf('#ff0000')

/** Reads the light around a wall on which these blocks are red and all others are open. */
function createLightReader(isRed: (cell: { col: number; row: number }) => boolean) {
  const blocks = ALL_BLOCKS.filter((block) => isRed(getCell(block)))
  const texture = createTexture()
  const picture = new Uint8Array(100).fill(RED)
  for (const block of blocks) paintBytes(texture, block, picture, 0)
  const rgba = computeRoomLight({ texture, claims: new Map(blocks.map((i) => [i, { i, a: 0, t: 0 }])) })
  return (x: number, y: number) => [...rgba.subarray((y * LIGHT_WIDTH + x) * 4, (y * LIGHT_WIDTH + x) * 4 + 4)]
}

const MIDDLE = LIGHT_HEIGHT >> 1

test('the page around the wall takes on the colours of the nearest blocks', () => {
  const at = createLightReader(({ col }) => col < 40)
  const [red, green, blue, strength = 0] = at(3, MIDDLE)
  expect([red, green, blue]).toEqual([255, 0, 0])
  expect(strength).toBeGreaterThan(at(0, MIDDLE)[3] ?? 0)
  expect(at(LIGHT_WIDTH - 4, MIDDLE)[3]).toBe(0)
})

test('the page around a wall without sold blocks takes on no colour', () => {
  const at = createLightReader(() => false)
  expect(at(3, MIDDLE)).toEqual([0, 0, 0, 0])
})
