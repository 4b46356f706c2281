import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort, type WallProcess, type WallSettings } from '../../server/local/wall-process.ts'
import { type OddEndpoint, type Rule, startOddEndpoint } from '../support/chain/odd-endpoint.ts'
import { buyBlock, get, sign } from '../support/e2e/buyer.ts'
import { type JournalEntry, journalOf } from '../support/e2e/read-wall.ts'
import { QUICK_WALL, startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { cutProxy, type CutProxy } from '../support/postgres/cut-proxy.ts'
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts'
import { healthOf } from '../support/service/client.ts'
import { eventually, waitUntil } from '../support/wait.ts'

// Goal: every outage is told by name, once, with its reason; the wall is not ready to sell while it lasts, goes on answering
// readers and supervisors, and is ready again by itself. Method: real processes, and each dependency taken away from them.

let around: Surroundings
beforeAll(async () => {
  around = await startSurroundings({ BASE_URL: 'http://127.0.0.1' })
})
afterAll(() => around.stop())
type ProbeAnswer = {
  readonly ready: boolean
  readonly reasons: readonly string[]
  readonly dependencies: readonly { readonly kind: string; readonly name: string; readonly state: string }[]
}

/** What a path of the wall's tells supervisors. */
async function probe(
  { url }: WallProcess,
  path: string,
): Promise<{ readonly status: number; readonly body: ProbeAnswer }> {
  const answer = await fetch(url + path)
  return { status: answer.status, body: (await answer.json()) as ProbeAnswer }
}

/** Sees an outage through: begun by `begin`, told, and over after `end`. */
async function seeThrough(
  wall: WallProcess,
  { dependency, reason, stops = true }: { dependency: string; reason: RegExp; stops?: boolean },
  begin: () => unknown,
  end: () => unknown,
): Promise<void> {
  await waitUntil(async () => (await probe(wall, '/readyz')).status === 200)
  const before = journalOf(wall).length
  const lines = (event: string) =>
    journalOf(wall)
      .slice(before)
      .filter((line) => line.event === event)
  await begin()
  const [alert] = await eventually(async () => (lines('outage').length > 0 ? lines('outage') : undefined))
  expect(alert).toMatchObject({ level: 'alert', dependency, reason: expect.stringMatching(reason) })
  if (stops) {
    const { body } = await eventually(async () => {
      const answer = await probe(wall, '/readyz')
      return answer.status === 503 ? answer : undefined
    })
    expect(body).toMatchObject({ ready: false, reasons: [expect.stringMatching(reason)] })
    expect(body.dependencies).toContainEqual(expect.objectContaining({ kind: dependency, state: 'down' }))
    // Health is told by the next probe.
    await eventually(async () => (await healthOf(wall)).railError ?? undefined)
  } else expect((await probe(wall, '/readyz')).status).toBe(200)
  // A process is not to be ended, nor readers sent away, for what is not its fault.
  expect((await probe(wall, '/livez')).status).toBe(200)
  expect((await probe(wall, '/readyz/reads')).status).toBe(200)
  await end()
  await waitUntil(() => lines('outage-over').length > 0)
  await waitUntil(async () => (await probe(wall, '/readyz')).status === 200)
  expect(lines('outage')).toHaveLength(1)
  expect(lines('outage-over')).toEqual([expect.objectContaining({ level: 'note', dependency })])
}

describe('a wall on a file', () => {
  type Mode = 'honest' | 'refuses' | 'hangs' | 'hangs in verify' | 'takes another network'
  let mode: Mode = 'honest'
  let facilitator: ReturnType<typeof Bun.serve>
  const serve = (port: number) =>
    Bun.serve({
      hostname: '127.0.0.1',
      port,
      idleTimeout: 0,
      fetch: async (request) => {
        if (mode === 'refuses') return new Response('{}', { status: 401 })
        if (mode === 'hangs') return await new Promise<Response>(() => {})
        if (mode === 'hangs in verify' && request.url.endsWith('/verify')) return await new Promise<Response>(() => {})
        if (mode === 'takes another network') return Response.json({ kinds: [] })
        return await around.network.askFacilitator(request)
      },
    })
  const rules: Record<string, Rule> = {}
  let endpoint: OddEndpoint
  let wall: WallProcess
  beforeAll(async () => {
    facilitator = serve(0)
    endpoint = startOddEndpoint(around.network.rpcUrl, rules)
    wall = await around.startArmed({
      FACILITATOR_URL: facilitator.url.href,
      RPC_URL: endpoint.url,
      DATABASE_PATH: around.databasePath,
    })
  })
  afterAll(async () => {
    await wall.stop()
    await facilitator.stop(true)
    await endpoint.stop()
  })

  test.each<[Mode, RegExp]>([
    ['refuses', /^the facilitator 127\.0\.0\.1:\d+ refuses our keys \(401\)$/],
    ['hangs', /^the facilitator 127\.0\.0\.1:\d+ does not answer$/],
    ['takes another network', /^the facilitator 127\.0\.0\.1:\d+ does not take eip155:8453$/],
  ])('names a facilitator that %s', async (how, reason) => {
    const [begin, end] = [() => (mode = how), () => (mode = 'honest')]
    await seeThrough(wall, { dependency: 'facilitator', reason }, begin, end)
  })

  test('names a facilitator that answers what it takes and hangs when it is to verify, as soon as a buyer meets it', async () => {
    const payer = await around.wallet()
    await seeThrough(
      wall,
      {
        dependency: 'facilitator',
        reason: /^the facilitator 127\.0\.0\.1:\d+ does not answer when it is to verify$/,
      },
      async () => {
        mode = 'hangs in verify'
        expect((await get(wall, 'next', await sign(wall, payer))).status).toBe(502)
      },
      () => (mode = 'honest'),
    )
  })

  test('names a facilitator that is gone', async () => {
    const { port = 0 } = facilitator
    const expected = { dependency: 'facilitator', reason: /cannot be connected to$/ }
    await seeThrough(
      wall,
      expected,
      () => facilitator.stop(true),
      () => {
        facilitator = serve(port)
      },
    )
  })

  test.each<['hang' | 'busy', RegExp]>([
    ['hang', /^the chain endpoint 127\.0\.0\.1:\d+ does not answer$/],
    ['busy', /^the chain endpoint 127\.0\.0\.1:\d+ takes no calls for now \(429\)$/],
  ])('names a chain endpoint that is to %s', async (how, reason) => {
    await seeThrough(
      wall,
      { dependency: 'chain-endpoint', reason },
      () => {
        rules['*'] = () => how
      },
      () => {
        delete rules['*']
      },
    )
  })
})

const isRoot = process.getuid?.() === 0

test.if(isRoot)(
  'a disk that fills up is told of before it is full, and a full one by name; reads go on, and so do sales once there is room',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-full-'))
    await Bun.$`mount -t tmpfs -o size=96m none ${folder}`
    const fill = (name: string, megabytes: number) =>
      writeFile(join(folder, name), Buffer.alloc(megabytes * 1024 * 1024)).catch(() => {})
    const free = (name: string) => rm(join(folder, name), { force: true })
    const wall = await around.startArmed({ DATABASE_PATH: join(folder, 'wall.sqlite') })
    try {
      await seeThrough(
        wall,
        { dependency: 'disk', reason: /nearly full/, stops: false },
        () => fill('part', 40),
        () => free('part'),
      )
      await fill('part', 40)
      await waitUntil(() => journalOf(wall).at(-1)?.event === 'outage')
      await seeThrough(
        wall,
        { dependency: 'store-write', reason: /the disk is full/ },
        () => fill('rest', 96),
        () => free('rest'),
      )
      await buyBlock(wall, await around.wallet())
    } finally {
      await wall.stop()
      await Bun.$`umount ${folder}`
      await rm(folder, { recursive: true })
    }
  },
  { timeout: 90_000 },
)

