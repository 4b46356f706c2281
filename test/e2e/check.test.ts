import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { openSqlite } from '../../db/sqlite/open.ts'
import { findFreePort, startWall, type WallSettings } from '../../server/local/wall-process.ts'
import { startOddEndpoint } from '../support/chain/odd-endpoint.ts'
import { runCommand } from '../support/e2e/command.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { mayMount } from '../support/scratch-folder.ts'
import { reportSkipped } from '../support/skipped.ts'

// Goal: `check` reports anything that would stop a wall from selling, and a wall that cannot start exits with a reason.
// Method: the real command and the real process, with a chain and a facilitator that misbehave.

let around: Surroundings
let settings: WallSettings
beforeAll(async () => {
  around = await startSurroundings()
  settings = { ...(await around.createFileSettings()), METRICS_PORT: String(await findFreePort()) }
})
afterAll(() => around.stop())

const runCheck = async (changes: WallSettings = {}) => {
  const { out, status } = await runCommand({ ...settings, ...changes }, around.folder, 'check')
  return { status, lines: out.trim().split('\n') }
}

const runCheckWith = async (changes: WallSettings) => {
  const { status, lines } = await runCheck(changes)
  return { status, wrong: lines.filter((line) => line.startsWith('WRONG')) }
}

/** The lines that `check` prints if everything works. */
const listOkLines = () => {
  const [endpoint, facilitator] = [around.network.rpcUrl, around.facilitator.url].map((url) => new URL(url).host)
  return [
    'ok     settings',
    'ok     ports',
    'ok     folders',
    'ok     disk',
    'ok     database (sqlite)',
    'ok     chain eip155:8453',
    `ok     chain-endpoint ${endpoint}`,
    'ok     clock machine',
    `ok     facilitator ${facilitator}`,
  ]
}

test('before the first start, check reports ok for everything that works', async () => {
  expect(await runCheck()).toEqual({ status: 0, lines: listOkLines() })
})

test('while the wall runs, check reports ok for everything but the ports, which the wall itself uses', async () => {
  const wall = await around.startArmedWall(settings)
  try {
    expect(await runCheck()).toEqual({ status: 0, lines: listOkLines().filter((line) => line !== 'ok     ports') })
  } finally {
    await wall.stop()
  }
})

test('check reports a facilitator that cannot verify payments, an endpoint of another chain, a port in use and a missing folder', async () => {
  const host = new URL(around.facilitator.url).host
  const endpoint = startOddEndpoint(around.network.rpcUrl, { eth_chainId: () => ({ result: '0x1' }) })
  const chain = new URL(endpoint.url).host
  around.facilitator.verify.setDefault('error-500')
  const port = new URL(around.network.rpcUrl).port
  const missing = join(around.folder, 'none')
  expect(
    await runCheckWith({ METRICS_PORT: port, WITNESS_PATH: join(missing, 'witness'), RPC_URL: endpoint.url }),
  ).toEqual({
    status: 1,
    wrong: [
      `WRONG  ports: cannot listen on METRICS_PORT: another program is listening on 127.0.0.1, port ${port} (EADDRINUSE)`,
      `WRONG  folders: WITNESS_PATH: the folder ${missing} does not exist`,
      `WRONG  chain-endpoint ${chain}: the chain endpoint ${chain} serves eip155:1, not eip155:8453`,
      `WRONG  facilitator ${host}: the facilitator at ${host} returns status 500 for /verify`,
    ],
  })
  around.facilitator.verify.setDefault('honest')
  await endpoint.stop()
})

test('check reports an invalid setting', async () => {
  expect(await runCheckWith({ PRICE: 'free' })).toMatchObject({
    status: 1,
    wrong: ['WRONG  settings: PRICE must be an amount in dollars with two decimals, from 0.01 to 999999.99'],
  })
})

test('check reports a database file that is not a database', async () => {
  const path = join(around.folder, 'letter.sqlite')
  await Bun.write(path, 'Dear reader, this is not a database. '.repeat(100))
  const wrong = [expect.stringMatching(/^WRONG {2}database \(sqlite\): .*damaged/)]
  expect(await runCheckWith({ DATABASE_PATH: path })).toEqual({ status: 1, wrong })
})

