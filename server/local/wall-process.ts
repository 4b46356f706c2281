/** Runs the wall as a separate process, as an operator does, by default on a free loopback port. */

import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import type { Health } from '../../shared/contract/service.ts'

const MAIN = join(import.meta.dir, '../main.ts')
const OPEN = 'The wall is open at '

/** A running wall. */
export type WallProcess = {
  readonly url: string
  readonly pid: number
  readonly exited: Promise<number>
  /** Asks the wall to finish its requests and exit, as an operator does. */
  stop(): Promise<number>
  /** Kills the wall immediately, as a power cut would. */
  kill(): Promise<number>
  /** The lines of the wall's journal so far. */
  readJournal(): readonly string[]
}

/** Settings of the wall. If they lack the address or the port, this module chooses it. */
export type WallSettings = Readonly<Record<string, string>>

/**
 * How a process is started: `limits` is a shell command that sets its resource limits, `folder` is its working
 * directory, and `program` is the command to run.
 */
export type Start = {
  readonly limits?: string | undefined
  readonly folder?: string | undefined
  readonly program?: readonly string[] | undefined
}

/** Starts `server/main.ts` and resolves once it listens; rejects with its output if it exits instead. */
export async function startWall(settings: WallSettings, { limits, folder, program }: Start = {}): Promise<WallProcess> {
  const port = settings['PORT'] ?? String(await findFreePort())
  const url = `http://127.0.0.1:${port}`
  const command = program ?? [process.execPath, MAIN]
  const limited = limits === undefined ? [...command] : ['sh', '-c', `${limits}; exec "$0" "$@"`, ...command]
  const child = Bun.spawn(limited, {
    ...(folder === undefined ? {} : { cwd: folder }),
    env: { PATH: Bun.env['PATH'] ?? '', BASE_URL: url, ...settings, PORT: port },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const journal: string[] = []
  const journalRead = readLines(child.stderr, (line) => void journal.push(line))
  const opened = Promise.withResolvers<void>()
  void readLines(child.stdout, (line) => {
    if (line.startsWith(OPEN)) opened.resolve()
  })
  const ended = child.exited.then(async (code) => {
    await journalRead
    throw new Error(`the wall exited with ${code}:\n${journal.join('\n')}`)
  })
  await Promise.race([opened.promise, ended])
  ended.catch(() => {})
  const createKill = (signal: 'SIGTERM' | 'SIGKILL') => () => {
    child.kill(signal)
    return child.exited
  }
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    stop: createKill('SIGTERM'),
    kill: createKill('SIGKILL'),
    readJournal: () => journal,
  }
}

/** Resolves once the wall at `url` accepts payments. */
export async function waitUntilArmed(url: string): Promise<void> {
  for (;;) {
    const { rail } = (await (await fetch(new URL('/api/health', url))).json()) as Health
    if (rail === 'armed') return
    await Bun.sleep(20)
  }
}

// Linux and macOS choose higher ports for outgoing connections and for servers that ask for port 0, so that none of
// them takes a port between its discovery and its use.
const PORTS = { first: 20_000, count: 12_000 }
// Processes that look for ports at the same time begin at different places.
let nextPort = randomInt(PORTS.count)

/** A loopback port that no process listens on now. Each call returns another port, until all were returned. */
export async function findFreePort(): Promise<number> {
  const port = PORTS.first + nextPort
  nextPort = (nextPort + 1) % PORTS.count
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data() {} } }).stop(true)
    return port
  } catch (error) {
    if (!isInUse(error)) throw error
    return findFreePort()
  }
}

const isInUse = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(take)
  }
  if (rest !== '') take(rest)
}