describe('a wall on a server', () => {
  let server: PostgresServer
  let url: string
  let proxy: CutProxy
  let wall: WallProcess
  beforeAll(async () => {
    server = await startPostgres()
    url = server.url(await server.newDatabase())
    proxy = cutProxy(url)
    wall = await around.startArmed({ DATABASE_URL: proxy.url })
  }, 60_000)
  afterAll(async () => {
    await wall.stop()
    proxy.stop()
    await server.stop()
  }, 60_000)

  test.each<['breakDown' | 'freeze', RegExp]>([
    ['breakDown', /^the database (cannot be read|does not answer in time)$/],
    ['freeze', /^the database does not answer in time$/],
  ])('names a server that is away (%s)', async (how, reason) => {
    await seeThrough(wall, { dependency: 'store-read', reason }, proxy[how], proxy.mend)
  })

  // Of a server that somebody else lends nothing is changed.
  const isOurs = (Bun.env['TEST_DATABASE_URL'] ?? '') === ''

  /** Names the standbys that must have each commit. */
  async function standbys(names: string): Promise<void> {
    const admin = new SQL(url, { max: 1 })
    await admin.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await admin.unsafe('SELECT pg_reload_conf()')
    await admin.close()
  }

  test.if(isOurs)('names a standby that is missing', async () => {
    await seeThrough(
      wall,
      { dependency: 'standby', reason: /^no synchronous standby/ },
      () => standbys('missing'),
      () => standbys(''),
    )
  })

  /** Starts a wall that may have to wait for its database; its journal is read line by line. */
  async function startWaiting(settings: WallSettings) {
    const child = Bun.spawn([...QUICK_WALL], {
      cwd: around.folder,
      env: { PATH: Bun.env['PATH'] ?? '', ...around.settings, ...settings, PORT: String(await freePort()) },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const decoder = new TextDecoderStream()
    const words = child.stderr.pipeThrough(decoder).getReader()
    let rest = ''
    const line = async (): Promise<JournalEntry> => {
      while (!rest.includes('\n')) rest += (await words.read()).value ?? '{}\n'
      const end = rest.indexOf('\n')
      const first = JSON.parse(rest.slice(0, end)) as JournalEntry
      rest = rest.slice(end + 1)
      return first
    }
    return { child, line }
  }

  test.if(isOurs)(
    'that does not let a wall in at its start is told of, and again when it does; who asks it to end meanwhile is heard',
    async () => {
      const settings = { DATABASE_URL: server.url(await server.newDatabase()) }
      await standbys('missing')
      const [patient, other] = await Promise.all([startWaiting(settings), startWaiting(settings)])
      try {
        for (const { line } of [patient, other]) expect(await line()).toMatchObject({ level: 'alert', event: 'outage' })
        other.child.kill('SIGTERM')
        expect(await other.child.exited).toBe(0)
        await standbys('')
        expect(await patient.line()).toMatchObject({ level: 'note', event: 'outage-over', dependency: 'store-write' })
        patient.child.kill('SIGTERM')
        expect(await patient.child.exited).toBe(0)
      } finally {
        for (const { child } of [patient, other]) child.kill('SIGKILL')
        await standbys('')
      }
    },
  )
})

test('a wall that is asked to end is ready for nobody, and serves whoever comes until balancers had time to notice', async () => {
  const wall = await around.startArmed({ DATABASE_PATH: join(around.folder, 'drained.sqlite'), DRAIN_MS: '600000' })
  expect((await probe(wall, '/readyz/reads')).status).toBe(200)
  process.kill(wall.pid, 'SIGTERM')
  for (const path of ['/readyz', '/readyz/reads'])
    expect(
      await eventually(async () => {
        const answer = await probe(wall, path)
        return answer.status === 503 ? answer.body.reasons : undefined
      }),
    ).toEqual(['the wall is being stopped'])
  expect((await probe(wall, '/livez')).status).toBe(200)
  await buyBlock(wall, await around.wallet())
  // A second signal ends the wait, and cuts nothing off.
  expect(await wall.stop()).toBe(0)
})
