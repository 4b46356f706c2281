import type { Receipt } from '../wall.ts'
import { given, LISTING_OPTIONS, MAX_OPTION, PICTURE_OPTIONS, type Command } from './command.ts'
import { pixelsOption } from './picture-file.ts'

/** `pixel-wall buy`: one block, for one payment. */
export const buy: Command = {
  summary: 'buys a block: the open one nearest the centre, or the one you name',
  usage: '[next | col,row]',
  options: { ...LISTING_OPTIONS, ...PICTURE_OPTIONS, ...MAX_OPTION },
  argumentsMax: 1,
  async run({ args: [target = 'next'], options, owner, print }) {
    const wall = await owner()
    const px = await pixelsOption(options, wall)
    const listing = { ...given(options, LISTING_OPTIONS), ...(px === undefined ? {} : { px }) }
    const { receipt, done } = await wall.purchase(target, listing)
    print(receipt, boughtLines(receipt, wall.url))
    await done()
  },
}

/** What a receipt says, for a person. */
export const boughtLines = ({ block, deed, notice }: Receipt, wall: URL): readonly string[] => [
  `Block ${block} is yours. Paid ${deed.price.amount} ${deed.price.asset} in ${deed.tx}`,
  ...(notice === undefined ? [] : [notice]),
  `See it at ${new URL(`/?block=${block}`, wall).href}`,
]
