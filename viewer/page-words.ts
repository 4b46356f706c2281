/** What the server has written into the page's HTML. */

import { USUAL_PRICE } from '../shared/money.ts'

/** What a block costs; the server writes any other price than the usual one. */
export const priceOnPage = (): string =>
  document.querySelector('meta[name="price"]')?.getAttribute('content') ?? USUAL_PRICE

/** The wall's name. */
export const nameOnPage = (): string => document.querySelector('h1 .name')?.textContent ?? ''
