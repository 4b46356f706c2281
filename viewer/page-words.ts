/** Values that the server has written into the page's HTML. */

import { USUAL_PRICE } from '../shared/money.ts'
import { type Rect, toRect } from './camera/camera.ts'
import type { Wall } from './wall/wall-model.ts'

/** The price of a block, which the server writes into the page only if it is not the default. */
export const readPrice = (): string =>
  document.querySelector('meta[name="price"]')?.getAttribute('content') ?? USUAL_PRICE

/** The price of a block of the wall; until the wall arrives, the price in the page. */
export const readCurrentPrice = (wall: Wall | undefined): string => wall?.pricing.perBlock ?? readPrice()

/** The path of the stream that a cache shares with all pages; null unless the operator has configured such a cache. */
export const readSharedStream = (): string | null =>
  document.querySelector('meta[name="live"]')?.getAttribute('content') ?? null

/** The wall's name. */
export const readWallName = (): string => document.querySelector('h1 .name')?.textContent ?? ''

/** The area that contains nearly all sold blocks; `undefined` on an empty wall. */
export function readSoldArea(): Rect | undefined {
  const [col, row, w, h] = document.getElementById('stage')?.dataset['sold']?.split(',').map(Number) ?? []
  return col === undefined || row === undefined || !w || !h ? undefined : toRect({ col, row, w, h })
}
