/** Tries a purchase out: everything that buying would check before money is asked for, and how it would look. */

import type { Preview, PreviewProblem } from '../../shared/contract/preview.ts'
import { ASSET_SYMBOL, moneyText } from '../../shared/money.ts'
import { ALL_BLOCKS, CLAIM_ORDER, coordOf, type BlockIndex } from '../../shared/wall.ts'
import type { Failure } from '../domain/failure.ts'
import { drawRegion, enlarge, surroundings } from '../domain/picture/wall-picture.ts'
import { LISTING_KEYS, readListing, type ListingKey, type Said } from '../domain/purchase/listing.ts'
import { cannotSell, unavailability } from '../domain/purchase/refusals.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { PaymentHealth } from '../health/payment-health.ts'
import type { Pictures } from '../ports.ts'
import { offered, resourceUrl, type Offer } from '../x402/terms.ts'
import type { TakenBlocks } from './open-blocks.ts'

/** What trying out needs. */
export type PreviewDeps = {
  readonly view: WallView
  readonly taken: TakenBlocks
  readonly pictures: Pictures
  readonly rail: PaymentHealth
  readonly offer: Offer
}

// The wall's own size is too small to see.
const SCALE = 8

/** What would become of buying `target` with what is said of it. Nothing is held, sold or kept. */
export async function previewBlock(
  previewing: PreviewDeps,
  target: BlockIndex | 'next',
  said: ReadonlyMap<ListingKey, Said>,
): Promise<Preview> {
  const { offer, rail } = previewing
  const { block, state } = await standingOf(previewing, target)
  const cannotPay = rail.state() === 'misconfigured'
  const problems = [
    ...(state === 'open' ? [] : [problem('coord', unavailability(target, state))]),
    ...listingProblems(said),
    ...(cannotPay ? [problem('rail', cannotSell())] : []),
  ]
  return {
    acceptable: problems.length === 0,
    problems,
    block: block === undefined ? null : { coord: coordOf(block), index: block },
    state,
    price: { amount: moneyText(offer.terms.amount), asset: ASSET_SYMBOL, network: offer.terms.network },
    request: { method: 'GET', url: resourceUrl(offer, target) + queryOf(said) },
    terms: state === 'open' && !cannotPay ? { ...offered(offer) } : null,
    image: block === undefined ? null : await pictureOf(previewing, block, state, said),
  }
}

async function standingOf({ view, taken }: PreviewDeps, target: BlockIndex | 'next') {
  const now = await taken()
  const block = target === 'next' ? CLAIM_ORDER.find((candidate) => !now.has(candidate)) : target
  if (block === undefined)
    return { block, state: view.claimed.size === ALL_BLOCKS.length ? ('claimed' as const) : ('reserved' as const) }
  if (view.claimed.has(block)) return { block, state: 'claimed' as const }
  return { block, state: now.has(block) ? ('reserved' as const) : ('open' as const) }
}

/** Each field is judged by itself, so that all can be mended at once. */
function listingProblems(said: ReadonlyMap<ListingKey, Said>): PreviewProblem[] {
  return LISTING_KEYS.flatMap((key) => {
    const listing = listingOf(said, key)
    return 'code' in listing ? [problem(key, listing)] : []
  })
}

function listingOf(said: ReadonlyMap<ListingKey, Said>, key: ListingKey) {
  const value = said.get(key)
  return readListing(new Map(value === undefined ? [] : [[key, value]]))
}

const problem = (field: string, { code, message }: Failure): PreviewProblem => ({ field, code, message })

function queryOf(said: ReadonlyMap<ListingKey, Said>): string {
  const query = new URLSearchParams()
  for (const [key, value] of said) if ('text' in value) query.set(key, value.text)
  return query.size === 0 ? '' : `?${query.toString()}`
}

/** A claimed block as it is, any other as it would be. */
async function pictureOf(
  { view, pictures }: PreviewDeps,
  block: BlockIndex,
  state: Preview['state'],
  said: ReadonlyMap<ListingKey, Said>,
): Promise<string> {
  const listing = listingOf(said, 'px')
  const trial = { block, pixels: 'code' in listing ? null : listing.pixels }
  const bitmap = drawRegion(view, surroundings(block), state === 'claimed' ? undefined : trial)
  const png = await pictures.encode(enlarge(bitmap, SCALE))
  return png.toBase64()
}
