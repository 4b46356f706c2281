import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetchBlock } from '../../support/e2e/buyer.ts'
import { shareWorld, type World } from '../../support/e2e/world.ts'
import { readOutput } from '../../support/output-of.ts'
import { createFlatPng } from '../../support/picture-files.ts'
import { readBody, createClient } from '../../support/service/client.ts'
import { waitFor } from '../../support/wait.ts'

// Goal: the commands do what their help says, and their exit status shows the outcome of the payment. Method: the
// command as a user types it, with the real wall, chain and facilitator.

const MAIN = join(import.meta.dir, '../../../server/client/cli/main.ts')

let world: World
shareWorld((opened) => void (world = opened))

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pixel-wall-commands-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Env = Readonly<Record<string, string>>

const startCommand = (args: readonly string[], env: Env = {}) =>
  Bun.spawn([process.execPath, MAIN, ...args], {
    env: { PATH: Bun.env['PATH'] ?? '', PIXEL_WALL_URL: world.url, PIXEL_WALL_HOME: join(folder, 'state'), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

/** Runs a command until it ends; returns its output and exit code. */
const runCommand = (args: readonly string[], env?: Env) => readOutput(startCommand(args, env))

const runForJson = async (args: readonly string[], env?: Env) =>
  JSON.parse((await runCommand([...args, '--json'], env)).out)

/** Writes a picture of one colour; returns its path. */
async function createPicture(colour = '#ff0000'): Promise<string> {
  const path = join(folder, 'picture.png')
  await Bun.write(path, createFlatPng(64, 32, colour))
  return path
}

const GREEN = '30'

/** The different colours of a block, as palette indexes separated by commas. */
async function readColours(coord: string): Promise<string> {
  const { pixels } = (await (await fetchBlock(world, coord)).json()) as { pixels: string }
  return [...new Set(Uint8Array.fromBase64(pixels))].join()
}

describe('an area', () => {
  test('an area ordered without a position is placed on the open space nearest the centre', async () => {
    const { privateKey } = await world.createFundedWallet(2)
    const space = await readBody(createClient(world).api.space.get({ query: { w: 2, h: 1, limit: 1 } }))
    const { area } = await runForJson(['buy', '--size', '2x1', '--max', '2'], { PRIVATE_KEY: privateKey })
    expect(area).toBe(`${space.spaces[0]?.coord},2x1`)
  })

  test('if an area costs more than the maximum, nothing is signed, and the error states the price', async () => {
    const { privateKey, address } = await world.createFundedWallet(2)
    for (const args of [
      ['buy', '--size', '2x1'],
      ['paint', await createPicture(), '--size', '2x1'],
    ]) {
      const refused = await runCommand(args, { PRIVATE_KEY: privateKey })
      expect([refused.code, refused.err]).toEqual([
        2,
        '402 above_max: 2 blocks cost 2.00 USDC, and the maximum is 1.00. Nothing was signed or paid. Allow it with --max 2.00 (maxDollars in a program).\n',
      ])
    }
    expect(await world.network.readBalance(address)).toBe(2_000_000n)
  })

  test('with --rpc, a payment that the wallet cannot afford is not signed, and the error states the balance and the price', async () => {
    const { privateKey, address } = await world.createFundedWallet(1)
    const buy = ['buy', '--size', '2x1', '--max', '2', '--rpc']
    const refused = await runCommand([...buy, world.network.rpcUrl], { PRIVATE_KEY: privateKey })
    expect([refused.code, refused.err]).toEqual([
      1,
      `insufficient_funds: ${address} holds 1.00 USDC and needs 2.00 USDC on Base. Nothing was signed or paid. Fund it, then buy again.\n`,
    ])
    const unasked = await runCommand([...buy, 'http://127.0.0.1:1'], { PRIVATE_KEY: privateKey })
    expect([unasked.code, unasked.err]).toEqual([
      4,
      'chain_unavailable: Cannot check the chain: no endpoint responds (127.0.0.1:1). Nothing was paid.\n',
    ])
    const bought = await runCommand(['buy', '--rpc', world.network.rpcUrl], { PRIVATE_KEY: privateKey })
    expect([bought.code, await world.network.readBalance(address)]).toEqual([0, 0n])
  })

  test('the painter that a purchase names repaints the bought area with one signature', async () => {
    const { privateKey } = await world.createFundedWallet(4)
    await runForJson(['buy', '--size', '2x2', '--at', '30,10', '--max', '4'], { PRIVATE_KEY: privateKey })
    const args = ['repaint', '30,10,2x2', '--image', await createPicture('#00ff00'), '--message', 'green']
    expect(await runForJson(args)).toEqual({ updated: true, area: '30,10,2x2', blocks: 4 })
    expect(await readColours('31,11')).toBe(GREEN)
    expect(await (await fetchBlock(world, '30,11')).json()).toMatchObject({ message: 'green' })
  })
})

describe('paint', () => {
  test('paint buys open space for a picture with one payment, and the same command with the position of that space repaints it for free', async () => {
    const wallet = await world.createFundedWallet(3)
    const env = { PRIVATE_KEY: wallet.privateKey }
    const args = ['--size', '2x1', '--max', '2']
    const { area, blocks, deed } = await runForJson(['paint', await createPicture(), ...args], env)
    expect([blocks.length, deed.price.amount]).toEqual([2, '2.00'])
    const again = await runForJson(['paint', await createPicture('#00ff00'), ...args, '--at', blocks[0]], env)
    expect(again).toEqual({ updated: true, area, blocks: 2 })
    expect(await readColours(blocks[1])).toBe(GREEN)
    expect(await world.network.readBalance(wallet.address)).toBe(1_000_000n)
  })

  test('if --max covers both purchases, paint first finishes an interrupted purchase and reports it, and then buys space for another picture', async () => {
    const wallet = await world.createFundedWallet(6)
    const env = { PRIVATE_KEY: wallet.privateKey }
    const { settle } = world.facilitator
    const calls = settle.countCalls()
    settle.queueFaults('hang-after')
    const killed = startCommand(['paint', await createPicture(), '--size', '2x1', '--max', '2'], env)
    await settle.waitForCall(calls + 1)
    killed.kill('SIGKILL')
    await killed.exited
    const { code, out, err } = await runCommand(
      ['paint', await createPicture(), '--size', '2x2', '--max', '6', '--json'],
      env,
    )
    const { blocks, finished } = JSON.parse(out)
    expect([code, blocks.length, finished[0].deed.price.amount]).toEqual([0, 4, '2.00'])
    expect(err).toMatch(/^Finished an earlier purchase: Area \d+,\d+,2x1 is yours/)
    expect(await world.network.readBalance(wallet.address)).toBe(0n)
  })

  test('paint rejects a position if the picture would cover blocks of other owners, and lists those blocks before anything is paid', async () => {
    const [owner, wallet] = [await world.createFundedWallet(2), await world.createFundedWallet(2)]
    await runForJson(['buy', '11,0'], { PRIVATE_KEY: owner.privateKey })
    const args = ['paint', await createPicture(), '--size', '2x1', '--at', '10,0', '--max', '2']
    expect(await runForJson(args, { PRIVATE_KEY: wallet.privateKey })).toEqual({
      error: 'block_taken',
      status: 409,
      message: expect.stringContaining('11,0'),
    })
    expect(await world.network.readBalance(wallet.address)).toBe(2_000_000n)
  })
})

describe('the painter', () => {
  test('purchases with two private keys name the same new painter, which can repaint both blocks without those keys', async () => {
    const [one, other] = [await world.createFundedWallet(1), await world.createFundedWallet(1)]
    const { block } = await runForJson(['buy'], { PRIVATE_KEY: one.privateKey })
    const second = await runForJson(['buy'], { PRIVATE_KEY: other.privateKey })
    const key = Bun.file(join(folder, 'state/painter.key'))
    expect((await key.stat()).mode & 0o777).toBe(0o600)
    for (const coord of [block, second.block])
      expect(await runForJson(['repaint', coord, '--message', 'by the painter'])).toMatchObject({
        updated: true,
        deed: { message: 'by the painter' },
      })
  })

  test('if a purchase names a painter whose key the client does not have, the client repaints only with the key that paid', async () => {
    const { privateKey } = await world.createFundedWallet(2)
    const painter = `0x${'12'.repeat(20)}`
    const { block } = await runForJson(['buy', '--painter', painter], { PRIVATE_KEY: privateKey })
    const args = ['repaint', block, '--message', 'by the owner']
    expect(await runForJson(args)).toMatchObject({ error: 'usage' })
    expect(await runForJson(args, { PRIVATE_KEY: privateKey })).toMatchObject({ updated: true })
  })
})

describe('a refused purchase', () => {
  test('a purchase that an empty wallet cannot pay stays open, and a later command with a lower --max does not pay for it', async () => {
    const { privateKey, address } = await world.createFundedWallet(0)
    const env = { PRIVATE_KEY: privateKey }
    const dear = ['buy', '--size', '4x3', '--at', '100,40', '--max', '12', '--json']
    const refused = await runCommand(dear, env)
    const result = JSON.parse(refused.out)
    expect([refused.code, result.charged, result.amount]).toEqual([3, 'unknown', '12.00'])
    expect(Date.parse(result.until)).toBeGreaterThan(Date.now())
    expect(result.message).toStartWith(`${address} holds 0.00 USDC and needs 12.00 USDC; fund it.`)
    expect(result.message).not.toContain('Not charged')
    await world.network.fund(address, 13)
    const cheap = await runCommand(['buy', 'next', '--max', '1.00', '--json'], env)
    const { deed, open } = JSON.parse(cheap.out)
    expect([cheap.code, deed.price.amount, open[0].error, open[0].amount]).toEqual([0, '1.00', 'not_resent', '12.00'])
    expect(await world.network.readBalance(address)).toBe(12_000_000n)
    const finished = await runCommand(dear, env)
    expect([finished.code, JSON.parse(finished.out).area]).toEqual([0, '100,40,4x3'])
    expect(await world.network.readBalance(address)).toBe(0n)
  })
})

test('buying a block or an area that already belongs to the buyer fails with already_yours', async () => {
  const { privateKey } = await world.createFundedWallet(3)
  const env = { PRIVATE_KEY: privateKey }
  await runCommand(['buy', '120,40'], env)
  await runCommand(['buy', '--size', '2x1', '--at', '122,40', '--max', '2'], env)
  for (const args of [
    ['buy', '120,40'],
    ['buy', '--size', '2x1', '--at', '122,40', '--max', '2'],
  ])
    expect(await runForJson(args, env)).toMatchObject({ error: 'already_yours' })
})

describe('mine', () => {
  test('the command mine lists each area as one entry, and shows the whole address of the wallet', async () => {
    const { privateKey, address } = await world.createFundedWallet(3)
    const env = { PRIVATE_KEY: privateKey }
    await runCommand(['buy', '120,42'], env)
    await runCommand(['buy', '--size', '2x1', '--at', '122,42', '--max', '2'], env)
    const { wallet, areas, blocks } = await runForJson(['mine'], env)
    expect([wallet, areas.map((it: { area: string }) => it.area), blocks.length]).toEqual([address, ['122,42,2x1'], 3])
    const { out } = await runCommand(['mine'], env)
    expect(out).toContain(`${address} owns 3 blocks.\n  area 122,42,2x1, paid in 0x`)
    expect(out).toContain('\n  120,42, paid in 0x')
    expect(out).not.toContain('123,42')
  })
})

describe('watch', () => {
  test('with --after, watch prints the sales after the given sale number, and new sales as they happen', async () => {
    const watching = startCommand(['watch', '--after', '0', '--json'])
    const lines: { kind: string; coord?: string }[] = []
    const read = (async () => {
      for await (const chunk of watching.stdout.pipeThrough(new TextDecoderStream()))
        for (const line of chunk.split('\n').filter((text) => text !== '')) lines.push(JSON.parse(line))
    })()
    const { privateKey } = await world.createFundedWallet(1)
    const { block } = await runForJson(['buy'], { PRIVATE_KEY: privateKey })
    await waitFor(async () => lines.find(({ kind, coord }) => kind === 'sale' && coord === block))
    watching.kill('SIGTERM')
    await read
  })

  test('watch reports that it is connected, or that nothing responds at the address', async () => {
    for (const [url, words] of [
      [world.url, 'Connected to '],
      ['http://127.0.0.1:1', 'Nothing responded at http://127.0.0.1:1. Trying again every 2 seconds.'],
    ] as const) {
      const watching = startCommand(['watch', '--url', url])
      const { value } = await watching.stderr.pipeThrough(new TextDecoderStream()).getReader().read()
      expect(value).toStartWith(words)
      watching.kill('SIGTERM')
      await watching.exited
    }
  })
})

describe('the key', () => {
  test('the private key can be read from a file', async () => {
    const { privateKey } = await world.createFundedWallet(1)
    await Bun.write(join(folder, 'key'), `${privateKey}\n`)
    expect(await runForJson(['buy', '--key-file', join(folder, 'key')])).toMatchObject({ owner: 'you' })
  })
})

describe('usage errors', () => {
  const secret = '0xabcdef'
  const key = { PRIVATE_KEY: `0x${'1'.repeat(64)}` }
  const area = ['buy', '--max', '400', '--size']
  test.each([
    ['an invalid size', [...area, '4'], key],
    ['an area of no blocks', [...area, '0x3'], key],
    ['an area of more than 400 blocks', [...area, '21x20'], key],
    ['an area that reaches beyond the wall', [...area, '2x1', '--at', '159,0'], key],
    ['an area at two positions', [...area, '2x1', 'next', '--at', '1,1'], key],
    ['an area and the pixels of a block', [...area, '2x1', '--px', '00'.repeat(100)], key],
    ['a missing key', ['buy'], {}],
    ['an invalid key', ['buy'], { PRIVATE_KEY: secret }],
    ['a key file that does not exist', ['buy', '--key-file', 'nowhere'], {}],
    ['a key as an argument', ['buy', '--key', secret], {}],
    ['an unknown option', ['buy', '--nmae', 'Ada'], key],
    ['too many arguments', ['buy', 'next', 'next'], key],
    ['a picture that does not exist', ['buy', '--image', 'missing.png'], key],
    ['a file that is not a picture', ['buy', '--image', MAIN], key],
    ['an invalid address', ['look', '--url', 'wall'], key],
  ] as const)('a command with %s exits with status 2, and the error does not repeat a secret', async (_, args, env) => {
    const { code, out, err } = await runCommand(args, env)
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
    ['0 with the version', ['--version'], 0],
    ['1 if the wall rejects the request', ['buy', '--name', 'x'.repeat(41)], 1],
    ['2 without a command', [], 2],
    ['2 for an unknown command', ['sell'], 2],
    ['4 if no server responds', ['look', '--url', 'http://127.0.0.1:1'], 4],
  ] as const)('the exit status is %s', async (_, args, status) => {
    const { code, out, err } = await runCommand(args, key)
    expect([status, code, out + err]).toEqual([status, status, expect.any(String)])
  })

  test('the exit status is 3 while the outcome of a payment is unknown', async () => {
    const { privateKey } = await world.createFundedWallet(1)
    using doubtful = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        if (!request.headers.has('payment-signature')) return await fetch(`${world.url}/blocks/next`, request)
        const body = { error: 'settlement_unknown', message: 'It is not known yet.' }
        return Response.json(body, { status: 503, headers: { 'retry-after': '0' } })
      },
    })
    const { code, out, err } = await runCommand(['buy', '--url', doubtful.url.href, '--json'], {
      PRIVATE_KEY: privateKey,
    })
    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({
      error: 'settlement_unknown',
      status: 503,
      charged: 'unknown',
      amount: '1.00',
      until: expect.stringMatching(/^20\d\d-/),
    })
    expect(err).toStartWith(
      'The last response was 503 settlement_unknown, which does not say what became of the payment.',
    )
    expect(err).toContain('sent again in 0 s (try 2 of 30)')
  })
})

