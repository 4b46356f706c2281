/** Reads the environment into one checked configuration, or reports all of its errors in one message. */

import { readFileSync } from 'node:fs'
import { getAddress, isAddress } from 'viem/utils'
import { parsePrice, USUAL_PRICE_ATOMIC } from '../shared/money.ts'
import { isPrintable } from '../shared/text.ts'
import { isNetwork, type Network } from '../shared/usdc.ts'
import { parseAddresses } from '../shared/wallet.ts'
import { toLowerAddress, type Address } from './domain/purchase/payment.ts'
import type { Database } from './domain/store-position.ts'
import { NETWORKS, getToken } from './x402/network.ts'
import type { Offer } from './x402/terms.ts'

/** The configuration of the service. Times are in milliseconds. */
export type Config = {
  readonly host: string
  readonly port: number
  readonly hosts: readonly string[] // host names that owners may sign for, the canonical one first
  readonly database: Database
  readonly adminSocketPath: string | undefined // undefined: the default of `locateAdminSocket`
  readonly witnessPath: string | undefined // undefined: none, for a database in memory
  readonly isWitnessApart: boolean // whether the witness is on a device of its own, according to the operator
  /** The file in which `books` caches the data that it read from the chain; `undefined` for no cache. */
  readonly booksPath: string | undefined
  readonly network: Network
  readonly rpcUrls: readonly string[] // called in this order; none: the network's public endpoint
  readonly rpcCallsPerSecond: number | undefined // calls to each endpoint; undefined: no limit
  readonly offer: Offer
  readonly facilitatorUrls: readonly string[] // called in this order; at least one
  readonly facilitatorKeys: ReadonlyMap<string, string> // bearer keys by the host of the facilitator
  readonly cdpKey: { readonly id: string; readonly secret: string } | undefined
  readonly verifyTimeoutMs: number
  readonly settleTimeoutMs: number
  readonly reconcileIntervalMs: number
  readonly historyDays: number // how long the last superseded repaints and names of each hour are kept
  readonly metricsHost: string // the address that metrics are served on
  readonly metricsPort: number | undefined // undefined: no metrics are served
  readonly drainMs: number // how long load balancers have to notice that the process ends
  readonly webhook: { readonly url: string; readonly key: Uint8Array } | undefined // where notices are sent
  readonly contact: string | null
  readonly denied: DeniedPayers
  readonly trustedHops: number | undefined // how many proxies are trusted; undefined: one on this machine
  /** Whether pages follow the live stream that a cache in front of the wall shares among its clients. */
  readonly sharesStream: boolean
}

/**
 * Payers to whom nothing is sold, and the file that lists them; `path` is undefined if the setting itself lists them.
 */
export type DeniedPayers = { readonly addresses: ReadonlySet<Address>; readonly path: string | undefined }

/**
 * The exit status for errors that only an operator can fix (EX_CONFIG of sysexits.h): a restart would change nothing.
 */
export const EXIT_CONFIG = 78

/** Invalid settings. The message lists all of the problems. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(message: string, problems: readonly string[] = [message]) {
    super(message)
    this.problems = problems
  }
}

// Nothing is served outside this machine unless the operator sets another address.
const LOOPBACK = '127.0.0.1'

// The maximum length of a title in characters; a card shows fewer characters.
const TITLE_MAX = 40

type Env = Readonly<Record<string, string | undefined>>

/**
 * All settings: whether each is required, and whether it is a secret. A secret may also be in the file that `NAME_FILE`
 * names. A test compares docs/settings.md and `.env.example` with this table.
 */
export const SETTINGS = {
  BASE_URL: { required: true },
  PAY_TO: { required: true },
  FACILITATOR_URL: { required: true, secret: true },
  HOST: { required: false },
  PORT: { required: false },
  DATABASE_PATH: { required: false },
  DATABASE_URL: { required: false, secret: true },
  ADMIN_SOCKET_PATH: { required: false },
  WITNESS_PATH: { required: false },
  WITNESS_IS_APART: { required: false },
  NETWORK: { required: false },
  OWNERSHIP_PROOFS: { required: false },
  PRICE: { required: false },
  TITLE: { required: false },
  RPC_URL: { required: false, secret: true },
  RPC_CALLS_PER_SECOND: { required: false },
  VERIFY_TIMEOUT_MS: { required: false },
  SETTLE_TIMEOUT_MS: { required: false },
  RECONCILE_INTERVAL_MS: { required: false },
  HISTORY_DAYS: { required: false },
  FACILITATOR_KEYS: { required: false, secret: true },
  CDP_API_KEY_ID: { required: false, secret: true },
  CDP_API_KEY_SECRET: { required: false, secret: true },
  METRICS_HOST: { required: false },
  METRICS_PORT: { required: false },
  DRAIN_MS: { required: false },
  DENY_PAYERS: { required: false },
  TRUST_PROXY: { required: false },
  SHARED_STREAM: { required: false },
  OPERATOR_CONTACT: { required: false },
  WEBHOOK_URL: { required: false, secret: true },
  WEBHOOK_SECRET: { required: false, secret: true },
} as const

