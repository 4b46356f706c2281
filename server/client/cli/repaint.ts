import type { EditFields } from '../../../shared/signing.ts'
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
  async run({ args: [coord], options, owner, print }) {
    if (coord === undefined) throw new UsageError('Name the block: repaint col,row')
    const wall = await owner()
    const pixels = await pixelsOption(options, wall)
    const fields = {
      ...given(options, TEXTS),
      ...cleared(options['clear']),
      ...(pixels === undefined ? {} : { pixels }),
    }
    if (Object.keys(fields).length === 0) throw new UsageError('Say what to change: --px, --image, --message, --link.')
    print(await wall.repaint(coord, fields), [`Block ${coord} is repainted.`])
  },
}

function cleared(names = ''): EditFields {
  const fields: { message?: null; link?: null } = {}
  for (const name of names.split(',').filter((text) => text !== '')) {
    if (name !== 'message' && name !== 'link') throw new UsageError('--clear takes message, link, or both.')
    fields[name] = null
  }
  return fields
}
