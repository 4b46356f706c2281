import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { armed, freePort } from '../../server/local/wall-process.ts'
import { get, sign, startSurroundings, type Surroundings } from './world.ts'

// Goal: the wall runs on what `deploy/install.sh` leaves, and that is little. Method: installed into a folder of its own,
// started there, sold from. Where the packages are neither at hand nor to be had, it is skipped and says so.

const ROOT = join(import.meta.dir, '../..')
const folder = mkdtempSync(join(tmpdir(), 'pixel-wall-production-'))

for (const part of ['server', 'shared', 'db', 'package.json', 'bun.lock', 'bunfig.toml'])
  cpSync(join(ROOT, part), join(folder, part), { recursive: true })
const install = Bun.spawnSync(['sh', join(ROOT, 'deploy/install.sh')], {
  cwd: folder,
  env: { ...Bun.env, PATH: `${join(process.execPath, '..')}:${Bun.env['PATH'] ?? ''}` },
  stdout: 'ignore',
  stderr: 'pipe',
})
const isInstalled = install.exitCode === 0
if (!isInstalled) console.warn(`no production install can be tried here:\n${install.stderr.toString()}`)

/** Every installed file's size. */
const installed = () =>
  readdirSync(join(folder, 'node_modules'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)))

describe.skipIf(!isInstalled)('a production install', () => {
  let around: Surroundings
  let wall: Bun.Subprocess
  let url: string
  beforeAll(async () => {
    around = await startSurroundings()
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    wall = Bun.spawn([process.execPath, 'server/main.ts'], {
      cwd: folder,
      env: { PATH: Bun.env['PATH'] ?? '', ...around.settings, PORT: port, BASE_URL: url, METRICS_PORT: '0' },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    await Promise.race([
      open(url),
      wall.exited.then((code) => {
        throw new Error(`the wall ended with ${code}`)
      }),
    ])
  })
  afterAll(async () => {
    wall.kill()
    await wall.exited
    await around.stop()
    rmSync(folder, { recursive: true })
  })

  test('takes less than 60 MB of the disk, and holds no compiler, axios or Solana', () => {
    const bytes = installed().reduce((sum, { blocks }) => sum + blocks * 512, 0)
    expect(bytes).toBeLessThan(60_000_000)
    const unwanted = /^(?:typescript|@typescript|axios|@solana|@coinbase|vite|@x402)$/
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => unwanted.test(name))).toEqual([])
  })

  test('is what the list of its parts says', () => {
    const sbom = Bun.spawnSync([process.execPath, 'server/operate/sbom.ts'], { cwd: folder })
    const { components } = JSON.parse(sbom.stdout.toString())
    const named: readonly string[] = components.map(({ name }: { readonly name: string }) => name)
    const top = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))
    const there = top.flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(folder, 'node_modules', name)).map((part) => `${name}/${part}`) : [name],
    )
    expect([...new Set(named)].toSorted()).toEqual(there.toSorted())
    for (const { purl, hashes } of components) expect([purl, hashes[0].content.length]).toEqual([purl, 128])
  })

  test('sells a block, and draws, tells and serves what the wall does', async () => {
    const world = { ...around, url }
    const bought = await get(world, 'next', await sign(world, await around.wallet(), 'next'))
    expect(bought.status).toBe(200)
    for (const path of ['/wall.png', '/card.png', '/openapi.json', '/api/canvas', '/blocks/1,1'])
      expect([path, (await fetch(url + path)).status]).toEqual([path, path === '/blocks/1,1' ? 402 : 200])
    const listed = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    expect(await listed.json()).toMatchObject({ result: { tools: expect.arrayContaining([expect.anything()]) } })
  })
})

/** Resolves once the wall answers and takes payments. */
async function open(at: string): Promise<void> {
  for (;;) {
    const isUp = await fetch(`${at}/api/health`).then(
      () => true,
      () => false,
    )
    if (isUp) return await armed(at)
    await Bun.sleep(50)
  }
}
