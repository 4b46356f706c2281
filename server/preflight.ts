/**
 * Checks the things that must work on this machine before the wall opens: its ports and the paths of its files. If one
 * of them does not work, the start fails, as it does with invalid settings; `pixel-wall check` lists all such problems.
 */

import { accessSync, constants, existsSync, lstatSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isWitness } from './adapters/witness-file.ts'
import { ConfigError, type Config } from './config.ts'
import { locateAdminSocket } from './operate/admin-socket-path.ts'

/** An address to listen on, and the name of the setting that contains its port. */
export type Port = { readonly setting: 'PORT' | 'METRICS_PORT'; readonly hostname: string; readonly port: number }

/** The address on which the wall listens. */
export const toWallPort = ({ host: hostname, port }: Config): Port => ({ setting: 'PORT', hostname, port })

/** The address on which metrics are served; `undefined` if they are not. */
export const toMetricsPort = ({ metricsHost: hostname, metricsPort: port }: Config): Port | undefined =>
  port === undefined ? undefined : { setting: 'METRICS_PORT', hostname, port }

/** Calls `listen`. Throws `ConfigError`, which names the setting, if listening fails. */
export function listenOn<T>({ setting, hostname, port }: Port, listen: (place: Omit<Port, 'setting'>) => T): T {
  try {
    return listen({ hostname, port })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const why = PORT_TROUBLES[code]
    if (why === undefined) throw error
    throw new ConfigError(`cannot listen on ${setting}: ${why(hostname, port)} (${code})`)
  }
}

const PORT_TROUBLES: Readonly<Record<string, (hostname: string, port: number) => string>> = {
  EADDRINUSE: (hostname, port) => `another program is listening on ${hostname}, port ${port}`,
  EACCES: (_, port) => `port ${port} is reserved for root; use one above 1023`,
  EADDRNOTAVAIL: (hostname) => `${hostname} is not an address of this machine; check HOST and METRICS_HOST`,
}

/** The problems with the ports. Listens on each of them for a moment to find out. */
export function findPortProblems(config: Config): readonly string[] {
  const ports = [toWallPort(config), toMetricsPort(config)].filter((port) => port !== undefined)
  return ports.flatMap((port) => {
    try {
      void listenOn(port, (place) => Bun.serve({ ...place, reusePort: false, fetch: respondUnavailable })).stop(true)
      return []
    } catch (error) {
      if (error instanceof ConfigError) return [error.message]
      throw error
    }
  })
}

const respondUnavailable = () => new Response(null, { status: 503 })

/** The problems with the paths of the wall's files. Files of other programs are never overwritten or removed. */
export function findPathProblems(config: Config): readonly string[] {
  const { database, witnessPath: witness } = config
  const file = database.kind === 'sqlite' && database.path !== ':memory:' ? resolve(database.path) : undefined
  const socket = resolve(locateAdminSocket(config))
  const troubles = {
    DATABASE_PATH: file && findFileTrouble(file),
    WITNESS_PATH: witness && (findFileTrouble(resolve(witness)) ?? findWitnessTrouble(resolve(witness), file)),
    ADMIN_SOCKET_PATH: findSocketTrouble(socket, file),
  }
  return Object.entries(troubles).flatMap(([setting, trouble]) => (trouble ? [`${setting}: ${trouble}`] : []))
}

// The path suffixes of a database and of the files that SQLite and the wall create beside it.
const BESIDE_DATABASE = ['', '-wal', '-shm', '-journal', '.lock']

const isDatabaseFile = (path: string, file: string | undefined): boolean =>
  file !== undefined && BESIDE_DATABASE.some((ending) => path === file + ending)

function findWitnessTrouble(path: string, file: string | undefined): string | undefined {
  if (isDatabaseFile(path, file)) return `${path} is a file of the database`
  if (!existsSync(path) || isWitness(path)) return undefined
  return `${path} is not the witness of a wall; name a path that does not exist yet`
}

function findSocketTrouble(path: string, file: string | undefined): string | undefined {
  if (isDatabaseFile(path, file)) return `${path} is a file of the database`
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.isSocket()) return undefined
  return `${path} is not a socket; name a path that does not exist yet`
}

function findFileTrouble(path: string): string | undefined {
  const folder = dirname(path)
  if (!existsSync(folder)) return `the folder ${folder} does not exist`
  if (!statSync(folder).isDirectory()) return `${folder} is not a folder`
  if (existsSync(path) && !statSync(path).isFile()) return `${path} is not a file`
  if (!isWritable(folder)) return `this user cannot write to ${folder}`
  return existsSync(path) && !isWritable(path) ? `this user cannot write ${path}` : undefined
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}
