/** image_to_pixels: converts a picture to blocks in the wall's colours. */

import { Type } from '@sinclair/typebox'
import { Closed } from '../../../shared/contract/kinds.ts'
import { Dither, Fit, PaintedBlocks, PixelsQuery, RAW_SIDE_MAX } from '../../../shared/contract/picture.ts'
import { createFailure, isFailure } from '../../domain/failure.ts'
import { convertImageToPixels as paint } from '../../wall/image-to-pixels.ts'
import { PICTURE_TOOL } from '../message.ts'
import { createPngContent, refuse, createSuccess } from '../reply.ts'
import { READ_ONLY, defineTool } from '../tool.ts'

/** The size limit of a picture, in bytes. Nearly every PNG of 320 x 320 pixels is smaller, even a photo. */
export const IMAGE_MAX_BYTES = 320 * 1024

const AT_MOST = `at most ${IMAGE_MAX_BYTES / 1024} KiB`

const { preview: _, ...blocksOnly } = PaintedBlocks.properties

// A model has to read every pixel in the result.
const BLOCKS_MAX = 64

const { w, h, background } = PixelsQuery.properties

const createSideSchema = (side: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: RAW_SIDE_MAX,
      description: `${side} in pixels, 1 to ${RAW_SIDE_MAX}, of a raw picture. Leave out for PNG and JPEG.`,
      examples: [10],
    }),
  )

export const imageToPixels = defineTool(
  {
    name: PICTURE_TOOL,
    title: 'Turn a picture into px',
    description: `Use to make the px of buy_block, or pixels of set_pixels, from a PNG, JPEG or raw RGB picture of ${AT_MOST}. For larger ones or more than 64 blocks, POST the file to /api/pixels. Free, no side effects. Returns blocks row by row, each with dx and dy (columns and rows from the first) and px, and a PNG of the result.`,
    annotations: READ_ONLY,
    isShown: true,
    budget: 'uploads',
    input: Closed({
      image: Type.String({
        minLength: 1,
        description:
          'The picture in base64 (a data: URL will do): PNG, JPEG, or raw bytes, 3 (RGB) or 4 (RGBA) per pixel.',
        examples: ['iVBORw0KGgo…'],
      }),
      w: { ...w, description: 'Width of the result in blocks of 10 pixels; w x h at most 64. Default 1.' },
      h: { ...h, description: 'Height of the result in blocks of 10 pixels. Default 1.' },
      dither: Type.Optional({ ...Dither, description: `${Dither.description} Default none.` }),
      fit: Type.Optional({ ...Fit, description: `${Fit.description} Default cover.` }),
      background: {
        ...background,
        description: 'Colour of transparent pixels and of contain’s bars, #rrggbb. Default #000000.',
      },
      width: createSideSchema('Width'),
      height: createSideSchema('Height'),
    }),
    output: Type.Object(blocksOnly),
  },
  async (deps, { image, width, height, dither = 'none', fit = 'cover', ...size }, { address }) => {
    const bytes = decodeImage(image)
    if (bytes === undefined)
      return refuse(createFailure('invalid_image', `image must be base64, and ${AT_MOST} when decoded.`))
    if (size.w * size.h > BLOCKS_MAX)
      return refuse(
        createFailure('invalid_size', 'w x h must be at most 64 blocks here. POST to /api/pixels for more.'),
      )
    const sent =
      width === undefined || height === undefined
        ? ({ kind: 'file', bytes } as const)
        : ({ kind: 'raw', bytes, width, height } as const)
    const background = size.background.startsWith('#') ? size.background : `#${size.background}`
    const painted = await paint(deps, address, sent, { ...size, background, dither, fit })
    if (isFailure(painted)) return refuse(painted)
    const { preview, ...blocks } = painted
    return createSuccess(blocks, undefined, [createPngContent(preview)])
  },
)

function decodeImage(image: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.fromBase64(image.replace(/^data:[\w/+.-]*;base64,/, ''))
    return bytes.length <= IMAGE_MAX_BYTES ? bytes : undefined
  } catch {
    return undefined
  }
}
