import { describe, expect, test } from 'bun:test'
import {
  ALL_BLOCKS,
  getBlockAt,
  getCell,
  CLAIM_ORDER,
  formatCoord,
  isBlockIndex,
  parseCoord,
  TOTAL_BLOCKS,
} from '../../../shared/wall.ts'

describe('a coordinate', () => {
  test.each([
    ['0,0', 0],
    ['159,0', 159],
    ['0,1', 160],
    ['80,45', 7280],
    ['159,89', 14_399],
    ['007,003', 487],
    ['000,000', 0],
  ])('the coordinate %s is parsed as block %i', (text, index) => {
    expect(Number(parseCoord(text))).toBe(index)
  })

  test.each([
    '',
    ',',
    '1',
    '160,0',
    '0,90',
    '0001,1',
    '-1,0',
    '1e1,2',
    '0x1,2',
    '1,2 ',
    '1,2\n',
    '1,2,3',
    '1;2',
    '１,２',
    '١,٢',
    'next',
  ])('the text %j is not the coordinate of a block', (text) => {
    expect(parseCoord(text)).toBeUndefined()
  })

  test('every block has its own canonical coordinate, which is parsed back to that block', () => {
    expect(ALL_BLOCKS.map((block) => parseCoord(formatCoord(block)))).toEqual([...ALL_BLOCKS])
    expect(new Set(ALL_BLOCKS.map(formatCoord)).size).toBe(14_400)
  })
})

describe('a block', () => {
  test('converting a block to its column and row, and back to a block, returns the same block', () => {
    expect(ALL_BLOCKS.every((block) => getBlockAt(getCell(block).col, getCell(block).row) === block)).toBe(true)
  })

  test.each([
    [-1, 0],
    [0, -1],
    [160, 0],
    [0, 90],
    [0.5, 0],
    [Number.NaN, 0],
    [0, Number.NaN],
  ])('column %d, row %d is not on the wall', (col, row) => {
    expect(getBlockAt(col, row)).toBeUndefined()
  })

  test.each([-1, 14_400, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('%d is not the index of a block', (value) => {
    expect(isBlockIndex(value)).toBe(false)
  })
})

describe('the claim order', () => {
  test('the claim order sorts blocks by the distance of their centres from the centre of the wall, then by index', () => {
    const rings = new Map<number, number[]>()
    for (let index = 0; index < TOTAL_BLOCKS; index++) {
      const x = (index % 160) * 10 + 5 - 800
      const y = Math.floor(index / 160) * 10 + 5 - 450
      const squared = x * x + y * y
      rings.set(squared, [...(rings.get(squared) ?? []), index])
    }
    const radii = [...rings.keys()].toSorted((a, b) => a - b)
    expect(CLAIM_ORDER.map(Number)).toEqual(radii.flatMap((radius) => rings.get(radius) ?? []))
  })
})