test('check reports every incomplete, malformed or missing setting', async () => {
  const { host } = new URL(around.facilitator.url)
  const none = join(around.folder, 'none')
  const denied = join(around.folder, 'denied')
  await Bun.write(denied, '# nobody yet\nAda\n')
  const listWrongSettings = async (changes: WallSettings) =>
    (await runCheckWith(changes)).wrong.map((line) => line.replace('WRONG  settings: ', ''))
  expect(
    await listWrongSettings({
      CDP_API_KEY_ID: 'id',
      DENY_PAYERS: none,
      FACILITATOR_KEYS: 'api.circle.com=KEY',
      HISTORY_DAYS: '0',
      METRICS_HOST: 'http://127.0.0.1',
      OWNERSHIP_PROOFS: '0x12',
      WEBHOOK_SECRET_FILE: none,
      WEBHOOK_URL: 'https://ops.example/hook',
      WITNESS_IS_APART: 'yes',
    }),
  ).toEqual([
    'OWNERSHIP_PROOFS must be signatures of 0x and 130 hex digits',
    'FACILITATOR_KEYS names api.circle.com, but FACILITATOR_URL does not',
    'set CDP_API_KEY_ID and CDP_API_KEY_SECRET together',
    'WEBHOOK_SECRET_FILE names a file that cannot be read (ENOENT)',
    'WITNESS_IS_APART is yes, but WITNESS_PATH is not set, so the witness is beside the database',
    'METRICS_HOST must be an IP address or host name of this machine, without a port',
    'HISTORY_DAYS must be a whole number from 1 to 3650',
    'DENY_PAYERS names a file that cannot be read (ENOENT)',
  ])
  expect(
    await listWrongSettings({
      CDP_API_KEY_ID_FILE: none,
      DENY_PAYERS: denied,
      FACILITATOR_KEYS: host,
      WEBHOOK_URL: 'https://ops.example/hook',
      WITNESS_IS_APART: 'true',
    }),
  ).toEqual([
    'FACILITATOR_KEYS must be host=key pairs, separated by commas',
    'CDP_API_KEY_ID_FILE names a file that cannot be read (ENOENT)',
    'set WEBHOOK_URL and WEBHOOK_SECRET together',
    'WITNESS_IS_APART must be yes or no',
    `DENY_PAYERS contains something other than an address in line 2 of ${denied}`,
  ])
})

const WEBHOOK_SECRET = `whsec_${'A'.repeat(32)}`

test('check reports a webhook that rejects the notice', async () => {
  using receiver = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(null, { status: 500 }) })
  const { href, host } = receiver.url
  expect((await runCheckWith({ WEBHOOK_SECRET, WEBHOOK_URL: href })).wrong).toEqual([
    `WRONG  webhook ${host}: it returned status 500`,
  ])
})

test('check reports a webhook that cannot be reached', async () => {
  expect((await runCheckWith({ WEBHOOK_SECRET, WEBHOOK_URL: 'http://127.0.0.1:1' })).wrong).toEqual([
    'WRONG  webhook 127.0.0.1:1: cannot be reached',
  ])
})

/** Creates the database of a wall on a network, which has no sales; returns its path. */
const createDatabase = async (file: string, network: `${string}:${string}` = 'eip155:8453') => {
  const path = join(around.folder, file)
  ;(await openSqlite(path, network)).close()
  return path
}

/** Creates the database of a wall without sales, and the witness of a wall with sales; returns the settings. */
const createOlderDatabase = async (name: string) => {
  const witness = join(around.folder, `${name}.witness`)
  await Bun.write(witness, JSON.stringify({ change: 7, payment: 9, height: '5', payees: [] }))
  return { DATABASE_PATH: await createDatabase(`${name}.sqlite`), WITNESS_PATH: witness }
}

test('check reports nothing about a new database whose witness does not exist yet', async () => {
  const settings = {
    DATABASE_PATH: await createDatabase('new.sqlite'),
    WITNESS_PATH: join(around.folder, 'new.witness'),
  }
  expect((await runCheckWith(settings)).wrong).toEqual([])
})

test('check reports a database that is older than its witness', async () => {
  expect((await runCheckWith(await createOlderDatabase('older'))).wrong).toEqual([
    expect.stringMatching(/^WRONG {2}database \(sqlite\): .*older than/),
  ])
})

test('check reports a database that was moved to another location, and not that it is older than its witness', async () => {
  const settings = await createOlderDatabase('moved')
  await Bun.write(`${settings.DATABASE_PATH}.moved`, 'has moved to elsewhere')
  expect((await runCheckWith(settings)).wrong).toEqual([
    expect.stringMatching(/^WRONG {2}database \(sqlite\): .*moved to elsewhere/),
  ])
})

