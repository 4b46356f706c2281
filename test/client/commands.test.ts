import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canvasWhen, eventually, readFeed, startWorld, type World } from '../e2e/world.ts'

// Goal: the commands do what their help says, and their exit status tells what became of the money. Method: the command as it
// is typed, against the real wall, chain and facilitator.

const MAIN = join(import.meta.dir, '../../server/client/cli/main.ts')

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pixel-wall-commands-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Env = Readonly<Record<string, string>>

const start = (args: readonly string[], env: Env = {}) =>
  Bun.spawn([process.execPath, MAIN, ...args], {
    env: { PATH: Bun.env['PATH'] ?? '', PIXEL_WALL_URL: world.url, PIXEL_WALL_HOME: join(folder, 'state'), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

/** Runs a command to its end. */
async function run(args: readonly string[], env?: Env) {
  const child = start(args, env)
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

const told = async (args: readonly string[], env?: Env) => JSON.parse((await run([...args, '--json'], env)).out)

/** A picture of so many blocks: a piece of the wall itself. */
async function picture(cols: number): Promise<string> {
  const path = join(folder, 'picture.png')
  await Bun.write(path, await fetch(`${world.url}/wall.png?cols=${cols}&rows=1`))
  return path
}

describe('paint', () => {
  test('says what a picture costs, and buys nothing beyond what is allowed', async () => {
    const { privateKey } = await world.wallet(2)
    const refused = await run(['paint', await picture(2), '--size', '2x1'], { PRIVATE_KEY: privateKey })
    expect([refused.code, refused.err]).toEqual([2, 'usage: 2 blocks cost 2.00 USDC. Allow it with --max 2.00.\n'])
    expect(await readFeed(world)).toEqual([])
  })

  test('buys free room for a picture and paints it; the same again repaints what is its own', async () => {
    const wallet = await world.wallet(3)
    const env = { PRIVATE_KEY: wallet.privateKey }
    const args = ['paint', await picture(2), '--size', '2x1', '--max', '2']
    const first = await told(args, env)
    expect(first).toEqual({ at: expect.any(String), w: 2, h: 1, bought: 2, repainted: 0 })
    const again = await told([...args, '--at', first.at], env)
    expect(again).toEqual({ ...first, bought: 0, repainted: 2 })
    expect(await world.network.balanceOf(wallet.address)).toBe(1_000_000n)
  })

  test('killed between two blocks it goes on where it was, and pays for no block twice', async () => {
    const wallet = await world.wallet(2)
    const env = { PRIVATE_KEY: wallet.privateKey }
    const args = ['paint', await picture(2), '--size', '2x1', '--max', '2']
    const before = (await readFeed(world)).length
    const calls = world.facilitator.settle.count()
    world.facilitator.settle.next('honest', 'hang-after')
    const killed = start(args, env)
    await world.facilitator.settle.arrived(calls + 2)
    killed.kill('SIGKILL')
    await killed.exited
    const { at, bought, repainted } = await told(args, env)
    expect([bought, repainted]).toEqual([0, 2])
    const sales = (await readFeed(world)).slice(before)
    expect(sales.map(({ coord }) => coord)).toContain(at)
    expect([sales.length, await world.network.balanceOf(wallet.address)]).toEqual([2, 0n])
  })

  test('refuses a place where others are, before anything is paid', async () => {
    const [owner, wallet] = [await world.wallet(2), await world.wallet(2)]
    await told(['buy', '11,0'], { PRIVATE_KEY: owner.privateKey })
    await canvasWhen(world, ({ blocks }) => blocks.some(({ i }) => i === 11))
    const args = ['paint', await picture(2), '--size', '2x1', '--at', '10,0', '--max', '2']
    expect(await told(args, { PRIVATE_KEY: wallet.privateKey })).toMatchObject({ error: 'block_taken' })
    expect(await world.network.balanceOf(wallet.address)).toBe(2_000_000n)
  })
})

describe('the painter', () => {
  test('is made with the first purchase, is named in each, and repaints without the key that paid', async () => {
    const [one, other] = [await world.wallet(1), await world.wallet(1)]
    const { block } = await told(['buy'], { PRIVATE_KEY: one.privateKey })
    const second = await told(['buy'], { PRIVATE_KEY: other.privateKey })
    const key = Bun.file(join(folder, 'state/painter.key'))
    expect((await key.stat()).mode & 0o777).toBe(0o600)
    for (const coord of [block, second.block])
      expect(await told(['repaint', coord, '--message', 'by the painter'])).toMatchObject({
        updated: true,
        deed: { message: 'by the painter' },
      })
  })

  test('is not asked for blocks that name another: those need the key that paid', async () => {
    const { privateKey } = await world.wallet(2)
    const painter = `0x${'12'.repeat(20)}`
    const { block } = await told(['buy', '--painter', painter], { PRIVATE_KEY: privateKey })
    const args = ['repaint', block, '--message', 'by the owner']
    expect(await told(args)).toMatchObject({ error: 'usage' })
    expect(await told(args, { PRIVATE_KEY: privateKey })).toMatchObject({ updated: true })
  })
})

describe('watch', () => {
  test('tells of a sale as it happens, and of those it is asked to begin after', async () => {
    const watching = start(['watch', '--after', '0', '--json'])
    const lines: { kind: string; coord?: string }[] = []
    const read = (async () => {
      for await (const chunk of watching.stdout.pipeThrough(new TextDecoderStream()))
        for (const line of chunk.split('\n').filter((text) => text !== '')) lines.push(JSON.parse(line))
    })()
    const { privateKey } = await world.wallet(1)
    const { block } = await told(['buy'], { PRIVATE_KEY: privateKey })
    await eventually(async () => lines.find(({ kind, coord }) => kind === 'sale' && coord === block))
    watching.kill('SIGTERM')
    await read
  })
})

describe('the key', () => {
  test('may come from a file', async () => {
    const { privateKey } = await world.wallet(1)
    await Bun.write(join(folder, 'key'), `${privateKey}\n`)
    expect(await told(['buy', '--key-file', join(folder, 'key')])).toMatchObject({ owner: 'you' })
  })

  const secret = '0xabcdef'
  test.each([
    ['is missing', ['buy'], {}],
    ['is none, and is not repeated', ['buy'], { PRIVATE_KEY: secret }],
    ['is in a file that is not there', ['buy', '--key-file', 'nowhere'], {}],
    ['is an argument', ['buy', '--key', secret], {}],
  ] as const)('that %s is a wrong call', async (_, args, env) => {
    const { code, out, err } = await run(args, env)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^usage: /)
    expect(err).not.toContain(secret)
  })
})

describe('the exit status', () => {
  const key = { PRIVATE_KEY: `0x${'1'.repeat(64)}` }

  test.each([
    ['0 with help', ['buy', '--help'], 0],
    ['0 with the list of commands', ['--help'], 0],
    ['1 when the wall refuses', ['buy', '--name', 'x'.repeat(41)], 1],
    ['2 without a command', [], 2],
    ['2 for a command there is none of', ['sell'], 2],
    ['2 for an option there is none of', ['buy', '--nmae', 'Ada'], 2],
    ['2 for too many arguments', ['buy', 'next', 'next'], 2],
    ['2 for an address that is none', ['look', '--url', 'wall'], 2],
    ['4 when nobody answers', ['look', '--url', 'http://127.0.0.1:1'], 4],
  ] as const)('is %s', async (_, args, status) => {
    const { code, out, err } = await run(args, key)
    expect([status, code, out + err]).toEqual([status, status, expect.any(String)])
  })

  test('is 3 while the outcome of a payment is not known', async () => {
    const { privateKey } = await world.wallet(1)
    using doubtful = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        if (!request.headers.has('payment-signature')) return await fetch(`${world.url}/blocks/next`, request)
        const body = { error: 'settlement_unknown', message: 'It is not known yet.' }
        return Response.json(body, { status: 503, headers: { 'retry-after': '0' } })
      },
    })
    const { code, err } = await run(['buy', '--url', doubtful.url.href], { PRIVATE_KEY: privateKey })
    expect(code).toBe(3)
    expect(err).toStartWith('503 settlement_unknown: It is not known yet. The signed payment is kept.')
  })
})
