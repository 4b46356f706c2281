/** Pictures from files, as the wall shows them. */

import { readFile } from 'node:fs/promises'
import type { AreaOrder } from '../../../shared/contract/area-order.ts'
import type { Wall } from '../wall.ts'
import { given, UsageError, type Call } from './command.ts'

/** How a picture is brought to its blocks, as options. */
export const FITTING = {
  fit: 'cover, contain or fill',
  dither: 'none (logos) or floyd-steinberg (photographs)',
} as const

/** How a picture is to be fitted, as far as it is said. Whatever values these have, the wall says what is wrong with them. */
export const fittingIn = (options: Call['options']) => given(options, FITTING) as Pick<AreaOrder, 'fit' | 'dither'>

/** The bytes of a picture. */
export const readPicture = (file: string): Promise<Uint8Array> =>
  readFile(file).catch(() => {
    throw new UsageError(`The picture ${file} cannot be read.`)
  })

/** The pixels that `--px` or `--image` name, if one does. */
export async function pixelsOption(options: Call['options'], wall: Wall): Promise<string | undefined> {
  const { px, image } = options
  if (image === undefined) return px
  if (px !== undefined) throw new UsageError('Give --px or --image, not both.')
  const { blocks } = await wall.pixels(await readPicture(image), fittingIn(options))
  return blocks[0]?.px
}
