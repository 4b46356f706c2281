import { type Area, formatArea, parseArea } from '../../../shared/area.ts'
import type { EditFields } from '../../../shared/signing.ts'
import { type Wall, WallError } from '../wall.ts'
import {
  type Call,
  type Command,
  FITTING,
  pickFitting,
  pickGiven,
  PICTURE_OPTIONS,
  readPixelsOption,
  readPicture,
  UsageError,
} from './command.ts'

const TEXTS = { message: 'new text, up to 140 characters', link: 'new link (https)' } as const

/** `pixel-wall repaint`: changes a block or an area that the wallet owns, for free. */
export const repaint: Command = {
  summary: 'repaints, for free, a block or area that you own',
  usage: 'col,row | col,row,WxH',
  options: { ...PICTURE_OPTIONS, ...FITTING, ...TEXTS, clear: 'text to clear: message, link, or message,link' },
  argumentsMax: 1,
  async run(call) {
    const { options, print } = call
    const [name] = call.args
    if (name === undefined) throw new UsageError('Give the block or area: repaint col,row or repaint col,row,WxH')
    const texts = { ...pickGiven(options, TEXTS), ...parseClearedFields(options['clear']) }
    const area = parseArea(name)
    const sendRepaint =
      area === undefined ? await readBlockRepaint(call, name, texts) : await readAreaRepaint(call, area, texts)
    const painting = await call.openAsPainter()
    // If the block was bought on another machine, or with another painter, the painter stored here cannot repaint it,
    // but the key that paid can.
    const painted = painting && (await sendRepaint(painting).catch(ignoreUnauthorized))
    const answer = painted ?? (await sendRepaint(await call.openAsOwner()))
    print(answer, [`${area === undefined ? 'Block' : 'Area'} ${name} was repainted.`])
  },
}

type Texts = Pick<EditFields, 'message' | 'link'>

/** Sends the repaint through a client for the wall, signed with that client's key. */
type Repaint = (wall: Wall) => Promise<object>

async function readBlockRepaint({ options, openForReading }: Call, coord: string, texts: Texts): Promise<Repaint> {
  const fields = combineChanges(texts, await readPixelsOption(options, openForReading()))
  return (wall) => wall.repaint(coord, fields)
}

async function readAreaRepaint({ options, openForReading }: Call, area: Area, texts: Texts): Promise<Repaint> {
  if (options['px'] !== undefined) throw new UsageError('--px is for one block. For an area, use --image.')
  const { w, h } = area
  const { image } = options
  const fitting = { w, h, ...pickFitting(options) }
  const pixels = image === undefined ? undefined : await openForReading().areaPixels(await readPicture(image), fitting)
  const fields = combineChanges(texts, pixels)
  return (wall) => wall.repaintArea(formatArea(area), fields)
}

function combineChanges<Picture>(texts: Texts, pixels: Picture | undefined) {
  if (pixels === undefined && Object.keys(texts).length === 0)
    throw new UsageError('Give at least one change: --px, --image, --message, --link or --clear.')
  return { ...texts, ...(pixels === undefined ? {} : { pixels }) }
}

function ignoreUnauthorized(error: unknown): undefined {
  if (!(error instanceof WallError && error.code === 'unauthorized')) throw error
}

function parseClearedFields(names = ''): Texts {
  const fields: { message?: null; link?: null } = {}
  for (const name of names.split(',').filter((text) => text !== '')) {
    if (name !== 'message' && name !== 'link') throw new UsageError('--clear must be message, link, or message,link.')
    fields[name] = null
  }
  return fields
}
