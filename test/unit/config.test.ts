import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, readConfig, readPlace, listWarnings, type SETTINGS } from '../../server/config.ts'
import { NETWORKS } from '../../server/x402/network.ts'
import { createScratchFolder } from '../support/scratch-folder.ts'

const PAYEE = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const REQUIRED = { BASE_URL: 'https://wall.example', PAY_TO: PAYEE, FACILITATOR_URL: 'https://facilitator.example/v2' }

const PROOF = `0x${'1b'.repeat(65)}`

type Env = Readonly<Record<string, string>>

/** The problems in the error, one per line. */
function listProblems(env: Env): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [...error.message.matchAll(/^ {2}- (.*)$/gm)].map(([, problem = '']) => problem)
  }
  return []
}

describe('settings', () => {
  test('a setting can also be read by its former name, which causes a warning', () => {
    const former = { ...REQUIRED, DESK_PATH: '/run/wall.sock' }
    expect(readConfig(former).adminSocketPath).toBe('/run/wall.sock')
    expect(readConfig({ ...former, ADMIN_SOCKET_PATH: '/run/new.sock' }).adminSocketPath).toBe('/run/new.sock')
    expect(listWarnings(former)).toEqual(['DESK_PATH is now called ADMIN_SOCKET_PATH; the old name still works.'])
    expect(listWarnings(REQUIRED)).toEqual([])
  })

  test('every setting except BASE_URL, PAY_TO and FACILITATOR_URL has a default', () => {
    expect(readConfig(REQUIRED)).toMatchObject({
      host: '127.0.0.1',
      port: 8402,
      hosts: ['wall.example'],
      database: { kind: 'sqlite', path: './wall.sqlite' },
      witnessPath: './wall.sqlite.witness',
      isWitnessApart: false,
      booksPath: './wall.sqlite.books',
      network: 'eip155:8453',
      offer: {
        terms: { asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', amount: 1_000_000n },
        baseUrl: 'https://wall.example',
        assetName: 'USD Coin',
      },
      facilitatorUrls: ['https://facilitator.example/v2'],
    })
  })

  test('every setting is read from the environment', () => {
    const given: Readonly<Record<keyof typeof SETTINGS, readonly [text: string, read: object]>> = {
      BASE_URL: ['http://localhost:9000/', { hosts: ['localhost', 'localhost:9000'] }],
      PAY_TO: [PAYEE.toLowerCase(), { offer: { terms: { payTo: PAYEE.toLowerCase() } } }],
      FACILITATOR_URL: [
        'http://127.0.0.1:4021, https://second.example',
        { facilitatorUrls: ['http://127.0.0.1:4021/', 'https://second.example/'] },
      ],
      HOST: ['0.0.0.0', { host: '0.0.0.0' }],
      PORT: ['0', { port: 0 }],
      DATABASE_PATH: ['/var/lib/wall.sqlite', { database: { kind: 'sqlite', path: '/var/lib/wall.sqlite' } }],
      DATABASE_URL: ['', { booksPath: '/var/lib/wall.sqlite.books' }],
      ADMIN_SOCKET_PATH: ['/run/wall.sock', { adminSocketPath: '/run/wall.sock' }],
      WITNESS_PATH: ['/mnt/wall.witness', { witnessPath: '/mnt/wall.witness' }],
      WITNESS_IS_APART: ['yes', { isWitnessApart: true }],
      NETWORK: ['eip155:84532', { network: 'eip155:84532', offer: { assetName: 'USDC' } }],
      OWNERSHIP_PROOFS: [PROOF, { offer: { ownershipProofs: [PROOF] } }],
      PRICE: ['2.50', { offer: { terms: { amount: 2_500_000n } } }],
      TITLE: ['The Ada Wall', { offer: { title: 'The Ada Wall', baseUrl: 'http://localhost:9000' } }],
      RPC_URL: [
        'http://127.0.0.1:8545/key, https://second.example',
        { rpcUrls: ['http://127.0.0.1:8545/key', 'https://second.example/'] },
      ],
      RPC_CALLS_PER_SECOND: ['50', { rpcCallsPerSecond: 50 }],
      VERIFY_TIMEOUT_MS: ['100', { verifyTimeoutMs: 100 }],
      SETTLE_TIMEOUT_MS: ['200000', { settleTimeoutMs: 200_000 }],
      RECONCILE_INTERVAL_MS: ['600000', { reconcileIntervalMs: 600_000 }],
      HISTORY_DAYS: ['90', { historyDays: 90 }],
      FACILITATOR_KEYS: [
        '127.0.0.1:4021=A:b=c, second.example=d',
        { facilitatorKeys: new Map(Object.entries({ '127.0.0.1:4021': 'A:b=c', 'second.example': 'd' })) },
      ],
      CDP_API_KEY_ID: ['id', { cdpKey: { id: 'id' } }],
      CDP_API_KEY_SECRET: ['secret', { cdpKey: { secret: 'secret' } }],
      METRICS_HOST: ['0.0.0.0', { metricsHost: '0.0.0.0' }],
      METRICS_PORT: ['9464', { metricsPort: 9464 }],
      DENY_PAYERS: [PAYEE, { denied: { addresses: new Set([PAYEE.toLowerCase()]), path: undefined } }],
      DRAIN_MS: ['15000', { drainMs: 15_000 }],
      TRUST_PROXY: ['2', { trustedHops: 2 }],
      SHARED_STREAM: ['yes', { sharesStream: true }],
      WEBHOOK_URL: ['https://ops.example/hook', { webhook: { url: 'https://ops.example/hook' } }],
      WEBHOOK_SECRET: [
        'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        { webhook: { key: new Uint8Array(Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')) } },
      ],
      OPERATOR_CONTACT: ['mailto:ops@wall.example', { contact: 'mailto:ops@wall.example' }],
    }
    const config = readConfig(Object.fromEntries(Object.entries(given).map(([name, [text]]) => [name, text])))
    for (const [, read] of Object.values(given)) expect(config).toMatchObject(read)
    expect(config.offer.terms).toMatchObject({ asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e' })
  })

  test('metrics are served only to this machine by default, even if the wall listens on all addresses', () => {
    expect(readConfig({ ...REQUIRED, HOST: '0.0.0.0' })).toMatchObject({ host: '0.0.0.0', metricsHost: '127.0.0.1' })
  })

  test('settings are read without surrounding whitespace, and a setting of only whitespace counts as unset', () => {
    const padded = Object.fromEntries(Object.entries(REQUIRED).map(([name, text]) => [name, `  ${text}\n`]))
    expect(readConfig({ ...padded, PORT: ' 80 ', HOST: ' ', RPC_URL: '' })).toEqual({
      ...readConfig(REQUIRED),
      port: 80,
    })
  })

  test('WEBHOOK_URL and WEBHOOK_SECRET must be set together, and a short or malformed secret is rejected', () => {
    const [url, secret] = [{ WEBHOOK_URL: 'https://ops.example' }, { WEBHOOK_SECRET: `whsec_${'A'.repeat(32)}` }]
    for (const one of [url, secret])
      expect(listProblems({ ...REQUIRED, ...one })).toEqual(['set WEBHOOK_URL and WEBHOOK_SECRET together'])
    for (const short of ['hush', 'whsec_c2hvcnQ=', 'A'.repeat(32)])
      expect(listProblems({ ...REQUIRED, ...url, WEBHOOK_SECRET: short })).toEqual([
        expect.stringMatching(/^WEBHOOK_SECRET must be whsec_ followed by 24 to 64 bytes in base64/),
      ])
  })

  test('the payee address may be written in upper case, without a checksum', () => {
    const upper = `0x${PAYEE.slice(2).toUpperCase()}`
    expect(readConfig({ ...REQUIRED, PAY_TO: upper })).toEqual(readConfig(REQUIRED))
  })

  test('with DATABASE_URL, the wall is stored on a database server instead of in a file', () => {
    for (const url of ['postgres://wall:secret@db.example:5433/wall', 'postgresql://db.example/wall?sslmode=require'])
      expect(readConfig({ ...REQUIRED, DATABASE_URL: url }).database).toEqual({ kind: 'postgres', url })
    expect(readPlace({ DATABASE_URL: 'postgres://db.example/wall', PORT: '9000' })).toEqual({
      database: { kind: 'postgres', url: 'postgres://db.example/wall' },
      port: 9000,
      adminSocketPath: undefined,
      witnessPath: './wall-9000.witness',
      isWitnessApart: false,
    })
  })

  test('with a database server, the witness is stored next to the admin socket; an in-memory database has no witness', () => {
    const shared = { DATABASE_URL: 'postgres://db.example/wall', ADMIN_SOCKET_PATH: '/run/wall.sock' }
    expect(readPlace(shared).witnessPath).toBe('/run/wall.sock.witness')
    expect(readPlace({ DATABASE_PATH: ':memory:' }).witnessPath).toBeUndefined()
  })

  test('errors about DATABASE_URL never show its password, and DATABASE_URL cannot be combined with DATABASE_PATH', () => {
    for (const url of ['mysql://wall:secret@db/wall', 'postgres://wall:secret@db', 'postgres:///wall', 'secret'])
      expect(listProblems({ ...REQUIRED, DATABASE_URL: url })).toEqual([
        'DATABASE_URL must be a postgres:// URL that names a host and a database',
      ])
    const both = { DATABASE_PATH: 'wall.sqlite', DATABASE_URL: 'postgres://wall:secret@db/wall' }
    expect(listProblems({ ...REQUIRED, ...both })).toEqual(['set either DATABASE_PATH or DATABASE_URL, not both'])
    expect(() => readPlace(both)).toThrow('set either DATABASE_PATH or DATABASE_URL, not both')
  })

  const folder = createScratchFolder()

  test('secrets can be read from files, and error messages never contain them', () => {
    const path = join(folder, 'url')
    writeFileSync(path, 'postgres://wall:pa$$word@db.example/wall\n')
    const url = 'postgres://wall:pa$$word@db.example/wall'
    expect(readConfig({ ...REQUIRED, DATABASE_URL_FILE: path })).toEqual(readConfig({ ...REQUIRED, DATABASE_URL: url }))
    expect(listProblems({ ...REQUIRED, DATABASE_URL_FILE: path, DATABASE_URL: url })).toEqual([
      'set either DATABASE_URL or DATABASE_URL_FILE, not both',
    ])
    expect(listProblems({ ...REQUIRED, RPC_URL_FILE: path, CDP_API_KEY_SECRET_FILE: folder })).toEqual([
      'CDP_API_KEY_SECRET_FILE names a file that cannot be read (EISDIR)',
      'RPC_URL must be an http or https URL',
    ])
    expect(readConfig({ ...REQUIRED, PORT_FILE: path })).toEqual(readConfig(REQUIRED))
  })

  test('environment variables of other programs are ignored', () => {
    expect(readConfig({ ...REQUIRED, PATH: '/bin', port: 'x' })).toEqual(readConfig(REQUIRED))
  })
})

