/** Listings: the texts, picture and painter that a buyer sends with a purchase. */

import type { Pixels } from '../../../shared/pixels.ts'
import { isFailure, type Failure } from '../failure.ts'
import type { PaintPlan, SentPicture } from '../picture/picture.ts'
import type { Address, Payment, Target } from './payment.ts'

/** A listing that has passed all checks. `null` means that the buyer did not send the field. */
export type Listing = {
  readonly name: string | null
  readonly framework: string | null
  readonly message: string | null
  readonly link: string | null
  readonly pixels: Pixels | null // for an area: block by block, each of them row by row
  readonly painter: Address | null // this address may also repaint the purchase
}

/**
 * A listing, with `picture` if it is for an area and its picture has not been converted yet. Conversion is costly, so
 * it waits until the payment is verified.
 */
export type Draft = Listing & { readonly picture?: AreaPicture }

/** A picture as it was sent, and how to convert it. */
export type AreaPicture = { readonly sent: SentPicture; readonly plan: PaintPlan }

/**
 * An order. `isArea` is true if it was requested as an area: even an area of one block gets the response for areas. An
 * invalid listing is kept as a `Failure`, so that it does not hide the outcome of a known payment.
 */
export type PurchaseOrder = {
  readonly target: Target
  readonly isArea: boolean
  readonly listing: Draft | Failure
}

/** The draft as a listing, without its unconverted picture. */
export function omitPicture({ name, framework, message, link, pixels, painter }: Draft): Listing {
  return { name, framework, message, link, pixels, painter }
}

/**
 * Returns a stored listing, completed with its picture if the same order is sent again. The listing of a
 * refused order is stored without its picture.
 */
export function addPictureOf(
  stored: Listing,
  { listing, payment }: { readonly listing: Draft | Failure; readonly payment: Payment },
): Draft {
  if (stored.pixels !== null || isFailure(listing) || payment.binding === 'mismatch') return stored
  return matchesExceptPicture(stored, listing) ? listing : stored
}

/** Whether two listings have the same texts and painter, whatever their pictures. */
export const matchesExceptPicture = (one: Listing, other: Listing): boolean =>
  TEXT_KEYS.every((key) => one[key] === other[key]) && one.painter === other.painter

/** The texts of a listing. */
export const TEXT_KEYS = ['name', 'framework', 'message', 'link'] as const
