/** Runs an operator's command: errors go to standard error, and the exit status says how it ended. */

import { CannotOpen } from '../../db/cannot-open.ts'
import { terminalLine, terminalText } from '../../shared/terminal.ts'
import { ConfigError, readPlace } from '../config.ts'
import type { CommandBody, CommandName } from './admin-commands.ts'
import { adminSocketAt } from './admin-socket-path.ts'
import { callAdminSocket, NoAdminSocket } from './admin-socket.ts'

/** The command was called in a wrong way; the message says which, where its use does not show it. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** What an operator types: its words of use, and what it does, to its status: 0 done, 1 not. */
export type Command = {
  readonly usage: string
  run(args: readonly string[]): Promise<number>
}

/** Runs a command; answers its status, or 2 where it was misused or what it needs is out of reach. */
export async function runCommand({ usage, run }: Command, args: readonly string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    if (isMisuse(error)) console.error(`${mistakeIn(error)}${usage}`)
    else printTrouble(error)
    return 2
  }
}

/** Prints lines, each as one line, whatever it holds. */
export function printLines(lines: readonly string[], print: (line: string) => void = console.log): void {
  for (const line of lines) print(terminalLine(line))
}

/** Prints why a command failed: in words where it was to be expected, else with where it happened. */
function printTrouble(error: unknown): void {
  const isExpected = error instanceof CannotOpen || error instanceof ConfigError || error instanceof NoAdminSocket
  const what = error instanceof Error ? (isExpected ? error.message : (error.stack ?? error.name)) : String(error)
  console.error(terminalText(what))
}

/** What was wrong, as a line before the use of a command. */
function mistakeIn({ message }: Error): string {
  const [what = ''] = message.split('. ')
  return what === '' ? '' : `${terminalLine(what)}\n\n`
}

// `parseArgs` tells of options it does not know by throwing.
const isMisuse = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))

/** Has the running wall do a command. Throws `NoAdminSocket` where none runs. */
export const ask = <C extends CommandName>(command: C, body: CommandBody<C>) =>
  callAdminSocket(adminSocketAt(readPlace(Bun.env)), command, body)

/** Has the running wall do a command, and prints what it says; answers the status. */
export async function runRemotely<C extends CommandName>(command: C, body: CommandBody<C>): Promise<number> {
  const { ok, lines } = await ask(command, body)
  printLines(lines, ok ? console.log : console.error)
  return ok ? 0 : 1
}
