/** Runs an operator's command: errors go to standard error, and the exit status is the result. */

import { CannotOpen } from '../../db/cannot-open.ts'
import { escapeLine, escapeText } from '../../shared/terminal.ts'
import { ConfigError, readPlace } from '../config.ts'
import type { CommandBody, CommandName } from './admin-commands.ts'
import { locateAdminSocket } from './admin-socket-path.ts'
import { callAdminSocket, NoAdminSocket } from './admin-socket.ts'

/** Wrong usage of a command; the message says what is wrong, if the usage line does not show it. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A command: its usage text, and a function that returns its exit status, which is 0 for success. */
export type Command = {
  readonly usage: string
  run(args: readonly string[]): Promise<number>
}

/** Runs a command; returns its exit status, or 2 for wrong usage or an unavailable dependency. */
export async function runCommand({ usage, run }: Command, args: readonly string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    if (isMisuse(error)) console.error(`${describeMistake(error)}${usage}`)
    else printError(error)
    return 2
  }
}

/** Prints each line as a single line, whatever it contains. */
export function printLines(lines: readonly string[], print: (line: string) => void = console.log): void {
  for (const line of lines) print(escapeLine(line))
}

/** Prints why a command failed: the message of an expected error, or else the stack. */
function printError(error: unknown): void {
  const isExpected = error instanceof CannotOpen || error instanceof ConfigError || error instanceof NoAdminSocket
  const what = error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.name)) : String(error)
  console.error(escapeText(what))
}

/** The usage error, as a line above the usage of a command. */
function describeMistake({ message }: Error): string {
  const [what = ''] = message.split('. ')
  return what === '' ? '' : `${escapeLine(what)}\n\n`
}

// `parseArgs` throws for unknown options.
const isMisuse = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))

/** Runs a command in the running wall. Throws `NoAdminSocket` if no wall runs. */
export const sendCommand = <C extends CommandName>(command: C, body: CommandBody<C>) =>
  callAdminSocket(locateAdminSocket(readPlace(Bun.env)), command, body)

/** Runs a command in the running wall, and prints its response; returns the exit status. */
export async function runRemotely<C extends CommandName>(command: C, body: CommandBody<C>): Promise<number> {
  const { ok, lines } = await sendCommand(command, body)
  printLines(lines, ok ? console.log : console.error)
  return ok ? 0 : 1
}
