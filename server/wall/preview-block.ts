/** Previews a purchase: makes every check that a purchase makes before payment is requested, and draws the result. */

import { formatArea } from '../../shared/area.ts'
import type { Preview, PreviewProblem } from '../../shared/contract/preview.ts'
import { ASSET_SYMBOL, formatMoney } from '../../shared/money.ts'
import type { Pixels } from '../../shared/pixels.ts'
import { ALL_BLOCKS, BLOCK_SIZE, CLAIM_ORDER, formatCoord, toBlockRef, type BlockIndex } from '../../shared/wall.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import { drawRegion, enlarge, findSurroundings } from '../domain/picture/wall-picture.ts'
import { computeTerms } from '../domain/purchase/payment.ts'
import { createCannotSellFailure, createUnavailableFailure } from '../domain/purchase/refusals.ts'
import { getArea, listHeldBlocks, isBlock, getPosition, type Holding, type Target } from '../domain/purchase/target.ts'
import { readAreaPixels } from '../domain/wall/canvas.ts'
import { findNearestArea } from '../domain/wall/open-space.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { PaymentHealth } from '../health/payment-health.ts'
import type { Pictures } from '../ports.ts'
import { LISTING_KEYS, readListing } from '../purchase/read-order.ts'
import { toOfferRequirements, formatResourceUrl, type Offer } from '../x402/terms.ts'
import type { Taken, TakenBlocks } from './open-blocks.ts'

export type PreviewDeps = {
  readonly view: WallView
  readonly readTaken: TakenBlocks
  readonly pictures: Pictures
  readonly rail: PaymentHealth
  readonly offer: Offer
}

/** The unchecked input for a preview: the listing and, for an area, its `pixels` in base64. */
type PreviewInput = Readonly<Record<string, unknown>>

// At the wall's own size, a block is too small to see; a large area is large enough without scaling.
const SCALE_MAX = 8
const IMAGE_SIDE = 480

/** The result of buying `target` with this listing. The preview holds, sells and stores nothing. */
export async function previewBlock(previewing: PreviewDeps, target: Target, said: PreviewInput): Promise<Preview> {
  const { offer, rail } = previewing
  const { block, space } = await readTargetState(previewing, target)
  const held = block === undefined ? undefined : { target, block }
  const cannotPay = rail.readState() === 'misconfigured'
  const picture = readPicture(target, said)
  const problems = [
    ...(space === 'open' ? [] : [createProblem('coord', createUnavailableFailure(target, space))]),
    ...findListingProblems(said),
    ...picture.problems,
    ...(cannotPay ? [createProblem('rail', createCannotSellFailure())] : []),
  ]
  const state = space === 'crowded' ? 'claimed' : space
  return {
    acceptable: problems.length === 0,
    problems,
    block: block === undefined ? null : toBlockRef(block),
    area: held === undefined || isBlock(target) ? null : formatArea(getArea(held)),
    state,
    price: {
      amount: formatMoney(computeTerms(offer.terms, target).amount),
      asset: ASSET_SYMBOL,
      network: offer.terms.network,
    },
    request: createRequest(offer, target, said),
    terms: space === 'open' && !cannotPay ? { ...toOfferRequirements(offer, target) } : null,
    image: held === undefined ? null : await renderImage(previewing, held, state, picture.pixels),
  }
}

type TargetState = {
  readonly block: BlockIndex | undefined
  readonly space: 'open' | 'reserved' | 'claimed' | 'crowded'
}

/** Finds which block (for an area, the top left one) would be bought, and whether it can be bought. */
async function readTargetState({ view, readTaken }: PreviewDeps, target: Target): Promise<TargetState> {
  const now = await readTaken()
  const { at } = getPosition(target)
  if (at !== 'next') return { block: at, space: computeSpace(view, now, { target, block: at }) }
  if (!isBlock(target)) {
    const found = findNearestArea(now.computeOccupied(), getPosition(target))
    return { block: found.kind === 'open' ? found.block : undefined, space: found.kind }
  }
  const block = CLAIM_ORDER.find((candidate) => !now.has(candidate))
  if (block !== undefined) return { block, space: 'open' }
  return { block, space: view.claimed.size === ALL_BLOCKS.length ? 'claimed' : 'reserved' }
}

function computeSpace({ claimed }: WallView, now: Taken, holding: Holding): TargetState['space'] {
  const blocks = listHeldBlocks(holding)
  if (blocks.some((block) => claimed.has(block))) return 'claimed'
  return blocks.some((block) => now.has(block)) ? 'reserved' : 'open'
}

/** Checks each field separately, so that a caller can fix all errors at once. `readPicture` checks the picture. */
function findListingProblems(said: PreviewInput): PreviewProblem[] {
  return LISTING_KEYS.filter((key) => key !== 'px').flatMap((key) => {
    const listing = readListing({ [key]: said[key] })
    return isFailure(listing) ? [createProblem(key, listing)] : []
  })
}

const createProblem = (field: string, { code, message }: Failure): PreviewProblem => ({ field, code, message })

type Picture = { readonly pixels: Pixels | null; readonly problems: readonly PreviewProblem[] }

const createDrawnPicture = (pixels: Pixels | null): Picture => ({ pixels, problems: [] })

const createWrongPicture = (field: string, flaw: Failure): Picture => ({
  pixels: null,
  problems: [createProblem(field, flaw)],
})

/** Reads the picture of the listing, block by block: `px` for a block, `pixels` for an area. */
function readPicture(target: Target, { px, pixels }: PreviewInput): Picture {
  if (isBlock(target)) {
    if (pixels !== undefined)
      return createWrongPicture('pixels', createFailure('invalid_body', 'For a block, use px; pixels is for an area.'))
    const listing = readListing({ px })
    return isFailure(listing) ? createWrongPicture('px', listing) : createDrawnPicture(listing.pixels)
  }
  if (px !== undefined)
    return createWrongPicture('px', createFailure('invalid_body', 'For an area, use pixels; px is for one block.'))
  if (pixels === undefined) return createDrawnPicture(null)
  const read = readAreaPixels(pixels, getPosition(target))
  return isFailure(read) ? createWrongPicture('pixels', read) : createDrawnPicture(read.blocks)
}

function createRequest(offer: Offer, target: Target, said: PreviewInput): Preview['request'] {
  const url = formatResourceUrl(offer, target)
  const texts = Object.fromEntries(
    LISTING_KEYS.flatMap((key) => (typeof said[key] === 'string' ? [[key, said[key]]] : [])),
  )
  if (isBlock(target)) {
    const query = new URLSearchParams(texts)
    return { method: 'GET', url: query.size === 0 ? url : `${url}?${query.toString()}` }
  }
  const { at, w, h } = getPosition(target)
  return { method: 'POST', url, body: { at: at === 'next' ? at : formatCoord(at), w, h, ...texts } }
}

/** Draws a claimed target as it is, and any other target as it would be after the purchase, with its surroundings. */
async function renderImage(
  { view, pictures }: PreviewDeps,
  holding: Holding,
  state: Preview['state'],
  pixels: Pixels | null,
): Promise<string> {
  const area = getArea(holding)
  const region = findSurroundings(area)
  const bitmap = drawRegion(view, region, state === 'claimed' ? undefined : { area, pixels })
  const fitting = Math.floor(IMAGE_SIDE / (Math.max(region.cols, region.rows) * BLOCK_SIZE))
  const png = await pictures.encode(enlarge(bitmap, Math.min(SCALE_MAX, Math.max(1, fitting))))
  return png.toBase64()
}