describe('settings that cannot work', () => {
  test.each(['javascript:alert(1)', 'http://wall.example', 'data:text/html,x', 'nonsense', '@', 'mailto:ops'])(
    '%j is rejected as a contact',
    (contact) => {
      expect(listProblems({ ...REQUIRED, OPERATOR_CONTACT: contact })).toEqual([
        'OPERATOR_CONTACT must be an email address, or start with https://, mailto: or tel:',
      ])
    },
  )

  test.each(['http://localhost', 'a b', 'wall.example/'])('%j is rejected as an address to listen on', (host) => {
    expect(listProblems({ ...REQUIRED, HOST: host })).toEqual([
      'HOST must be an IP address or host name of this machine, without a port',
    ])
  })

  test('one error message lists all invalid settings', () => {
    expect(listProblems({})).toEqual(['BASE_URL is not set', 'PAY_TO is not set', 'FACILITATOR_URL is not set'])
    const bad = {
      NETWORK: 'base',
      BASE_URL: 'wall',
      PAY_TO: '0x1',
      FACILITATOR_URL: 'x',
      PORT: '-1',
      CDP_API_KEY_ID: 'id',
    }
    expect(listProblems(bad).map((problem) => problem.split(' ')[0])).toEqual([
      'NETWORK',
      'BASE_URL',
      'PAY_TO',
      'FACILITATOR_URL',
      'set', // CDP_API_KEY_ID and its secret together
      'PORT',
    ])
  })

  test.each([
    ['BASE_URL', 'wall.example', 'must be an http or https URL'],
    ['BASE_URL', 'https://wall.example/app', 'must be a URL without path, query or user name'],
    ['BASE_URL', 'https://wall.example/?a=1', 'must be a URL without path, query or user name'],
    ['BASE_URL', 'https://me@wall.example', 'must be a URL without path, query or user name'],
    ['FACILITATOR_URL', 'facilitator', 'must be an http or https URL'],
    ['FACILITATOR_URL', 'https://one.example,,https://two.example', 'must be an http or https URL'],
    ['RPC_URL', 'wss://rpc.example', 'must be an http or https URL'],
    ['RPC_CALLS_PER_SECOND', '0', 'must be a whole number from 1 to 100000'],
    ['PAY_TO', '0x1234', 'must be an address (0x followed by 40 hex digits)'],
    ['PAY_TO', PAYEE.replace('dA6B', 'da6B'), 'has an invalid checksum: check for a typo'],
    ['PAY_TO', `0x${'0'.repeat(40)}`, 'must not be the zero address'],
    ['PAY_TO', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'must not be the address of the token'],
    ['NETWORK', 'eip155:4326', `must be one of ${NETWORKS.join(', ')}`],
    ['OWNERSHIP_PROOFS', `${PROOF},0x12`, 'must be signatures of 0x and 130 hex digits'],
    ['FACILITATOR_KEYS', 'hush', 'must be host=key pairs, separated by commas'],
    ['FACILITATOR_KEYS', 'other.example=k', 'names other.example, but FACILITATOR_URL does not'],
    ['PRICE', '0.00', 'must be an amount in dollars with two decimals, from 0.01 to 999999.99'],
    ['WITNESS_IS_APART', 'true', 'must be yes or no'],
    ['WITNESS_IS_APART', 'yes', 'is yes, but WITNESS_PATH is not set, so the witness is beside the database'],
    ['TITLE', 'x'.repeat(41), 'must be 1 to 40 printable characters'],
    ['TITLE', 'Pixel\u200bWall', 'must be 1 to 40 printable characters'],
    ['PORT', '65536', 'must be a whole number from 0 to 65535'],
    ['PORT', '80.5', 'must be a whole number from 0 to 65535'],
    ['VERIFY_TIMEOUT_MS', '99', 'must be a whole number from 100 to 60000'],
    ['SETTLE_TIMEOUT_MS', '200001', 'must be a whole number from 100 to 200000'],
    ['RECONCILE_INTERVAL_MS', '0', 'must be a whole number from 100 to 600000'],
    ['DENY_PAYERS', `${PAYEE}, 0x12`, 'contains something other than an address'],
    ['DENY_PAYERS', '/none/denied.txt', 'names a file that cannot be read (ENOENT)'],
    ['HISTORY_DAYS', '0', 'must be a whole number from 1 to 3650'],
  ])('the setting %s=%s %s', (name, text, problem) => {
    expect(listProblems({ ...REQUIRED, [name]: text })).toEqual([`${name} ${problem}`])
  })

  test('the payee must not be the token of the configured network', () => {
    const token = { PAY_TO: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }
    expect(listProblems({ ...REQUIRED, ...token })).toEqual([])
    expect(listProblems({ ...REQUIRED, ...token, NETWORK: 'eip155:84532' })).toEqual([
      'PAY_TO must not be the address of the token',
    ])
  })

  test('setting only one of the Coinbase key ID and the Coinbase secret is an error', () => {
    for (const half of [{ CDP_API_KEY_ID: 'id' }, { CDP_API_KEY_SECRET: 'secret' }])
      expect(listProblems({ ...REQUIRED, ...half })).toEqual(['set CDP_API_KEY_ID and CDP_API_KEY_SECRET together'])
  })

  test('the error message about invalid settings never contains a secret', () => {
    const text = listProblems({ CDP_API_KEY_SECRET: 'hush', RPC_URL: 'wss://rpc.example/hush' }).join()
    expect(text).not.toContain('hush')
  })
})
