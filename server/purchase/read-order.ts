/** Reads the order of a block or an area, in the same way for every interface. */

import type { TObject } from '@sinclair/typebox'
import { AREA_BLOCKS_MAX, placeArea, isAreaSize, type AreaSize } from '../../shared/area.ts'
import { AREA_IMAGE_MAX_BYTES, AreaOrder } from '../../shared/contract/area-order.ts'
import { ListingQuery } from '../../shared/contract/block.ts'
import { Closed } from '../../shared/contract/kinds.ts'
import { Dither, Fit } from '../../shared/contract/picture.ts'
import { parseHexPixels } from '../../shared/pixels.ts'
import { BLOCK_SIZE, parseCoord } from '../../shared/wall.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import {
  type AreaPicture,
  type Draft,
  type Listing,
  type PurchaseOrder,
  TEXT_KEYS,
} from '../domain/purchase/listing.ts'
import { toLowerAddress } from '../domain/purchase/payment.ts'
import { createInvalidAreaFailure, createInvalidCoordinateFailure } from '../domain/purchase/refusals.ts'
import { getPosition, createTarget, type Target } from '../domain/purchase/target.ts'
import { decodeBase64, readAreaPixels } from '../domain/wall/canvas.ts'
import { type Flaw, createReader, refuseField, describeViolation } from '../read.ts'

type Fields = Readonly<Record<string, unknown>>

/** Names of the fields of a listing, in the order in which they are checked. `px` is the picture in hex. */
export const LISTING_KEYS: readonly string[] = Object.keys(ListingQuery.properties)

/** The first field of `said` that a schema does not have; `undefined` if it has all of them. */
export const findUnknownField = ({ properties }: TObject, said: Fields): string | undefined =>
  Object.keys(said).find((name) => !Object.hasOwn(properties, name))

/** Reads the fields of a block's listing. All other fields are ignored. */
export function readListing(said: Fields): Listing | Failure {
  const fields = readFields(Object.fromEntries(LISTING_KEYS.map((key) => [key, said[key]])))
  return isFailure(fields) ? fields : toListing(fields)
}

/** Refuses a field of a listing. All texts of a listing share one error code. */
function refuseListingField(flaw: Flaw): Failure {
  const isText = TEXT_KEYS.some((key) => key === flaw.name)
  return isText ? createFailure('invalid_listing', describeViolation(flaw)) : refuseField('invalid_pixels')(flaw)
}

const readFields = createReader(ListingQuery, refuseListingField)

function toListing({ px, painter, ...texts }: ListingQuery): Listing {
  const { name = null, framework = null, message = null, link = null } = texts
  return {
    name,
    framework,
    message,
    link,
    pixels: px === undefined ? null : parseHexPixels(px),
    painter: painter === undefined ? null : toLowerAddress(painter),
  }
}

/** Reads an order for an area, or returns why it is not valid. */
export function readAreaOrder(value: unknown): PurchaseOrder | Failure {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return createFailure('invalid_body', SHAPE)
  const { at = 'next', w, h, ...said }: Fields = { ...value }
  const target = readTarget(at, w, h)
  return isFailure(target) ? target : { target, isArea: true, listing: readDraft(said, getPosition(target)) }
}

/** Reads a position and a size in blocks, or returns why they are not valid. */
export function readTarget(at: unknown, w: unknown, h: unknown): Target | Failure {
  if (typeof w !== 'number' || typeof h !== 'number' || !isAreaSize({ w, h }))
    return createFailure('invalid_area', SIZE)
  if (at === 'next') return createTarget(at, { w, h })
  const block = typeof at === 'string' ? parseCoord(at) : undefined
  if (block === undefined) return createInvalidCoordinateFailure()
  return placeArea(block, { w, h }) === undefined ? createInvalidAreaFailure() : createTarget(block, { w, h })
}

const SHAPE = `Send a JSON object with ${Object.keys(AreaOrder.properties).join(', ')}; w and h are required, and no other fields are allowed.`

const SIZE = `w and h must be whole numbers of blocks. The area must have 1 to ${AREA_BLOCKS_MAX} blocks (w times h) and fit on the wall.`

const { name, framework, message, link, painter } = AreaOrder.properties

// The picture is read separately, because reading it requires the size of the area.
const readAreaFields = createReader(
  Closed({ name, framework, message, link, painter, fit: Fit, dither: Dither }),
  refuseListingField,
)

function readDraft({ pixels, image, ...given }: Fields, size: AreaSize): Draft | Failure {
  if (findUnknownField(AreaOrder, given) !== undefined) return createFailure('invalid_body', SHAPE)
  const said = readAreaFields(given)
  if (isFailure(said)) return said
  if (pixels !== undefined && image !== undefined)
    return createFailure('invalid_body', 'Send pixels or image, not both: each is the whole picture.')
  const listing = toListing(said)
  if (image !== undefined) {
    const picture = readImage(image, size, said)
    return isFailure(picture) ? picture : { ...listing, picture }
  }
  if (pixels === undefined) return listing
  const read = readAreaPixels(pixels, size)
  return isFailure(read) ? read : { ...listing, pixels: read.blocks }
}

// The colour of transparent pixels: the same as the default for a picture that is converted to pixels before the order.
const BACKGROUND = '#000000'

type How = Pick<AreaPicture['plan'], 'fit' | 'dither'>

function readImage(value: unknown, { w, h }: AreaSize, { fit, dither }: How): AreaPicture | Failure {
  const bytes = decodeBase64(value)
  if (bytes === undefined || bytes.length === 0 || bytes.length > AREA_IMAGE_MAX_BYTES)
    return createFailure(
      'invalid_image',
      `image must be a PNG or JPEG of at most ${AREA_IMAGE_MAX_BYTES} bytes, in base64.`,
    )
  const plan = { fit, dither, width: w * BLOCK_SIZE, height: h * BLOCK_SIZE, background: BACKGROUND }
  return { sent: { kind: 'file', bytes }, plan }
}