type Setting = keyof typeof SETTINGS

// Former names, which are read if the current name is not set.
const formerNames: Readonly<Partial<Record<Setting, string>>> = { ADMIN_SOCKET_PATH: 'DESK_PATH' }

/** All names that are read: settings, the `_FILE` names of secret settings, and former names. */
export const SETTING_NAMES: readonly string[] = [
  ...Object.entries(SETTINGS).flatMap(([name, about]) => ('secret' in about ? [name, `${name}_FILE`] : [name])),
  ...Object.values(formerNames),
]

/** The warnings about former names of settings. */
export const listWarnings = (env: Env): readonly string[] =>
  Object.entries(formerNames)
    .filter(([, former]) => env[former] !== undefined)
    .map(([name, former]) => `${former} is now called ${name}; the old name still works.`)

/** Reads the environment. Throws `ConfigError`. */
export function readConfig(env: Env): Config {
  const problems: string[] = []
  const read = createReader(env, problems)
  const network = read('NETWORK', parseNetwork) ?? 'eip155:8453'
  const asset = getToken(network)
  const baseUrl = read('BASE_URL', parseOrigin)
  const price = read('PRICE', parsePriceSetting) ?? USUAL_PRICE_ATOMIC
  const title = read('TITLE', parseTitle) ?? 'Pixel Wall'
  const payTo = read('PAY_TO', (text) => parsePayee(text, asset.address))
  const facilitatorUrls = read('FACILITATOR_URL', createListParser(parseUrl))?.map(({ href }) => href)
  const ownershipProofs = read('OWNERSHIP_PROOFS', createListParser(parseSignature)) ?? []
  const facilitatorKeys = new Map(read('FACILITATOR_KEYS', createListParser(parseHostKey)))
  const hosts = facilitatorUrls?.map((url) => new URL(url).host)
  const stray = [...facilitatorKeys.keys()].find((host) => hosts?.includes(host) === false)
  if (stray !== undefined) problems.push(`FACILITATOR_KEYS names ${stray}, but FACILITATOR_URL does not`)
  const id = read('CDP_API_KEY_ID', parseText)
  const secret = read('CDP_API_KEY_SECRET', parseText)
  if ((id === undefined) !== (secret === undefined)) problems.push('set CDP_API_KEY_ID and CDP_API_KEY_SECRET together')
  const webhookUrl = read('WEBHOOK_URL', parseUrl)?.href
  const key = read('WEBHOOK_SECRET', parseWebhookKey)
  const isSet = (name: Setting) => readText(name, env) !== ''
  if (isSet('WEBHOOK_URL') !== isSet('WEBHOOK_SECRET')) problems.push('set WEBHOOK_URL and WEBHOOK_SECRET together')
  const place = readPlaceFrom(read, problems)
  const rest = {
    ...place,
    booksPath: locateBeside(place, 'books'),
    host: read('HOST', parseHost) ?? LOOPBACK,
    metricsHost: read('METRICS_HOST', parseHost) ?? LOOPBACK,
    network,
    rpcUrls: read('RPC_URL', createListParser(parseUrl))?.map(({ href }) => href) ?? [],
    rpcCallsPerSecond: read('RPC_CALLS_PER_SECOND', createIntegerParser(1, 100_000)),
    facilitatorKeys,
    cdpKey: id === undefined || secret === undefined ? undefined : { id, secret },
    verifyTimeoutMs: read('VERIFY_TIMEOUT_MS', createIntegerParser(100, 60_000)) ?? 5000,
    settleTimeoutMs: read('SETTLE_TIMEOUT_MS', createIntegerParser(100, 200_000)) ?? 30_000,
    reconcileIntervalMs: read('RECONCILE_INTERVAL_MS', createIntegerParser(100, 600_000)) ?? 5000,
    historyDays: read('HISTORY_DAYS', createIntegerParser(1, 3650)) ?? 7,
    metricsPort: read('METRICS_PORT', createIntegerParser(0, 65_535)),
    drainMs: read('DRAIN_MS', createIntegerParser(0, 600_000)) ?? 0,
    webhook: webhookUrl === undefined || key === undefined ? undefined : { url: webhookUrl, key },
    contact: read('OPERATOR_CONTACT', parseContact) ?? null,
    denied: read('DENY_PAYERS', parseDeniedPayers) ?? { addresses: new Set(), path: undefined },
    trustedHops: read('TRUST_PROXY', createIntegerParser(0, 10)),
    sharesStream: read('SHARED_STREAM', parseYesOrNo) ?? false,
  }
  if (problems.length > 0 || baseUrl === undefined || payTo === undefined || facilitatorUrls === undefined)
    throw createConfigError(problems)
  return {
    ...rest,
    hosts: [...new Set([baseUrl.hostname, baseUrl.host])],
    offer: {
      terms: { network, asset: toLowerAddress(asset.address), payTo, amount: price },
      title,
      baseUrl: baseUrl.origin,
      assetName: asset.name,
      assetVersion: asset.version,
      ownershipProofs,
    },
    facilitatorUrls,
  }
}

