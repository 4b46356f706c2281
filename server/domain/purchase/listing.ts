/** Listings: the texts, picture and painter that a buyer sends with a purchase. */

import { parsePixels, type Pixels } from '../../../shared/pixels.ts'
import { failure, isFailure, type Failure } from '../failure.ts'
import type { PaintPlan, SentPicture } from '../picture/picture.ts'
import { followsRule, rules } from '../wall/signed-fields.ts'
import type { Address, Payment, Target } from './payment.ts'

/** A listing that has passed all checks. `null` means that the buyer did not send the field. */
export type Listing = {
  readonly name: string | null
  readonly framework: string | null
  readonly message: string | null
  readonly link: string | null
  readonly pixels: Pixels | null // of an area: block by block, row by row
  readonly painter: Address | null // may repaint the purchase in addition to the buyer
}

/** A listing of an area whose picture is not converted yet. Conversion is costly, so it waits until the payment is verified. */
export type Draft = Listing & { readonly picture?: AreaPicture }

/** A picture as it was sent, and how to convert it. */
export type AreaPicture = { readonly sent: SentPicture; readonly plan: PaintPlan }

/**
 * What is ordered. `isArea` says how it was asked for: an area of one block is answered as an area. A listing that is refused
 * stays a value: it must not hide what became of a payment that is known already.
 */
export type PurchaseOrder = {
  readonly target: Target
  readonly isArea: boolean
  readonly listing: Draft | Failure
}

/** The draft as a listing, without its unconverted picture. */
export function withoutPicture({ name, framework, message, link, pixels, painter }: Draft): Listing {
  return { name, framework, message, link, pixels, painter }
}

/** A stored listing. Refused orders are stored without their picture, so it takes that of the same order when it is sent again. */
export function withPictureOf(
  stored: Listing,
  { listing, payment }: { readonly listing: Draft | Failure; readonly payment: Payment },
): Draft {
  if (stored.pixels !== null || isFailure(listing) || payment.binding === 'mismatch') return stored
  return differOnlyInPicture(stored, listing) ? listing : stored
}

/** Whether two listings have the same texts and painter, whatever their pictures. */
export const differOnlyInPicture = (one: Listing, other: Listing): boolean =>
  TEXT_KEYS.every((key) => one[key] === other[key]) && one.painter === other.painter

/** A field as the buyer sent it, or why it cannot be read. */
export type FieldText = { readonly text: string } | { readonly flaw: string }

/** Reads a field of a JSON body. */
export const fieldTextOf = (value: unknown): FieldText =>
  typeof value === 'string' ? { text: value } : { flaw: 'must be a string' }

const TEXT_KEYS = ['name', 'framework', 'message', 'link'] as const

type TextKey = (typeof TEXT_KEYS)[number]

/** All fields of a listing, in the order in which they are checked. `px` is the picture in hex. */
export const LISTING_KEYS = [...TEXT_KEYS, 'px', 'painter'] as const

export type ListingKey = (typeof LISTING_KEYS)[number]

/** The listing fields in a JSON object. */
export const fieldsIn = (body: Readonly<Record<string, unknown>>): ReadonlyMap<ListingKey, FieldText> =>
  new Map(LISTING_KEYS.filter((key) => body[key] !== undefined).map((key) => [key, fieldTextOf(body[key])]))

/** Parses a listing, or returns the failure of the first invalid field. */
export function readListing(fields: ReadonlyMap<ListingKey, FieldText>): Listing | Failure {
  const texts: Record<TextKey, string | null> = { name: null, framework: null, message: null, link: null }
  for (const key of TEXT_KEYS) {
    const text = readText(key, fields.get(key))
    if (isFailure(text)) return text
    texts[key] = text
  }
  const pixels = readPixels(fields.get('px'))
  if (isFailure(pixels)) return pixels
  const painter = readText('painter', fields.get('painter'))
  if (isFailure(painter)) return painter
  return { ...texts, pixels, painter: painter === null ? null : (painter.toLowerCase() as Address) }
}

function readText(key: TextKey | 'painter', value: FieldText | undefined): string | null | Failure {
  if (value === undefined) return null
  const code = key === 'painter' ? 'invalid_painter' : 'invalid_listing'
  if ('flaw' in value) return failure(code, `${key} ${value.flaw}.`)
  return followsRule[key](value.text) ? value.text : failure(code, `${key} ${rules[key]}.`)
}

function readPixels(value: FieldText | undefined): Pixels | null | Failure {
  if (value === undefined) return null
  if ('flaw' in value) return failure('invalid_pixels', `px ${value.flaw}.`)
  const pixels = parsePixels(value.text)
  return 'problem' in pixels ? failure('invalid_pixels', `px: ${pixels.problem}.`) : pixels
}
