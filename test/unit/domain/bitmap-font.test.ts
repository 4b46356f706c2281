import { expect, test } from 'bun:test'
import { createBitmap, measureTextHeight, measureTextWidth, writeText } from '../../../server/domain/picture/drawing.ts'

/** Text drawn as rows of characters, with ink as `#`. */
function renderText(text: string, scale = 1): string[] {
  const bitmap = createBitmap(measureTextWidth(text, scale), measureTextHeight(scale), 0)
  writeText(bitmap, text, { x: 0, y: 0, scale, colour: 1 })
  return Array.from({ length: bitmap.height }, (_, y) =>
    [...bitmap.indices.subarray(y * bitmap.width, (y + 1) * bitmap.width)]
      .map((ink) => (ink === 1 ? '#' : '.'))
      .join(''),
  )
}

test('a coordinate is drawn legibly', () => {
  expect(renderText('80,4')).toEqual([
    '.###...###...........#.',
    '#...#.#...#.........##.',
    '#...#.#..##........#.#.',
    '.###..#.#.#.......#..#.',
    '#...#.##..#...#...#####',
    '#...#.#...#...#......#.',
    '.###...###...#.......#.',
  ])
})

test('scaled letters consist of squares', () => {
  expect(renderText('I', 2).slice(0, 4)).toEqual(['..######..', '..######..', '....##....', '....##....'])
})

test('every supported character has its own shape, and any other character is drawn as a gap', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,.:-x'.split('')
  const shapes = new Set(letters.map((letter) => renderText(letter).join('\n')))
  expect(shapes.size).toBe(letters.length)
  expect(renderText(' ').join('')).not.toContain('#')
  expect(renderText('\u{1F600}').join('')).not.toContain('#')
})

test('text beyond the edge of the bitmap is cut off', () => {
  const bitmap = createBitmap(8, 8, 0)
  writeText(bitmap, 'MM', { x: -2, y: 4, scale: 1, colour: 1 })
  expect([...bitmap.indices.subarray(0, 32)].every((ink) => ink === 0)).toBe(true)
  expect([...bitmap.indices.subarray(32)].some((ink) => ink === 1)).toBe(true)
})
