/**
 * The admin socket, over which operators' commands reach the wall: a Unix socket, by default next to the database file,
 * if there is one. Only the user that runs the wall, or root, can connect. The socket has no port, so no other user,
 * web page or stray request on this machine can reach it, and it needs no secret.
 */

import { existsSync, lstatSync, unlinkSync } from 'node:fs'
import { Value } from '@sinclair/typebox/value'
import type { Logger } from '../ports.ts'
import { Commands, CommandResult, type CommandBody, type CommandName, type RunCommand } from './admin-commands.ts'

const BODY_MAX_BYTES = 4096

// A command that resolves a purchase may wait for the facilitator's timeout and then for the chain's.
const IDLE_SECONDS = 255

/** Thrown if no running wall responds; the message says why. */
export class NoAdminSocket extends Error {
  override name = 'NoAdminSocket'
}

/**
 * Opens the socket at `path`; returns a function that closes it. The caller owns the database, or the port, so an
 * existing socket is left over from a crashed process. If the socket cannot be opened, the operator gets an alert, and
 * the wall runs without the socket.
 */
export function openAdminSocket(path: string, runCommand: RunCommand, logger: Logger): () => void {
  // The umask is set before the server listens, so that other users can never connect.
  const before = process.umask(0o177)
  try {
    // A file of any other kind stays at the path, and then the socket cannot be created.
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) unlinkSync(path)
    const server = Bun.serve({
      unix: path,
      maxRequestBodySize: BODY_MAX_BYTES,
      fetch: async (request, self) => {
        self.timeout(request, IDLE_SECONDS)
        return await answerCommand(request, runCommand, logger)
      },
    })
    return () => void server.stop(true)
  } catch {
    logger.alert('no-admin-socket', {
      what: `operators’ commands cannot reach the wall: cannot create a socket at ${path}`,
    })
    return () => {}
  } finally {
    process.umask(before)
  }
}

async function answerCommand(request: Request, runCommand: RunCommand, logger: Logger): Promise<Response> {
  const command = new URL(request.url).pathname.slice(1)
  try {
    return Response.json(await runCommand(command, await request.json()))
  } catch (error) {
    logger.alert('admin-command-failed', { error: error instanceof Error ? error.name : typeof error })
    return Response.json({ ok: false, lines: ['the command failed in the wall; see its journal'] })
  }
}

/** Runs a command in the running wall. Throws `NoAdminSocket` if no wall runs on this database. */
export async function callAdminSocket<C extends CommandName>(
  path: string,
  command: C,
  body: CommandBody<C>,
): Promise<CommandResult> {
  if (!Value.Check(Commands[command], body)) throw new TypeError(`the arguments of ${command} are not valid`)
  if (!existsSync(path)) throw new NoAdminSocket(NOT_RUNNING)
  try {
    const response = await fetch(`http://wall/${command}`, { unix: path, method: 'POST', body: JSON.stringify(body) })
    return Value.Parse(CommandResult, await response.json())
  } catch (error) {
    throw new NoAdminSocket(NOT_RUNNING, { cause: error })
  }
}

const NOT_RUNNING =
  'no wall with these settings is running on this machine. Start it first: only the running wall can write.'
