/** `pixel-wall hide` and `pixel-wall unhide`: what a block shows is withheld from every reader, or shown again. */

import { parseArgs } from 'node:util'
import { FACE_PARTS } from '../domain/moderation.ts'
import { haveDone, Misused, type Command } from './command.ts'

const USAGE = `Hides parts of a block from every reader, or shows them again, while the wall runs.

  pixel-wall hide COLUMN,ROW [--pixels] [--message] [--link]      without parts: all three
  pixel-wall unhide COLUMN,ROW [--pixels] [--message] [--link]

The block stays its owner's, who may repaint it: what is hidden stays so until it is shown again.
The feed and older changes never show again what was hidden once.
`

/** Withholds what a block shows from every reader. */
export const hide: Command = moderation('hide')

/** Shows it again. */
export const unhide: Command = moderation('unhide')

function moderation(act: 'hide' | 'unhide'): Command {
  return {
    usage: USAGE,
    async run(args) {
      const { values, positionals } = parseArgs({
        args: [...args],
        allowPositionals: true,
        options: { pixels: { type: 'boolean' }, message: { type: 'boolean' }, link: { type: 'boolean' } },
      })
      const [coord, ...rest] = positionals
      if (coord === undefined || rest.length > 0) throw new Misused()
      const named = FACE_PARTS.filter((part) => values[part] === true)
      return await haveDone('moderate', { act, coord, parts: named.length === 0 ? [...FACE_PARTS] : named })
    },
  }
}
