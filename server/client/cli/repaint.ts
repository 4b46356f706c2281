import type { EditFields } from '../../../shared/signing.ts'
import { WallError } from '../wall.ts'
import { given, PICTURE_OPTIONS, type Command } from './command.ts'
import { pixelsOption } from './picture-file.ts'
import { UsageError } from './usage-error.ts'

const TEXTS = { message: 'new text, up to 140 characters', link: 'new link (https)' } as const

/** `pixel-wall repaint`: changes a block of one's own, for free. */
export const repaint: Command = {
  summary: 'repaints a block of yours, for free',
  usage: 'col,row',
  options: { ...PICTURE_OPTIONS, ...TEXTS, clear: 'what to take away: message, link, or message,link' },
  argumentsMax: 1,
  async run({ args: [coord], options, reader, painter, owner, print }) {
    if (coord === undefined) throw new UsageError('Name the block: repaint col,row')
    const pixels = await pixelsOption(options, reader())
    const fields = {
      ...given(options, TEXTS),
      ...cleared(options['clear']),
      ...(pixels === undefined ? {} : { pixels }),
    }
    if (Object.keys(fields).length === 0) throw new UsageError('Say what to change: --px, --image, --message, --link.')
    const painting = await painter()
    // Blocks that another machine bought, or for which another painter was named, need the key that paid.
    const painted = await painting?.repaint(coord, fields).catch(unlessUnauthorized)
    const answer = painted ?? (await (await owner()).repaint(coord, fields))
    print(answer, [`Block ${coord} is repainted.`])
  },
}

function unlessUnauthorized(error: unknown): undefined {
  if (!(error instanceof WallError && error.code === 'unauthorized')) throw error
}

function cleared(names = ''): EditFields {
  const fields: { message?: null; link?: null } = {}
  for (const name of names.split(',').filter((text) => text !== '')) {
    if (name !== 'message' && name !== 'link') throw new UsageError('--clear takes message, link, or both.')
    fields[name] = null
  }
  return fields
}
