import { describe, expect, test } from 'bun:test'
import { AREA_BLOCKS_MAX, placeArea, formatArea, listAreaBlocks, isAreaSize, parseArea } from '../../../shared/area.ts'
import { ALL_BLOCKS, formatCoord, parseCoord } from '../../../shared/wall.ts'

describe('the name of an area', () => {
  test.each([
    ['80,45,4x3', { col: 80, row: 45, w: 4, h: 3 }],
    ['0,0,1x1', { col: 0, row: 0, w: 1, h: 1 }],
    ['159,89,1x1', { col: 159, row: 89, w: 1, h: 1 }],
    ['140,70,20x20', { col: 140, row: 70, w: 20, h: 20 }],
    ['0,7,160x2', { col: 0, row: 7, w: 160, h: 2 }],
    ['3,0,4x90', { col: 3, row: 0, w: 4, h: 90 }],
  ])('the area name %s is read, and written back unchanged', (text, area) => {
    expect(parseArea(text)).toEqual(area)
    expect(String(formatArea(area))).toBe(text)
  })

  test.each([
    '',
    '80,45',
    '80,45,4x',
    '80,45,4X3',
    ' 80,45,4x3',
    '80,45,4x3\n',
    '80,045,4x3',
    '80,45,04x3',
    '-1,0,1x1',
    '80,45,0x3',
    '80,45,4x0',
    '80,45,4.0x3',
    '80,45,1e1x3',
    '160,0,1x1',
    '0,90,1x1',
    '157,45,4x3',
    '80,88,4x3',
    '0,0,21x20',
    '0,0,161x1',
    '0,0,1x91',
    'next,4x3',
  ])('%j is not an area name', (text) => {
    expect(parseArea(text)).toBeUndefined()
  })
})

test('the blocks of an area are listed row by row', () => {
  expect(listAreaBlocks({ col: 80, row: 45, w: 3, h: 2 }).map(formatCoord)).toEqual([
    '80,45',
    '81,45',
    '82,45',
    '80,46',
    '81,46',
    '82,46',
  ])
})

test('a 1x1 area at the position of a block contains only that block', () => {
  for (const block of ALL_BLOCKS) {
    const area = placeArea(block, { w: 1, h: 1 })
    expect(area === undefined ? [] : listAreaBlocks(area)).toEqual([block])
  }
})

test('an area cannot extend beyond the edge of the wall', () => {
  const last = parseCoord('159,89')
  if (last === undefined) throw new Error('unreachable')
  expect(placeArea(last, { w: 1, h: 1 })).toBeDefined()
  expect(placeArea(last, { w: 2, h: 1 })).toBeUndefined()
  expect(placeArea(last, { w: 1, h: 2 })).toBeUndefined()
})

test('the size of an area is valid only if it is in whole blocks, from 1x1 up to 400 blocks in total', () => {
  expect(isAreaSize({ w: 20, h: 20 })).toBe(true)
  expect(20 * 20).toBe(AREA_BLOCKS_MAX)
  for (const [w, h] of [
    [0, 1],
    [1, 0],
    [-1, -1],
    [1.5, 2],
    [Number.NaN, 1],
    [401, 1],
    [3, 134],
  ] as const)
    expect(isAreaSize({ w, h })).toBe(false)
})
