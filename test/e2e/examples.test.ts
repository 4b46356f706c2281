import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { fetchBlock } from '../support/e2e/buyer.ts'
import { readFeed } from '../support/e2e/read-wall.ts'
import { startWorld, type World } from '../support/e2e/world.ts'
import { readOutput } from '../support/output-of.ts'
import { createFlatPng } from '../support/picture-files.ts'
import { createScratchFolder } from '../support/scratch-folder.ts'

// Goal: the examples work unchanged, and stay short. Method: each is run as a user types it, with the real wall.

const scratch = createScratchFolder()
const FOLDER = join(import.meta.dir, '../../examples')
const LINES_MAX = 40

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const startExample = (name: string, args: readonly string[], privateKey = '') =>
  Bun.spawn([process.execPath, join(FOLDER, `${name}.ts`), world.url, ...args], {
    env: { PATH: Bun.env['PATH'] ?? '', PRIVATE_KEY: privateKey },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

/** Each line of a program's output, as it is printed. */
async function* readLines(child: ReturnType<typeof startExample>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

test('each example has fewer than forty lines, and is mentioned in the README', async () => {
  const readme = await Bun.file(join(FOLDER, '../README.md')).text()
  const names = await Array.fromAsync(new Bun.Glob('*').scan({ cwd: FOLDER }))
  expect(names.toSorted()).toEqual(['buy-area.ts', 'buy-over-mcp.ts', 'buy.ts', 'follow.ts', 'repaint.ts'])
  for (const name of names) {
    const lines = (await Bun.file(join(FOLDER, name)).text()).trimEnd().split('\n')
    expect([name, lines.length < LINES_MAX, readme.includes(`examples/${name}`)]).toEqual([name, true, true])
  }
})

test.each(['buy', 'buy-area', 'buy-over-mcp', 'repaint'])(
  'without a key, the example %s exits with status 2 and asks for PRIVATE_KEY',
  async (name) => {
    const { out, err, code } = await readOutput(startExample(name, []))
    expect([code, out, err]).toEqual([2, '', 'Set PRIVATE_KEY to the key of a wallet: 0x and 64 hex digits.\n'])
  },
)

test.each(['buy', 'buy-over-mcp'])('the example %s buys a block with its texts, for one dollar', async (name) => {
  const wallet = await world.createFundedWallet(2)
  const { out, err, code } = await readOutput(startExample(name, ['next'], wallet.privateKey))
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('"owner":"you"')
  expect((await readFeed(world)).at(-1)).toMatchObject({
    agent: { name: 'Ada' },
    m: expect.stringMatching(/^bought /),
  })
  expect(await world.network.readBalance(wallet.address)).toBe(1_000_000n)
})

test('the example buy-area puts a picture on six blocks, for one payment of six dollars', async () => {
  const wallet = await world.createFundedWallet(7)
  const file = join(scratch, 'logo.png')
  await Bun.write(file, createFlatPng(60, 40, '#ff0000'))
  const { out, err, code } = await readOutput(startExample('buy-area', [file, '3', '2', '20,20'], wallet.privateKey))
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('"area":"20,20,3x2"')
  const sales = (await readFeed(world)).slice(-6)
  expect(new Set(sales.map(({ m, px }) => `${m} ${px}`)).size).toBe(1)
  expect(await world.network.readBalance(wallet.address)).toBe(1_000_000n)
})

test('the example repaint repaints a block at intervals, and the example follow prints each repaint', async () => {
  const wallet = await world.createFundedWallet(1)
  await new Response(startExample('buy', ['7,7'], wallet.privateKey).stdout).text()
  const following = startExample('follow', ['0'])
  const repainting = startExample('repaint', ['7,7', '0.1'], wallet.privateKey)
  let repaints = 0
  for await (const line of readLines(following)) {
    const { kind, coord }: { kind: string; coord?: string } = JSON.parse(line)
    if (kind === 'repaint' && coord === '7,7') repaints += 1
    if (repaints === 3) break
  }
  following.kill()
  repainting.kill()
  expect(await (await fetchBlock(world, '7,7')).json()).toMatchObject({ message: expect.stringMatching(/^\d\d:\d\d$/) })
})
