/** `pixel-wall paint`: a picture over several blocks. What was bought before it was cut off is not bought again. */

import { createHash } from 'node:crypto'
import { blockAt, centreDistance, cellOf, coordOf, parseCoord, type BlockIndex } from '../../../shared/wall.ts'
import { WallError, type Canvas, type PixelsQuery, type Wall } from '../wall.ts'
import { given, LISTING_OPTIONS, MAX_DOLLARS, MAX_OPTION, type Command } from './command.ts'
import { wholeStanding } from './mine.ts'
import { readPicture } from './picture-file.ts'
import { rememberedPlace } from './places.ts'
import { UsageError } from './usage-error.ts'

const FITTING = { fit: 'cover, contain or fill', dither: 'none or floyd-steinberg' } as const

export const paint: Command = {
  summary: 'buys a rectangle of blocks and paints a picture over it, or repaints it where it is yours',
  usage: 'FILE --size 4x3',
  options: {
    size: 'how many blocks across and down, such as 4x3',
    at: 'the top left block, col,row (free room nearest the centre)',
    ...FITTING,
    ...LISTING_OPTIONS,
    ...MAX_OPTION,
  },
  argumentsMax: 1,
  async run({ args: [file], options, reader, owner, print, progress }) {
    if (file === undefined) throw new UsageError('Name the picture: paint FILE --size 4x3')
    const { w, h } = sizeOf(options['size'])
    const image = await readPicture(file)
    const canvas = await reader().canvas()
    const wall = await owner(canvas.pricing.perBlock)
    await wall.finish()
    // Whatever values these have, the wall says what is wrong with them.
    const { blocks: painted } = await wall.pixels(image, { w, h, ...(given(options, FITTING) as Partial<PixelsQuery>) })
    const place = rememberedPlace(wall, createHash('sha256').update(image).update(`${w}x${h}`).digest('hex'))
    const at = options['at'] ?? (await place.read()) ?? (await freePlace(wall, w, h))
    const parts = partsOf(painted, cornerOf(at, w, h))
    const mine = new Set((await wholeStanding(wall))?.blocks.map(({ block }) => block.index))
    const open = parts.filter(({ block }) => !mine.has(block))
    refuseTaken(await wall.canvas(), open)
    refuseCost(open.length, canvas, options['max'] ?? MAX_DOLLARS)
    await place.write(at)
    const listing = given(options, LISTING_OPTIONS)
    for (const [done, { block, px }] of parts.entries()) {
      const coord = coordOf(block)
      if (mine.has(block)) await wall.repaint(coord, { pixels: px })
      else await wall.buy(coord, { ...listing, px })
      progress(`${done + 1} of ${parts.length}: block ${coord} ${mine.has(block) ? 'repainted' : 'bought'}`)
    }
    await place.forget()
    const result = { at, w, h, bought: open.length, repainted: parts.length - open.length }
    print(result, [`The picture is at ${at}: ${result.bought} blocks bought, ${result.repainted} repainted.`])
  },
}

type Part = { readonly block: BlockIndex; readonly px: string }

function sizeOf(text: string | undefined): { w: number; h: number } {
  const [, w, h] = /^(\d{1,3})x(\d{1,3})$/.exec(text ?? '') ?? []
  if (w === undefined || h === undefined) throw new UsageError('Say how many blocks the picture takes: --size 4x3')
  return { w: Number(w), h: Number(h) }
}

async function freePlace(wall: Wall, w: number, h: number): Promise<string> {
  const { spaces } = await wall.space({ w, h, limit: 1 })
  const [space] = spaces
  if (space === undefined) throw new WallError('refused', 'no_room', `There is no free room of ${w} x ${h} blocks.`)
  return space.coord
}

function cornerOf(at: string, w: number, h: number): { col: number; row: number } {
  const block = parseCoord(at)
  if (block === undefined) throw new UsageError('--at takes a block: 0,0 to 159,89.')
  const corner = cellOf(block)
  if (blockAt(corner.col + w - 1, corner.row + h - 1) === undefined)
    throw new UsageError(`${w} x ${h} blocks at ${at} reach beyond the wall.`)
  return corner
}

/** The blocks of a picture in the order to buy them: the most wanted first, so that what others may take lies at the edge. */
function partsOf(
  painted: ReadonlyArray<{ readonly dx: number; readonly dy: number; readonly px: string }>,
  { col, row }: { readonly col: number; readonly row: number },
): Part[] {
  return painted
    .flatMap(({ dx, dy, px }) => {
      const block = blockAt(col + dx, row + dy)
      return block === undefined ? [] : [{ block, px }]
    })
    .toSorted((a, b) => centreDistance(a.block) - centreDistance(b.block))
}

function refuseTaken({ blocks }: Canvas, open: readonly Part[]): void {
  const claimed = new Set(blocks.map(({ i }) => i))
  const taken = open.filter(({ block }) => claimed.has(block)).map(({ block }) => coordOf(block))
  if (taken.length === 0) return
  throw new WallError('refused', 'block_taken', `Others own ${taken.join(' ')}. Nothing was paid; try another --at.`)
}

function refuseCost(count: number, { pricing }: Canvas, max: string): void {
  const cents = (dollars: string) => Math.round(Number(dollars) * 100)
  const cost = count * cents(pricing.perBlock)
  if (cost <= cents(max)) return
  const total = (cost / 100).toFixed(2)
  throw new UsageError(`${count} blocks cost ${total} ${pricing.asset}. Allow it with --max ${total}.`)
}
