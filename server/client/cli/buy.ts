import type { AreaReceipt, Receipt } from '../wall.ts'
import { AREA_OPTIONS, nameOf, purchaseArea, refuseCost, sizeOf } from './area.ts'
import { given, LISTING_OPTIONS, MAX_OPTION, PICTURE_OPTIONS, UsageError, type Call, type Command } from './command.ts'
import { FITTING, pixelsOption, readPicture } from './picture-file.ts'

/** `pixel-wall buy`: a block or an area, for one payment. */
export const buy: Command = {
  summary: 'buys a block, or with --size a rectangle of them: nearest the centre, or where you say',
  usage: '[next | col,row]',
  options: { ...AREA_OPTIONS, ...PICTURE_OPTIONS, ...FITTING, ...LISTING_OPTIONS, ...MAX_OPTION },
  argumentsMax: 1,
  async run(call) {
    const { options, print } = call
    const { wall, receipt, done } =
      options['size'] === undefined ? await block(call) : await area(call, options['size'])
    print(receipt, boughtLines(receipt, wall))
    await done()
  },
}

function placeIn({ args: [target], options: { at } }: Call): string {
  if (target !== undefined && at !== undefined) throw new UsageError('Say the place once: as an argument or with --at.')
  return target ?? at ?? 'next'
}

async function block(call: Call) {
  const { options } = call
  const target = placeIn(call)
  const wall = await call.owner()
  const px = await pixelsOption(options, wall)
  const listing = { ...given(options, LISTING_OPTIONS), ...(px === undefined ? {} : { px }) }
  return { wall: wall.url, ...(await wall.purchase(target, listing)) }
}

async function area(call: Call, size: string) {
  const { options } = call
  if (options['px'] !== undefined) throw new UsageError('--px is the picture of one block. Give --image with --size.')
  const place = { at: placeIn(call), ...sizeOf(size) }
  nameOf(place) // refuses a place that is none
  const image = options['image'] === undefined ? undefined : await readPicture(options['image'])
  const wall = await call.owner()
  await refuseCost(wall, place, options)
  return { wall: wall.url, ...(await purchaseArea(wall, options, { ...place, image })) }
}

/** What a receipt says, for a person. */
export function boughtLines(receipt: Receipt | AreaReceipt, wall: URL): readonly string[] {
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
