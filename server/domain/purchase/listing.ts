/** What a buyer says of a block when buying it. */

import { parsePixels, type Pixels } from '../../../shared/pixels.ts'
import { failure, type Failure } from '../failure.ts'
import type { PaintPlan, SentPicture } from '../picture/picture.ts'
import { followsRule, rules } from '../wall/signed-fields.ts'
import type { Address } from './payment.ts'

/** Checked; `null` is "not said". */
export type Listing = {
  readonly name: string | null
  readonly framework: string | null
  readonly message: string | null
  readonly link: string | null
  readonly pixels: Pixels | null // of an area block by block, row by row
  readonly painter: Address | null // who may repaint what is bought, beside the buyer
}

/** What a buyer says of an area whose picture is still to be made: that costs work, and is done once the payment is verified. */
export type Draft = Listing & { readonly picture?: AreaPicture }

/** A picture as it was sent, and what to make of it. */
export type AreaPicture = { readonly sent: SentPicture; readonly plan: PaintPlan }

/** A draft without its picture. */
export function unpainted({ name, framework, message, link, pixels, painter }: Draft): Listing {
  return { name, framework, message, link, pixels, painter }
}

/** One field as a buyer sent it, or why it cannot be read. */
export type FieldText = { readonly text: string } | { readonly flaw: string }

/** A field of JSON. */
export const fieldTextOf = (value: unknown): FieldText =>
  typeof value === 'string' ? { text: value } : { flaw: 'must be a string' }

const TEXT_KEYS = ['name', 'framework', 'message', 'link'] as const

type TextKey = (typeof TEXT_KEYS)[number]

/** What a buyer may say, in the order it is checked; `px` is the picture in hex. */
export const LISTING_KEYS = [...TEXT_KEYS, 'px', 'painter'] as const

export type ListingKey = (typeof LISTING_KEYS)[number]

/** The fields that an object of JSON has. */
export const fieldsIn = (said: Readonly<Record<string, unknown>>): ReadonlyMap<ListingKey, FieldText> =>
  new Map(LISTING_KEYS.filter((key) => said[key] !== undefined).map((key) => [key, fieldTextOf(said[key])]))

/** Reads a listing, or names the first field that breaks its rule. */
export function readListing(said: ReadonlyMap<ListingKey, FieldText>): Listing | Failure {
  const texts: Record<TextKey, string | null> = { name: null, framework: null, message: null, link: null }
  for (const key of TEXT_KEYS) {
    const text = readText(key, said.get(key))
    if (text !== null && typeof text !== 'string') return text
    texts[key] = text
  }
  const pixels = readPixels(said.get('px'))
  if (pixels !== null && 'code' in pixels) return pixels
  const painter = readText('painter', said.get('painter'))
  if (painter !== null && typeof painter !== 'string') return painter
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
