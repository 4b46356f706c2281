/** Pictures from files, as the wall shows them. */

import { readFile } from 'node:fs/promises'
import type { Wall } from '../wall.ts'
import type { Call } from './command.ts'
import { UsageError } from './usage-error.ts'

/** The bytes of a picture. */
export const readPicture = (file: string): Promise<Uint8Array> =>
  readFile(file).catch(() => {
    throw new UsageError(`The picture ${file} cannot be read.`)
  })

/** The pixels that `--px` or `--image` name, if one does. */
export async function pixelsOption({ px, image }: Call['options'], wall: Wall): Promise<string | undefined> {
  if (image === undefined) return px
  if (px !== undefined) throw new UsageError('Give --px or --image, not both.')
  const { blocks } = await wall.pixels(await readPicture(image), {})
  return blocks[0]?.px
}
