/** `pixel-wall paint`: a picture over a rectangle of blocks, bought in one payment, or repainted where it is one's own. */

import { AREA_OPTIONS, boughtLines, nameOf, purchaseArea, sizeOf } from './buy.ts'
import { given, LISTING_OPTIONS, MAX_OPTION, UsageError, type Command } from './command.ts'
import { fittingIn, FITTING, readPicture } from './picture-file.ts'

export const paint: Command = {
  summary: 'buys a rectangle of blocks with a picture over it, or repaints it where it is yours',
  usage: 'FILE --size 4x3',
  options: { ...AREA_OPTIONS, ...FITTING, ...LISTING_OPTIONS, ...MAX_OPTION },
  argumentsMax: 1,
  async run({ args: [file], options, owner, print }) {
    if (file === undefined) throw new UsageError('Name the picture: paint FILE --size 4x3')
    if (options['size'] === undefined) throw new UsageError('Say how many blocks the picture takes: --size 4x3')
    const { at = 'next' } = options
    const size = sizeOf(options['size'])
    const name = nameOf({ at, ...size })
    const image = await readPicture(file)
    const wall = await owner()
    if (name !== undefined && (await wall.owns(name))) {
      // An earlier process may have bought it, and been cut off before it could say so.
      await wall.finish()
      const pixels = await wall.areaPixels(image, { ...size, ...fittingIn(options) })
      const answer = await wall.repaintArea(name, { pixels, ...given(options, TEXTS) })
      return print(answer, [`Area ${name} is repainted.`])
    }
    const { receipt, done } = await purchaseArea(wall, options, { at, ...size, image })
    print(receipt, boughtLines(receipt, wall.url))
    await done()
  },
}

// What a repaint may change beside the picture.
const TEXTS = { message: LISTING_OPTIONS.message, link: LISTING_OPTIONS.link } as const