test('check reports a database that belongs to another network', async () => {
  expect((await runCheckWith({ DATABASE_PATH: await createDatabase('other.sqlite', 'eip155:84532') })).wrong).toEqual([
    expect.stringMatching(/network eip155:84532/),
  ])
})

test.skipIf(reportSkipped('permission to mount a disk', mayMount))(
  'check reports a disk that is nearly full',
  async () => {
    const disk = join(around.folder, 'small')
    await Bun.$`mkdir ${disk} && mount -t tmpfs -o size=32m none ${disk}`
    try {
      const small = { DATABASE_PATH: join(disk, 'wall.sqlite') }
      expect(await runCheckWith(small)).toEqual({ status: 1, wrong: ['WRONG  disk: the disk is nearly full'] })
    } finally {
      await Bun.$`umount ${disk}`
    }
  },
)

const findUsedPort = () => new URL(around.network.rpcUrl).port

test.each([
  [
    'listen on PORT',
    () => ({ PORT: findUsedPort() }),
    /cannot listen on PORT: another program is listening on 127\.0\.0\.1/,
  ],
  [
    'listen on METRICS_PORT',
    () => ({ METRICS_PORT: findUsedPort() }),
    /cannot listen on METRICS_PORT: another program/,
  ],
  ['listen on HOST', () => ({ HOST: '192.0.2.1' }), /192\.0\.2\.1 is not an address of this machine; check HOST/],
  [
    'store its files',
    () => ({ DATABASE_PATH: join(around.folder, 'none', 'wall.sqlite') }),
    /DATABASE_PATH: the folder .* does not exist/,
  ],
])(
  'a wall that cannot %s prints the reason and exits with status 78 before it serves any request',
  async (_, change, words) => {
    const { err, out, status } = await runCommand({ ...settings, ...change() }, around.folder, 'serve')
    expect([status, out]).toEqual([78, ''])
    expect(err).toMatch(words)
    expect(err).not.toMatch(/^\s+at /m)
  },
)

test('a program that starts a wall gets the reason if the wall cannot start', async () => {
  await expect(startWall({ ...settings, HOST: '192.0.2.1' })).rejects.toThrow(/HOST/)
})

const HINT = '; set FACILITATOR_KEYS, or CDP_API_KEY_ID and its secret'

/** Starts a facilitator that needs an API key, and returns 401 without it. */
const startGuardedFacilitator = () =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (request.headers.get('authorization') !== 'Bearer KEY:id:secret') return new Response(null, { status: 401 })
      const { pathname } = new URL(request.url)
      const { method } = request
      return await fetch(around.facilitator.url + pathname, {
        method,
        body: method === 'POST' ? await request.text() : null,
      })
    },
  })

test('a bearer key is sent to its facilitator', async () => {
  using guarded = startGuardedFacilitator()
  const { host, href: FACILITATOR_URL } = guarded.url
  expect(await runCheckWith({ FACILITATOR_URL, FACILITATOR_KEYS: `${host}=KEY:id:secret` })).toEqual({
    status: 0,
    wrong: [],
  })
})

test.each([
  ['that the facilitator rejects', (host: string) => ({ FACILITATOR_KEYS: `${host}=KEY` })],
  ['that is missing', () => ({})],
])('check reports a bearer key %s', async (_, chooseKeys) => {
  using guarded = startGuardedFacilitator()
  const { host, href: FACILITATOR_URL } = guarded.url
  expect(await runCheckWith({ FACILITATOR_URL, ...chooseKeys(host) })).toEqual({
    status: 1,
    wrong: [`WRONG  facilitator ${host}: the facilitator at ${host} rejects our API key, or needs one (401)${HINT}`],
  })
})

test('check reports a proof of ownership that PAY_TO did not sign for the address of this wall', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const baseUrl = new URL(settings['BASE_URL'] ?? '').origin
  const signProof = (message: string) => owner.signMessage({ message })
  const own = { PAY_TO: owner.address, OWNERSHIP_PROOFS: await signProof(baseUrl) }
  expect((await runCheck(own)).lines).toContain('ok     ownership proof 1')
  expect(
    await runCheckWith({ ...own, OWNERSHIP_PROOFS: `${own.OWNERSHIP_PROOFS},${await signProof(`${baseUrl}/`)}` }),
  ).toEqual({
    status: 1,
    wrong: [`WRONG  ownership proof 2: it is not a signature of ${baseUrl} by PAY_TO; sign that text again`],
  })
})
