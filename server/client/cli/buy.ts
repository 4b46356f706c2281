import { placeArea, formatArea, type AreaSize, isAreaSize } from '../../../shared/area.ts'
import { parseCoord } from '../../../shared/wall.ts'
import type { AreaReceipt, Receipt, Wall } from '../wall.ts'
import {
  type Call,
  type Command,
  FITTING,
  pickFitting,
  pickGiven,
  LISTING_OPTIONS,
  MAX_OPTION,
  PICTURE_OPTIONS,
  readPixelsOption,
  readPicture,
  RPC_OPTION,
  UsageError,
} from './command.ts'

/** The size and position of an area, as options. */
const AREA_OPTIONS = {
  size: 'size in blocks, width x height, such as 4x3',
  at: 'top left block, col,row (default: that of the open area nearest the centre)',
} as const

/** `pixel-wall buy`: buys a block or an area with one payment. */
export const buy: Command = {
  summary: 'buys a block (with --size: an area) at a given position, or else nearest the centre',
  usage: '[next | col,row]',
  options: { ...AREA_OPTIONS, ...PICTURE_OPTIONS, ...FITTING, ...LISTING_OPTIONS, ...MAX_OPTION, ...RPC_OPTION },
  argumentsMax: 1,
  async run(call) {
    const { options, print } = call
    const { wall, receipt, done } =
      options['size'] === undefined ? await buyBlock(call) : await buyArea(call, options['size'])
    print(receipt, formatPurchase(receipt, wall))
    await done()
  },
}

function readPlace({ args: [target], options: { at } }: Call): string {
  if (target !== undefined && at !== undefined)
    throw new UsageError('Give the position once: as an argument or with --at.')
  return target ?? at ?? 'next'
}

async function buyBlock(call: Call) {
  const { options } = call
  const target = readPlace(call)
  const wall = await call.openAsOwner()
  const px = await readPixelsOption(options, wall)
  const listing = { ...pickGiven(options, LISTING_OPTIONS), ...(px === undefined ? {} : { px }) }
  return { wall: wall.url, ...(await wall.purchase(target, listing)) }
}

async function buyArea(call: Call, size: string) {
  const { options } = call
  if (options['px'] !== undefined) throw new UsageError('--px is for one block. With --size, use --image.')
  const place = { at: readPlace(call), ...parseSize(size) }
  formatAreaName(place) // rejects an invalid position
  const image = options['image'] === undefined ? undefined : await readPicture(options['image'])
  return await purchaseArea(await call.openAsOwner(), options, { ...place, image })
}

/** The text of a receipt, for people. */
export function formatPurchase(receipt: Receipt | AreaReceipt, wall: URL): readonly string[] {
  const { deed, notice } = receipt
  const [what, block] =
    'area' in receipt
      ? [`Area ${receipt.area} is yours: ${receipt.blocks.length} blocks.`, receipt.blocks[0]]
      : [`Block ${receipt.block} is yours.`, receipt.block]
  return [
    `${what} Paid ${deed.price.amount} ${deed.price.asset} in ${deed.tx}`,
    ...(notice === undefined ? [] : [notice]),
    `See it at ${new URL(`/?work=${block}`, wall).href}`,
  ]
}

/** The size, position and picture of an area to buy. */
type AreaCall = AreaSize & { readonly at: string; readonly image: Uint8Array | undefined }

/** The size in `--size`. */
function parseSize(text: string): AreaSize {
  const [, w, h] = /^(\d{1,3})x(\d{1,3})$/.exec(text) ?? []
  const size = { w: Number(w), h: Number(h) }
  if (!isAreaSize(size))
    throw new UsageError('--size must be width x height in blocks, such as 4x3; at most 400 blocks in all.')
  return size
}

/** The name of an area; `undefined` for `next`, which has no position yet. */
function formatAreaName({ at, w, h }: Omit<AreaCall, 'image'>): string | undefined {
  if (at === 'next') return undefined
  const block = parseCoord(at)
  if (block === undefined) throw new UsageError('--at must be a block: 0,0 to 159,89.')
  const area = placeArea(block, { w, h })
  if (area === undefined) throw new UsageError(`${w} x ${h} blocks at ${at} extend beyond the wall.`)
  return formatArea(area)
}

async function purchaseArea(wall: Wall, options: Call['options'], area: AreaCall) {
  const bought = await wall.purchaseArea({ ...area, ...pickGiven(options, LISTING_OPTIONS), ...pickFitting(options) })
  return { wall: wall.url, ...bought }
}

/**
 * `pixel-wall paint`: puts a picture on a rectangle of blocks. Buys the rectangle with one payment, or repaints it if
 * the wallet owns it.
 */
export const paint: Command = {
  summary: 'buys an area with a picture across it, or repaints it if you own it',
  usage: 'FILE --size 4x3',
  options: { ...AREA_OPTIONS, ...FITTING, ...LISTING_OPTIONS, ...MAX_OPTION, ...RPC_OPTION },
  argumentsMax: 1,
  async run({ args: [file], options, openAsOwner, print }) {
    if (file === undefined) throw new UsageError('Give the picture file: paint FILE --size 4x3')
    if (options['size'] === undefined) throw new UsageError('Give the size in blocks: --size 4x3')
    const { at = 'next' } = options
    const size = parseSize(options['size'])
    const name = formatAreaName({ at, ...size })
    const image = await readPicture(file)
    const wall = await openAsOwner()
    if (name !== undefined && (await wall.owns(name))) {
      // An earlier process may have bought this area, and crashed before it could report the purchase.
      await wall.finish()
      const pixels = await wall.areaPixels(image, { ...size, ...pickFitting(options) })
      const answer = await wall.repaintArea(name, { pixels, ...pickGiven(options, TEXTS) })
      return print(answer, [`Area ${name} was repainted.`])
    }
    const { receipt, done } = await purchaseArea(wall, options, { at, ...size, image })
    print(receipt, formatPurchase(receipt, wall.url))
    await done()
  },
}

// The fields that a repaint may change besides the picture.
const TEXTS = { message: LISTING_OPTIONS.message, link: LISTING_OPTIONS.link } as const
