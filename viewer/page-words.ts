/** What the server has written into the page's HTML. */

import { USUAL_PRICE } from '../shared/money.ts'
import { type Rect, rectOf } from './camera/camera.ts'

/** What a block costs; the server writes any other price than the usual one. */
export const priceOnPage = (): string =>
  document.querySelector('meta[name="price"]')?.getAttribute('content') ?? USUAL_PRICE

/** The stream that a cache shares, where the operator says that there is such a cache. */
export const sharedStreamOnPage = (): string | null =>
  document.querySelector('meta[name="live"]')?.getAttribute('content') ?? null

/** The wall's name. */
export const nameOnPage = (): string => document.querySelector('h1 .name')?.textContent ?? ''

/** Where nearly all of what is sold lies; `undefined` on an empty wall. */
export function soldOnPage(): Rect | undefined {
  const [col, row, w, h] = document.getElementById('stage')?.dataset['sold']?.split(',').map(Number) ?? []
  return col === undefined || row === undefined || !w || !h ? undefined : rectOf({ col, row, w, h })
}
