/** What is taken away: the exact requests that put the picture on the wall, as values. Pure. */

import { ASSET_SYMBOL, PRICE } from '../../shared/money.ts'
import { cellOf, centreDistance, coordOf, type BlockIndex } from '../../shared/wall.ts'
import { priceOf, tallyOf } from './cost-summary.ts'
import { finished, pixelsFor, type Sketch, type Words } from './sketch.ts'

/** Buys a block with its picture, in one paid request. */
export type Buying = { readonly block: string; readonly method: 'GET'; readonly url: string }

/** Repaints a block of the wallet, once `ts` and `signature` are added to the body. `sign` writes the text to sign. */
export type Repainting = {
  readonly block: string
  readonly method: 'PUT'
  readonly url: string
  readonly body: Face
  readonly sign: string
}

/** What a block shows; a field that is left out is left as it is. */
export type Face = { readonly pixels: string; readonly message?: string; readonly link?: string }

export type Order = {
  readonly wall: string // the service's origin
  readonly picture: { readonly at: string; readonly w: number; readonly h: number }
  readonly price: {
    readonly blocks: number
    readonly perBlock: string
    readonly total: string
    readonly asset: string
    readonly network: string
  }
  readonly owner: string | null // the wallet whose blocks are repainted
  readonly buy: readonly Buying[] // in the order to send them
  readonly repaint: readonly Repainting[]
  readonly leave: readonly string[] // covered blocks that others own or are paying for
}

/** The order for a sketch; `undefined` until its picture is painted and the wall is known. */
export function orderOf(sketch: Sketch, origin: string): Order | undefined {
  const { wall, at, size, words, wallet } = sketch
  if (!wall?.complete || finished(sketch) === undefined) return undefined
  const { open, mine, held, others } = tallyOf(sketch)
  return {
    wall: origin,
    picture: { at: `${at.col},${at.row}`, ...size },
    price: {
      blocks: open.length,
      perBlock: PRICE,
      total: priceOf(open.length),
      asset: ASSET_SYMBOL,
      network: wall.pricing.network,
    },
    owner: wallet ?? null,
    // What others may take meanwhile then lies at the edge, as in the order that `/api/space` gives.
    buy: open.toSorted(mostWanted).map((block) => buyingOf(sketch, block, origin, words)),
    repaint: mine.map((block) => repaintingOf(sketch, block, origin)),
    leave: [...held, ...others].toSorted((a, b) => a - b).map(coordOf),
  }
}

const mostWanted = (a: BlockIndex, b: BlockIndex) => centreDistance(a) - centreDistance(b) || a - b

function buyingOf(sketch: Sketch, block: BlockIndex, origin: string, { name, message, link }: Words): Buying {
  const coord = coordOf(block)
  const query = new URLSearchParams({ px: hexFor(sketch, block) })
  for (const [key, text] of Object.entries({ name, message, link })) if (text !== '') query.set(key, text)
  return { block: coord, method: 'GET', url: `${origin}/blocks/${coord}?${query}` }
}

function repaintingOf(sketch: Sketch, block: BlockIndex, origin: string): Repainting {
  const coord = coordOf(block)
  const body = faceFor(sketch, block)
  const query = new URLSearchParams({ kind: 'set_pixels', coord, ...body })
  return { block: coord, method: 'PUT', url: `${origin}/blocks/${coord}`, body, sign: `${origin}/api/sign?${query}` }
}

/** What an owned block is to show. */
export function faceFor(sketch: Sketch, block: BlockIndex): Face {
  const { message, link } = sketch.words
  return {
    pixels: hexFor(sketch, block),
    ...(message === '' ? {} : { message }),
    ...(link === '' ? {} : { link }),
  }
}

/** 200 hex digits. Older browsers lack `Uint8Array.toHex`, hence the longer way. */
function hexFor(sketch: Sketch, block: BlockIndex): string {
  const pixels = pixelsFor(sketch, cellOf(block)) ?? []
  return Array.from(pixels, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
