/** Makes the picture of an area that is bought. */

import { blockwise, type Pixels } from '../../shared/pixels.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'
import type { Failure } from '../domain/failure.ts'
import type { AreaPicture } from '../domain/purchase/listing.ts'
import type { Pictures } from '../ports.ts'
import { refusalOf } from './image-to-pixels.ts'

/** The pixels of an area from a picture, or why nothing came of it. */
export async function paintArea(
  pictures: Pick<Pictures, 'paint'>,
  { sent, plan }: AreaPicture,
): Promise<Pixels | Failure> {
  const bitmap = await pictures.paint(sent, plan)
  return typeof bitmap === 'string' ? refusalOf(bitmap) : blockwise(bitmap.indices, plan.width / BLOCK_SIZE)
}
