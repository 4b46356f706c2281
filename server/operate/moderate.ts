/**
 * `pixel-wall hide`, `unhide`, `ban`, `unban` and `hidden`: hide the content of blocks and the names of wallets from
 * every reader, or show them again. `hidden` lists hidden parts, and past actions with their authors and reasons.
 */

import { userInfo } from 'node:os'
import { parseArgs } from 'node:util'
import { CONTENT_PARTS, NAME_PARTS } from '../domain/wall/moderation.ts'
import { runRemotely, UsageError, type Command } from './command.ts'

const USAGE = `Hides content of blocks and wallets from all readers, or shows it again. The wall must be running.

  pixel-wall hide WHAT [--pixels] [--message] [--link] [--name] [--framework] [--why TEXT]      without parts: all
  pixel-wall unhide WHAT [--pixels] [--message] [--link] [--name] [--framework] [--why TEXT]

WHAT is a block (COLUMN,ROW), an area (COLUMN,ROW,WxH), or a wallet: its name and framework, and all blocks it has bought so far.
Names belong to wallets: hiding a block hides its content, not its owner's name.
You can give a wallet as readers see it, such as 0x1234…abcd or 0x1234...abcd.
Owners keep their blocks and can repaint them, but hidden content stays hidden until you unhide it.
Content that was hidden once never appears again in the feed or in older changes.
`

const BAN_USAGE = `Hides everything that a wallet publishes from now on, or stops doing so.

  pixel-wall ban WALLET [--why TEXT]
  pixel-wall unban WALLET [--why TEXT]

A banned wallet keeps its blocks and can still buy and repaint. What it publishes during the ban (messages, links, names, pictures) is hidden,
and stays hidden after the ban until you \`unhide\` it. A ban does not hide what the wallet published before the ban: use \`hide\`.
`

const HIDDEN_USAGE = `Lists what is hidden and who is banned, with the time of the last action on each block.

  pixel-wall hidden [--trail]      with --trail: every action so far, by whom and why, oldest first
`

/** Hides the content of blocks and the names of wallets from every reader. */
export const hide: Command = createModerationCommand('hide')

/** Shows the content of blocks and the names of wallets again. */
export const unhide: Command = createModerationCommand('unhide')

/** Hides all new content of a wallet. */
export const ban: Command = createBanCommand('ban')

/** Shows new content of a wallet again. */
export const unban: Command = createBanCommand('unban')

/** Lists the parts that are hidden now, or every action so far. */
export const hidden: Command = {
  usage: HIDDEN_USAGE,
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { trail: { type: 'boolean' } } })
    return await runRemotely('hidden', { isTrail: values.trail === true })
  },
}

const flag = { type: 'boolean' } as const
const why = { type: 'string' } as const

function createModerationCommand(act: 'hide' | 'unhide'): Command {
  return {
    usage: USAGE,
    async run(args) {
      const options = { pixels: flag, message: flag, link: flag, name: flag, framework: flag, why }
      const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
      const target = requireSingle(positionals)
      const parts = [...CONTENT_PARTS, ...NAME_PARTS].filter((part) => values[part] === true)
      return await runRemotely('moderate', { act, target, parts, ...readReasonAndUser(values.why) })
    },
  }
}

function createBanCommand(act: 'ban' | 'unban'): Command {
  return {
    usage: BAN_USAGE,
    async run(args) {
      const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { why } })
      return await runRemotely('ban', { act, target: requireSingle(positionals), ...readReasonAndUser(values.why) })
    },
  }
}

function requireSingle(positionals: readonly string[]): string {
  const [target, ...rest] = positionals
  if (target === undefined || rest.length > 0) throw new UsageError()
  return target
}

const WHY_MAX = 200
const WHO_MAX = 64

/** The user who runs the command (behind `sudo`, if used), and the reason. */
export function readReasonAndUser(text: string | undefined) {
  if (text !== undefined && (text === '' || text.length > WHY_MAX)) throw new UsageError()
  const who = Bun.env['SUDO_USER'] ?? userInfo().username
  return { who: who.slice(0, WHO_MAX), why: text ?? null }
}
