/** `pixel-wall hide`, `unhide` and `hidden`: what blocks show is withheld from every reader, or shown again; what is, and was. */

import { parseArgs } from 'node:util'
import { FACE_PARTS } from '../domain/wall/moderation.ts'
import { runRemotely, UsageError, type Command } from './command.ts'

const USAGE = `Hides parts of blocks from every reader, or shows them again, while the wall runs.

  pixel-wall hide WHAT [--pixels] [--message] [--link]      without parts: all three
  pixel-wall unhide WHAT [--pixels] [--message] [--link]

WHAT is a block (COLUMN,ROW), an area (COLUMN,ROW,WxH), or a wallet: all blocks it has bought by now. A wallet may be named
as readers see it, as in 0x1234…abcd or 0x1234...abcd.
The blocks stay their owners', who may repaint them: what is hidden stays so until it is shown again.
The feed and older changes never show again what was hidden once. Names and frameworks cannot be hidden.
`

const HIDDEN_USAGE = `Lists what is hidden, a block a line, with the time of the last act on it.

  pixel-wall hidden [--trail]      with --trail: every act there ever was, oldest first
`

/** Withholds what blocks show from every reader. */
export const hide: Command = moderation('hide')

/** Shows it again. */
export const unhide: Command = moderation('unhide')

/** Lists what is withheld, or every act. */
export const hidden: Command = {
  usage: HIDDEN_USAGE,
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { trail: { type: 'boolean' } } })
    return await runRemotely('hidden', { isTrail: values.trail === true })
  },
}

function moderation(act: 'hide' | 'unhide'): Command {
  return {
    usage: USAGE,
    async run(args) {
      const { values, positionals } = parseArgs({
        args: [...args],
        allowPositionals: true,
        options: { pixels: { type: 'boolean' }, message: { type: 'boolean' }, link: { type: 'boolean' } },
      })
      const [target, ...rest] = positionals
      if (target === undefined || rest.length > 0) throw new UsageError()
      const named = FACE_PARTS.filter((part) => values[part] === true)
      return await runRemotely('moderate', { act, target, parts: named.length === 0 ? [...FACE_PARTS] : named })
    },
  }
}
