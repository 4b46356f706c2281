/** How an operator's command runs: what it was asked wrongly goes to standard error, and its end is its status. */

import { CannotOpen } from '../../db/cannot-open.ts'
import { ConfigError, readPlace } from '../config.ts'
import { askDesk, deskAt, NoDesk } from './counter.ts'
import type { CommandBody, CommandName } from './desk.ts'

/** Asked in a way that the command does not know. */
export class Misused extends Error {
  override name = 'Misused'
}

/** Runs a command to its status: 0 done, 1 not, 2 misused or out of reach. */
export async function runCommand(usage: string, main: (args: readonly string[]) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main(Bun.argv.slice(2))
  } catch (error) {
    process.exitCode = 2
    if (isMisuse(error)) return console.error(usage)
    if (!(error instanceof CannotOpen || error instanceof ConfigError || error instanceof NoDesk)) throw error
    console.error(error.message)
  }
}

// `parseArgs` tells of options it does not know by throwing.
const isMisuse = (error: unknown) =>
  error instanceof Misused ||
  (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))

/** Has the running wall do a command. Throws `NoDesk` where none runs. */
export const ask = <C extends CommandName>(command: C, body: CommandBody<C>) =>
  askDesk(deskAt(readPlace(Bun.env)), command, body)

/** Has the running wall do a command, and prints what it says; answers the status. */
export async function haveDone<C extends CommandName>(command: C, body: CommandBody<C>): Promise<number> {
  const { ok, lines } = await ask(command, body)
  for (const line of lines) (ok ? console.log : console.error)(line)
  return ok ? 0 : 1
}
