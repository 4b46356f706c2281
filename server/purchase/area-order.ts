/** Reads what is ordered of an area, alike for every way to order. */

import { AREA_BLOCKS_MAX, areaAt, isAreaSize, type AreaSize } from '../../shared/area.ts'
import { AREA_IMAGE_MAX_BYTES, AreaOrder } from '../../shared/contract/area-order.ts'
import type { Dither } from '../../shared/quantise.ts'
import type { Fit } from '../../shared/resample.ts'
import { BLOCK_SIZE, parseCoord } from '../../shared/wall.ts'
import { failure, isFailure, type Failure } from '../domain/failure.ts'
import { fieldsIn, readListing, type AreaPicture, type Draft, type PurchaseOrder } from '../domain/purchase/listing.ts'
import { invalidArea, invalidCoordinate } from '../domain/purchase/refusals.ts'
import { positionOf, targetOf, type Target } from '../domain/purchase/target.ts'
import { bytesIn, readAreaPixels } from '../domain/wall/canvas.ts'

/** Reads an order, or says why it names no area. */
export function readAreaOrder(value: unknown): PurchaseOrder | Failure {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return failure('invalid_body', SHAPE)
  const { at = 'next', w, h, ...said }: Readonly<Record<string, unknown>> = { ...value }
  const target = readTarget(at, w, h)
  return isFailure(target) ? target : { target, isArea: true, listing: readDraft(said, positionOf(target)) }
}

/** Reads a place and a size in blocks, or says why they are none. */
export function readTarget(at: unknown, w: unknown, h: unknown): Target | Failure {
  if (typeof w !== 'number' || typeof h !== 'number' || !isAreaSize({ w, h })) return failure('invalid_area', SIZE)
  if (at === 'next') return targetOf(at, { w, h })
  const block = typeof at === 'string' ? parseCoord(at) : undefined
  if (block === undefined) return invalidCoordinate()
  return areaAt(block, { w, h }) === undefined ? invalidArea() : targetOf(block, { w, h })
}

const KEYS = Object.keys(AreaOrder.properties)

const SHAPE = `Send a JSON object with ${KEYS.join(', ')}; w and h are required, and no other fields are allowed.`

const SIZE = `w and h must be whole numbers of blocks, together 1 to ${AREA_BLOCKS_MAX} (w times h), and fit on the wall.`

type Fields = Readonly<Record<string, unknown>>

function readDraft(said: Fields, size: AreaSize): Draft | Failure {
  const unknownName = Object.keys(said).find((key) => !KEYS.includes(key))
  if (unknownName !== undefined) return failure('invalid_body', SHAPE)
  const listing = readListing(fieldsIn(said))
  if (isFailure(listing)) return listing
  const how = readHow(said)
  if (isFailure(how)) return how
  const { pixels, image } = said
  if (pixels !== undefined && image !== undefined)
    return failure('invalid_body', 'Send pixels or image, not both: each is the whole picture.')
  if (image !== undefined) {
    const picture = readImage(image, size, how)
    return isFailure(picture) ? picture : { ...listing, picture }
  }
  if (pixels === undefined) return listing
  const read = readAreaPixels(pixels, size)
  return isFailure(read) ? read : { ...listing, pixels: read.blocks }
}

type How = { readonly fit: Fit; readonly dither: Dither }

const fits: readonly Fit[] = ['cover', 'contain', 'fill']
const dithers: readonly Dither[] = ['none', 'floyd-steinberg']

function readHow({ fit = 'cover', dither = 'none' }: Fields): How | Failure {
  const known = { fit: fits.find((each) => each === fit), dither: dithers.find((each) => each === dither) }
  if (known.fit === undefined) return failure('invalid_option', `fit must be one of ${fits.join(', ')}.`)
  if (known.dither === undefined) return failure('invalid_option', `dither must be one of ${dithers.join(', ')}.`)
  return { fit: known.fit, dither: known.dither }
}

// What shows through, as when a picture is turned into pixels beforehand.
const BACKGROUND = '#000000'

function readImage(value: unknown, { w, h }: AreaSize, how: How): AreaPicture | Failure {
  const bytes = bytesIn(value)
  if (bytes === undefined || bytes.length === 0 || bytes.length > AREA_IMAGE_MAX_BYTES)
    return failure('invalid_image', `image must be a PNG or JPEG of at most ${AREA_IMAGE_MAX_BYTES} bytes, in base64.`)
  const plan = { ...how, width: w * BLOCK_SIZE, height: h * BLOCK_SIZE, background: BACKGROUND }
  return { sent: { kind: 'file', bytes }, plan }
}