test('the first line of the error names an unknown command, a missing file or a file that is not a picture', async () => {
  const readFirstErrorLine = async (...args: string[]) =>
    (await runCommand(args, { PRIVATE_KEY: `0x${'1'.repeat(64)}` })).err.split('\n')[0]
  expect(await readFirstErrorLine('sell')).toBe('usage: There is no command sell.')
  expect(await readFirstErrorLine('buy', '--image', 'missing.png')).toBe('usage: There is no file missing.png.')
  expect(await readFirstErrorLine('buy', '--image', MAIN)).toBe(
    `usage: The file ${MAIN} is not a picture: it must be a PNG or JPEG.`,
  )
  const { version } = await Bun.file(join(import.meta.dir, '../../../package.json')).json()
  expect((await runCommand(['--version'])).out).toBe(`${version}\n`)
})

test('text from a wall is printed with its control characters escaped', async () => {
  const evil = '\u001B]0;owned\u0007\u001B[2J\u202Etxt\r\nsecond line\u009B31m'
  using wall = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json({ error: `e${evil}`, message: `m${evil}` }, { status: 409 }),
  })
  const { code, out, err } = await runCommand(['buy', 'next', '--url', wall.url.href], {
    PRIVATE_KEY: `0x${'1'.repeat(64)}`,
  })
  expect([out, code]).toEqual(['', 1])
  expect(err).toStartWith(String.raw`409 e\u001b]0;owned\u0007\u001b[2J\u202etxt\u000d`)
  expect(err).toMatch(/^[ -~\n]*$/)
})
