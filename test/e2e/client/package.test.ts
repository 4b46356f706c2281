import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readFeed } from '../../support/e2e/read-wall.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { NODE, PATH } from '../../support/node.ts'
import { readOutput } from '../../support/output-of.ts'
import { createFlatPng } from '../../support/picture-files.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { reportSkipped } from '../../support/skipped.ts'

// Goal: with only Node and the published package, a user buys and pays once, whatever happens to the process. Method:
// the packed tarball is installed into an empty folder, and Node runs it with the real wall, chain and facilitator.

const ROOT = join(import.meta.dir, '../../..')
const NAME = 'pixel-wall'

const folder = createScratchFolder()
const { code, err } = await installPackage()
if (code !== 0) console.warn(err)
const isMissing = reportSkipped('the packages of the client, which could not be installed', code === 0)

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(async () => {
  await world.stop()
})

async function installPackage() {
  await runProgram(['npm', 'pack', join(ROOT, 'server/client'), '--pack-destination', folder], ROOT)
  const [tarball = ''] = await Array.fromAsync(new Bun.Glob('*.tgz').scan({ cwd: folder }))
  expect(Bun.file(join(folder, tarball)).size).toBeLessThan(1_000_000)
  await Bun.write(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  return await runProgram(['npm', 'install', '--prefer-offline', '--fetch-retries=0', `./${tarball}`], folder)
}

function runProgram(command: readonly string[], cwd: string, env: Record<string, string> = {}) {
  return readOutput(startProgram(command, cwd, env))
}

function startProgram(command: readonly string[], cwd: string, env: Record<string, string>) {
  return Bun.spawn([...command], {
    cwd,
    env: { PATH, HOME: Bun.env['HOME'] ?? '', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** The command as `npx` finds it, run by Node. */
const createCommand = (...args: readonly string[]) => [NODE, join(folder, 'node_modules/.bin', NAME), ...args]

const createEnv = (privateKey: string) => ({
  PRIVATE_KEY: privateKey,
  PIXEL_WALL_URL: world.url,
  PIXEL_WALL_HOME: join(folder, 'state'),
})

const picture = join(folder, 'picture.png')
await Bun.write(picture, createFlatPng(64, 32, '#ff0000'))

test.skipIf(isMissing)('the program that runs the installed package as Node is not Bun', async () => {
  expect(await runProgram([NODE, '--print', "'bun' in process.versions"], folder)).toMatchObject({ out: 'false\n' })
})

test.skipIf(isMissing).each([
  ['one block for one dollar', 1, ['buy', 'next', '--name', 'Ada']],
  [
    'one area of six blocks for six dollars',
    6,
    ['buy', '--image', picture, '--size', '3x2', '--name', 'Ada', '--max', '6'],
  ],
] as const)(
  'a buy command that is killed during its payment and run again buys only %s',
  async (_, dollars, args) => {
    const wallet = await world.createFundedWallet(2 * dollars)
    const env = createEnv(wallet.privateKey)
    const buy = createCommand(...args, '--json')
    const before = (await readFeed(world)).length
    const { settle } = world.facilitator
    const forwarded = settle.countForwarded()
    settle.queueFaults('hang-after')
    const killed = startProgram(buy, folder, env)
    await settle.waitForForward(forwarded + 1)
    killed.kill('SIGKILL')
    expect(await killed.exited).not.toBe(0)
    const again = await runProgram(buy, folder, env)
    expect([again.code, again.err]).toEqual([0, ''])
    type Printed = { block?: string; blocks?: string[]; deed: object }
    const { block = '', blocks = [block], deed }: Printed = JSON.parse(again.out)
    expect(deed).toMatchObject({ wallet: wallet.address, name: 'Ada' })
    expect((await readFeed(world)).slice(before).map(({ coord }) => coord)).toEqual(blocks)
    expect(await world.network.readBalance(wallet.address)).toBe(BigInt(dollars) * 1_000_000n)
  },
  120_000,
)

test.skipIf(isMissing)(
  'the installed package buys with Node and with Bun, and paints, reads, repaints and lists the bought blocks',
  async () => {
    const wallet = await world.createFundedWallet(5)
    const env = createEnv(wallet.privateKey)
    const runNode = async (...args: string[]) =>
      JSON.parse((await runProgram(createCommand(...args, '--json'), folder, env)).out)
    const runBun = async (...args: string[]) => {
      const [, script = ''] = createCommand()
      return JSON.parse((await runProgram([process.execPath, script, ...args, '--json'], folder, env)).out)
    }
    expect(await runNode('buy', '3,4', '--message', 'by Node')).toMatchObject({ block: '3,4' })
    expect(await runBun('buy', '5,4', '--message', 'by Bun')).toMatchObject({ block: '5,4' })
    expect(await runNode('buy', '5,4')).toMatchObject({ error: 'already_yours' })
    const area = ['--size', '2x1', '--at', '6,4', '--max', '2']
    expect(await runNode('buy', '--image', picture, ...area)).toMatchObject({
      area: '6,4,2x1',
      deed: { painted: true },
    })
    expect(await runNode('paint', picture, ...area)).toEqual({ updated: true, area: '6,4,2x1', blocks: 2 })
    const px = 'b4'.repeat(100)
    expect(await runNode('repaint', '3,4', '--px', px, '--clear', 'message')).toMatchObject({ updated: true })
    expect(await runNode('look', '3,4')).toMatchObject({
      state: 'claimed',
      message: null,
      pixels: btoa('\u00B4'.repeat(100)),
    })
    const { blocks } = await runNode('mine')
    expect(blocks.map((it: { block: { coord: string } }) => it.block.coord)).toEqual(['3,4', '5,4', '6,4', '7,4'])
    expect(await world.network.readBalance(wallet.address)).toBe(1_000_000n)
  },
  120_000,
)

test.skipIf(isMissing)(
  'the installed package verifies the wall against the chain, with Node and with Bun',
  async () => {
    const wallet = await world.createFundedWallet(1)
    const env = createEnv(wallet.privateKey)
    await runProgram(createCommand('buy', '9,9', '--message', 'proved'), folder, env)
    const args = ['verify', world.url, '--rpc', world.network.rpcUrl, '--json']
    const [, script = ''] = createCommand()
    for (const program of [NODE, process.execPath]) {
      const { code, out, err } = await runProgram([program, script, ...args], folder, env)
      expect([code, err, JSON.parse(out)]).toMatchObject([0, '', { findings: [], unbound: 0 }])
    }
  },
)

test.skipIf(isMissing)(
  'the types of the installed library accept correct calls and reject unknown fields',
  async () => {
    const use = `import { wall, type AreaReceipt, type Receipt } from '${NAME}'
import { privateKeyToAccount } from 'viem/accounts'
const account = privateKeyToAccount('0x${'1'.repeat(64)}')
export const buy = (url: string): Promise<Receipt> => wall(url, { account }).buy('next', { name: 'Ada' })
export const buyArea = (url: string): Promise<AreaReceipt> =>
wall(url, { account }).buyArea({ w: 4, h: 3, image: new Uint8Array(), name: 'Ada' })
export const wrong: (url: string) => Promise<unknown> = (url) =>
// @ts-expect-error: a listing has no such member
wall(url, { account }).buy('next', { nmae: 'Ada' })
`
    await Bun.write(join(folder, 'use.ts'), use)
    const settings = {
      extends: join(ROOT, 'tsconfig.base.json'),
      compilerOptions: { skipLibCheck: true },
      files: ['use.ts'],
    }
    await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const checked = await runProgram([join(ROOT, 'node_modules/.bin/tsc'), '-p', folder], folder)
    expect([checked.code, checked.out]).toEqual([0, ''])
  },
)
