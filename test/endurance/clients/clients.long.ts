import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { wall as wallAt } from '../../../server/client/wall.ts'
import type { Wallet } from '../../../server/local/wallets.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { PATH } from '../../support/node.ts'
import { readOutput } from '../../support/output-of.ts'
import { BUYERS, TOOL_USERS, type At, type Client } from './clients.ts'

// Goal: third-party clients work with the wall. Method: each client is used according to its documentation, with a real
// wall, chain and facilitator. Each client either buys a block with a listing, and is charged once, or uses every free
// tool. A client that can sign in also repaints the block and names itself. If the clients cannot be installed, the
// tests are skipped with a message.

const HERE = import.meta.dir
const CLIENT_MAX_MS = 90_000

// Installs the clients from the cache, if possible.
const install = Bun.spawn([process.execPath, 'install', '--frozen-lockfile', '--silent'], { cwd: HERE, stderr: 'pipe' })
const complaint = await new Response(install.stderr).text()
const isInstalled = (await install.exited) === 0
if (!isInstalled)
  console.warn(`The third-party clients are not tested, because they cannot be installed. ${complaint.trim()}`)

const listNamedClients = (clients: readonly Client[]) =>
  clients.map((client, col) => [client.name, client, col] as const)

describe.skipIf(!isInstalled)('third-party clients:', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld()
  }, 60_000)
  afterAll(() => world.stop())

  test.each(listNamedClients(BUYERS))(
    'the third-party client %s buys a block with a name, message and link, and is charged once',
    async (_, client, col) => {
      const coord = `${col},0`
      const wallet = await world.createFundedWallet(5)
      const listing = {
        name: client.name.slice(0, 40),
        message: `bought with ${client.name} & co?`,
        link: 'https://example.org/a?b=1&c=2',
      }
      const target = new URL(`/blocks/${coord}`, world.url)
      for (const [name, value] of Object.entries(listing)) target.searchParams.set(name, value)
      await runClient(client, wallet, { target: target.href })
      const deed = await wallAt(world.url).block(coord)
      expect({ name: deed?.owner.name, message: deed?.message, link: deed?.link }).toEqual(listing)
      if (client.signsIn === true) await checkSignIn(client, wallet, coord)
      expect(await world.readBalance(wallet)).toBe(4)
    },
    3 * CLIENT_MAX_MS,
  )

  /** Repaints the block and names the wallet through the client, and expects the block to show both changes. */
  async function checkSignIn(client: Client, wallet: Wallet, coord: string): Promise<void> {
    const postJson = (path: string, body: object) =>
      runClient(client, wallet, { target: world.url + path, body: JSON.stringify(body) })
    const message = `repainted with ${client.name}`
    const name = `by ${client.name}`.slice(0, 40)
    await postJson(`/blocks/${coord}`, { message, pixels: '07'.repeat(100) })
    await postJson('/api/agents/me', { name })
    expect(await wallAt(world.url).block(coord)).toMatchObject({
      message,
      pixels: expect.any(String),
      owner: { name },
    })
  }

  test.each(listNamedClients(TOOL_USERS))(
    'the third-party client %s uses every tool that costs nothing',
    async (_, client, col) => {
      const coord = `${col},1`
      const { url, folder } = world
      const wallet = await world.createFundedWallet(1)
      await wallAt(url, { account: wallet, folder }).buy(coord)
      const image = Buffer.from(await (await fetch(`${url}/blocks/${coord}.png`)).arrayBuffer()).toString('base64')
      const env = { MCP_URL: `${url}/mcp`, BLOCK: coord, IMAGE: image, CLIENT: client.name }
      const out = await runClient(client, wallet, { target: url }, env)
      // `every-tool.mjs` prints this as its last line.
      const said: { names: string[]; used: string[] } = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '')
      expect(said.names).not.toEqual([])
      expect(said.names.filter((name) => !said.used.includes(name) && !name.startsWith('buy_'))).toEqual([])
      expect(await wallAt(url).block(coord)).toMatchObject({
        message: `by ${client.name}`,
        pixels: expect.any(String),
      })
    },
    CLIENT_MAX_MS,
  )

  /** Runs a client, expects it to exit with 0, and returns its output. */
  async function runClient(client: Client, wallet: Wallet, at: At, env: object = {}): Promise<string> {
    const home = await mkdtemp(join(world.folder, 'home-'))
    const child = Bun.spawn([...client.buildCommand(at)], {
      cwd: home,
      env: {
        PATH,
        HOME: home,
        CI: '1',
        PRIVATE_KEY: wallet.privateKey,
        MPPX_PRIVATE_KEY: wallet.privateKey,
        X402_PRIVATE_KEY: wallet.privateKey,
        RPC_URL: world.network.rpcUrl,
        TARGET: at.target,
        ...(at.body === undefined ? {} : { BODY: at.body }),
        ...client.env,
        ...env,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: CLIENT_MAX_MS,
      killSignal: 'SIGKILL',
    })
    const { out, err, code } = await readOutput(child)
    expect({ code, ...(code !== 0 && { out, err }) }).toEqual({ code: 0 })
    return out
  }
})
