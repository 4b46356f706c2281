/** What the page says of the wall before anything is read: the server writes it in. */

import { USUAL_PRICE } from '../shared/money.ts'

/** What a block costs; the page is told where that is not the usual price. */
export const priceOnPage = (): string =>
  document.querySelector('meta[name="price"]')?.getAttribute('content') ?? USUAL_PRICE

/** The wall's name. */
export const nameOnPage = (): string => document.querySelector('h1 .name')?.textContent ?? ''