/** The settings that identify a wall on this machine. */
export type Place = Pick<Config, 'database' | 'port' | 'adminSocketPath' | 'witnessPath' | 'isWitnessApart'>

/** Reads only the settings that say where a wall is stored and where it listens. Throws `ConfigError`. */
export function readPlace(env: Env): Place {
  const problems: string[] = []
  const place = readPlaceFrom(createReader(env, problems), problems)
  if (problems.length > 0) throw createConfigError(problems)
  return place
}

type Read = <T>(name: Setting, parse: (text: string) => Parsed<T>) => T | undefined

/** Reads settings one by one, and collects their errors. */
function createReader(env: Env, problems: string[]): Read {
  return (name, parse) => {
    const text = readText(name, env)
    if (typeof text !== 'string') {
      problems.push(text.problem)
      return undefined
    }
    if (text === '') {
      if (SETTINGS[name].required) problems.push(`${name} is not set`)
      return undefined
    }
    const parsed = parse(text)
    if ('value' in parsed) return parsed.value
    problems.push(`${name} ${parsed.problem}`)
    return undefined
  }
}

/** The value of a setting, or the content of the file that `NAME_FILE` names. */
function readText(name: Setting, env: Env): string | { readonly problem: string } {
  const text = (env[name] ?? env[formerNames[name] ?? ''])?.trim() ?? ''
  const path = 'secret' in SETTINGS[name] ? (env[`${name}_FILE`]?.trim() ?? '') : ''
  if (path === '') return text
  if (text !== '') return { problem: `set either ${name} or ${name}_FILE, not both` }
  const content = readFileText(path)
  return typeof content === 'string' ? content.trim() : { problem: `${name}_FILE ${content.problem}` }
}

/** The text of a file that a setting names. */
function readFileText(path: string): string | { readonly problem: string } {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return { problem: `names a file that cannot be read${code}` }
  }
}

function readPlaceFrom(read: Read, problems: string[]): Place {
  const port = read('PORT', createIntegerParser(0, 65_535)) ?? 8402
  const path = read('DATABASE_PATH', parseText)
  const url = read('DATABASE_URL', parsePostgresUrl)
  if (path !== undefined && url !== undefined) problems.push('set either DATABASE_PATH or DATABASE_URL, not both')
  const database: Database =
    url === undefined ? { kind: 'sqlite', path: path ?? './wall.sqlite' } : { kind: 'postgres', url }
  const adminSocketPath = read('ADMIN_SOCKET_PATH', parseText)
  const own = read('WITNESS_PATH', parseText)
  const witnessPath = own ?? locateBeside({ database, port, adminSocketPath }, 'witness')
  const isWitnessApart = read('WITNESS_IS_APART', parseYesOrNo) ?? false
  if (isWitnessApart && own === undefined && database.kind === 'sqlite')
    problems.push('WITNESS_IS_APART is yes, but WITNESS_PATH is not set, so the witness is beside the database')
  return { port, database, adminSocketPath, witnessPath, isWitnessApart }
}

/** A path beside the SQLite file; on PostgreSQL, named after the admin socket or port; in memory, there is none. */
function locateBeside(
  { database, port, adminSocketPath }: Pick<Place, 'database' | 'port' | 'adminSocketPath'>,
  what: 'witness' | 'books',
): string | undefined {
  if (database.kind === 'postgres') return `${adminSocketPath ?? `./wall-${port}`}.${what}`
  return database.path === ':memory:' ? undefined : `${database.path}.${what}`
}

/** The error for settings that cannot work. */
export const createConfigError = (problems: readonly string[]) =>
  new ConfigError(
    `The wall cannot run with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\n.env.example (in a release: pixel-wall.env) explains each setting.`,
    problems,
  )

type Parsed<T> = { readonly value: T } | { readonly problem: string }

const parseText = (text: string): Parsed<string> => ({ value: text })

const parseYesOrNo = (text: string): Parsed<boolean> =>
  text === 'yes' || text === 'no' ? { value: text === 'yes' } : { problem: 'must be yes or no' }

