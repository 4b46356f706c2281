/** Areas: rectangles of blocks that are sold whole and repainted whole. A block is an area of 1x1. */

import { getBlockAt, getCell, COLS, ROWS, type BlockIndex } from './wall.ts'

/** The most blocks an area may have. */
export const AREA_BLOCKS_MAX = 400

/** A rectangle of blocks: column and row of the top left block, and width and height in blocks. */
export type Area = { readonly col: number; readonly row: number; readonly w: number; readonly h: number }

/** Width and height in blocks. */
export type AreaSize = Pick<Area, 'w' | 'h'>

/** `col,row,WxH` of an area, in decimal without leading zeros. */
export type AreaName = `${number},${number},${number}x${number}`

const NUMBER = '(0|[1-9]\\d{0,2})'

/** The pattern of an area's name. Not every match is an area: it may be off the wall or too large. */
export const AREA_PATTERN = `^${NUMBER},${NUMBER},([1-9]\\d{0,2})x([1-9]\\d{0,2})$`

const areaPattern = new RegExp(AREA_PATTERN)

/** Whether an area can have this size: it fits on the wall and has 1 to `AREA_BLOCKS_MAX` blocks. */
export const isAreaSize = ({ w, h }: AreaSize): boolean =>
  Number.isInteger(w) && Number.isInteger(h) && w >= 1 && h >= 1 && w <= COLS && h <= ROWS && w * h <= AREA_BLOCKS_MAX

/** The area of the given size with `at` as its top left block; `undefined` if it is too large or off the wall. */
export function placeArea(at: BlockIndex, { w, h }: AreaSize): Area | undefined {
  const { col, row } = getCell(at)
  return isAreaSize({ w, h }) && col + w <= COLS && row + h <= ROWS ? { col, row, w, h } : undefined
}

/** Parses `col,row,WxH`; `undefined` if it is not canonical, off the wall or too large. */
export function parseArea(text: string): Area | undefined {
  const [col, row, w, h] = (areaPattern.exec(text)?.slice(1) ?? []).map(Number)
  if (col === undefined || row === undefined || w === undefined || h === undefined) return undefined
  const at = getBlockAt(col, row)
  return at === undefined ? undefined : placeArea(at, { w, h })
}

/** The canonical `col,row,WxH` of an area. */
export const formatArea = ({ col, row, w, h }: Area): AreaName => `${col},${row},${w}x${h}`

/** The blocks of an area, row by row. */
export function listAreaBlocks({ col, row, w, h }: Area): BlockIndex[] {
  return Array.from({ length: w * h }, (_, i) => getBlockAt(col + (i % w), row + Math.floor(i / w))).filter(
    (block) => block !== undefined,
  )
}
