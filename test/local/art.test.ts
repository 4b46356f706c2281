import { expect, test } from 'bun:test'
import { cube, picture, slope } from '../../server/local/art.ts'
import { PALETTE } from '../../shared/palette.ts'
import { parsePixels } from '../../shared/pixels.ts'

const ROW = 'x.........'

test('a colour of the cube is named by its levels', () => {
  expect([cube(0, 0, 0), cube(5, 0, 0), cube(0, 5, 0), cube(0, 0, 5), cube(5, 5, 5)].map((i) => PALETTE[i])).toEqual([
    '#000000',
    '#ff0000',
    '#00ff00',
    '#0000ff',
    '#ffffff',
  ])
})

test('a picture is drawn a character a pixel', () => {
  const hex = picture([ROW, '', ROW], { x: 180, '.': 215 })
  expect(hex.slice(0, 20)).toBe(`b4${'d7'.repeat(9)}`)
  expect(hex.slice(20, 40)).toBe('00'.repeat(10))
  expect(hex.slice(40, 60)).toBe(hex.slice(0, 20))
})

test('a slope runs from one colour to the other, in the palette', () => {
  const pixels = parsePixels(slope([5, 0, 0], [0, 0, 5]))
  expect(pixels).toBeInstanceOf(Uint8Array)
  if ('problem' in pixels) return
  expect([pixels[0], pixels[99]]).toEqual([cube(5, 0, 0), cube(0, 0, 5)])
  expect(pixels[9]).toBe(pixels[90] ?? -1)
})