const parseHost = (text: string): Parsed<string> =>
  /^[\w.:-]+$/.test(text)
    ? { value: text }
    : { problem: 'must be an IP address or host name of this machine, without a port' }

// The contact becomes a link on public pages.
const parseContact = (text: string): Parsed<string> =>
  /^(?:https:\/\/\S+|(?:mailto:)?[^\s:@]+@[^\s:@]+|tel:\S+)$/i.test(text)
    ? { value: text }
    : { problem: 'must be an email address, or start with https://, mailto: or tel:' }

// The format of secrets in Standard Webhooks.
const parseWebhookKey = (text: string): Parsed<Uint8Array> => {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const value = new Uint8Array(Buffer.from(encoded, 'base64'))
  return value.length >= 24 && value.length <= 64
    ? { value }
    : {
        problem:
          'must be whsec_ followed by 24 to 64 bytes in base64; make one with: echo whsec_$(openssl rand -base64 32)',
      }
}

const parsePriceSetting = (text: string): Parsed<bigint> => {
  const value = parsePrice(text)
  return value === undefined
    ? { problem: 'must be an amount in dollars with two decimals, from 0.01 to 999999.99' }
    : { value }
}

const parseTitle = (text: string): Parsed<string> =>
  isPrintable(text, TITLE_MAX) ? { value: text } : { problem: `must be 1 to ${TITLE_MAX} printable characters` }

const parseNetwork = (text: string): Parsed<Network> =>
  isNetwork(text) ? { value: text } : { problem: `must be one of ${NETWORKS.join(', ')}` }

const createIntegerParser =
  (min: number, max: number) =>
  (text: string): Parsed<number> => {
    const value = Number(text)
    return /^\d+$/.test(text) && value >= min && value <= max
      ? { value }
      : { problem: `must be a whole number from ${min} to ${max}` }
  }

/** Makes the parser of a comma-separated list. */
const createListParser =
  <T>(parse: (text: string) => Parsed<T>) =>
  (text: string): Parsed<readonly T[]> => {
    const values: T[] = []
    for (const part of text.split(',')) {
      const parsed = parse(part.trim())
      if ('problem' in parsed) return parsed
      values.push(parsed.value)
    }
    return { value: values }
  }

function parseUrl(text: string): Parsed<URL> {
  const value = URL.canParse(text) ? new URL(text) : undefined
  return value?.protocol === 'https:' || value?.protocol === 'http:'
    ? { value }
    : { problem: 'must be an http or https URL' }
}

// The value is never shown, since it may contain a password.
function parsePostgresUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPostgres = url?.protocol === 'postgres:' || url?.protocol === 'postgresql:'
  return isPostgres && url.hostname !== '' && url.pathname.length > 1
    ? { value: text }
    : { problem: 'must be a postgres:// URL that names a host and a database' }
}

function parseOrigin(text: string): Parsed<URL> {
  const parsed = parseUrl(text)
  if ('problem' in parsed) return parsed
  const { username, password, pathname, search, hash } = parsed.value
  const isBare = username + password + search + hash === '' && pathname === '/'
  return isBare ? parsed : { problem: 'must be a URL without path, query or user name' }
}

const parseSignature = (text: string): Parsed<string> =>
  /^0x[0-9a-fA-F]{130}$/.test(text) ? { value: text } : { problem: 'must be signatures of 0x and 130 hex digits' }

// The key is never shown.
function parseHostKey(text: string): Parsed<readonly [host: string, key: string]> {
  const [, host, key] = /^([\w.-]+(?::\d+)?)=([!-~]+)$/.exec(text) ?? []
  return host === undefined || key === undefined
    ? { problem: 'must be host=key pairs, separated by commas' }
    : { value: [host.toLowerCase(), key] }
}

/** Reads a list of addresses, given directly or as the path of a file. */
function parseDeniedPayers(text: string): Parsed<DeniedPayers> {
  const path = /^0x/i.test(text) ? undefined : text
  const listed = path === undefined ? text : readFileText(path)
  if (typeof listed !== 'string') return listed
  const addresses = parseAddresses(listed)
  if (typeof addresses !== 'number') return { value: { addresses, path } }
  return {
    problem: `contains something other than an address${path === undefined ? '' : ` in line ${addresses} of ${path}`}`,
  }
}

function parsePayee(text: string, asset: string): Parsed<Address> {
  if (!isAddress(text, { strict: false })) return { problem: 'must be an address (0x followed by 40 hex digits)' }
  const digits = text.slice(2)
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (!isOneCase && getAddress(text) !== text) return { problem: 'has an invalid checksum: check for a typo' }
  if (/^0x0+$/i.test(text)) return { problem: 'must not be the zero address' }
  if (toLowerAddress(text) === toLowerAddress(asset)) return { problem: 'must not be the address of the token' }
  return { value: toLowerAddress(text) }
}
