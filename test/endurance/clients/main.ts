/**
 * `bun run clients`: clients that others made, each used as its own documents say, against a real wall, chain and facilitator.
 * Each must buy a block with its listing, charged once (and repaint it and rename itself, if it can sign in), or use every
 * tool that costs nothing. `--only TEXT` picks by name.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { wall as wallAt } from '../../../server/client/wall.ts'
import { startLocalNetwork, type LocalNetwork } from '../../../server/local/network.ts'
import { armed, startWall, type WallProcess } from '../../../server/local/wall-process.ts'
import { newWallet, type Wallet } from '../../../server/local/wallets.ts'
import { outputOf } from '../../support/output-of.ts'
import { BUYERS, TOOL_USERS, type At, type Client } from './clients.ts'

const HERE = import.meta.dir
const CLIENT_MAX_MS = 90_000
type World = { readonly wall: WallProcess; readonly network: LocalNetwork; readonly folder: string }
type Row = {
  readonly client: string
  readonly version: string
  readonly did: string
  readonly fault: string | undefined
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
  const why = await installClients()
  if (why !== undefined) {
    console.log(`skipped: the clients could not be installed. ${why}`)
    return 0
  }
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-clients-'))
  const network = await startLocalNetwork()
  const wall = await startWall({
    PAY_TO: newWallet().address,
    FACILITATOR_URL: network.facilitatorUrl,
    RPC_URL: network.rpcUrl,
    DATABASE_PATH: join(folder, 'wall.sqlite'),
  })
  try {
    await armed(wall.url)
    const world = { wall, network, folder }
    const rows: Row[] = []
    const isMeant = ({ name }: Client) => name.includes(values.only)
    for (const [col, client] of BUYERS.entries()) if (isMeant(client)) rows.push(await buys(world, client, `${col},0`))
    for (const [col, client] of TOOL_USERS.entries())
      if (isMeant(client)) rows.push(await usesTools(world, client, `${col},1`))
    print(rows)
    return rows.every(({ fault }) => fault === undefined) ? 0 : 1
  } finally {
    await wall.stop()
    await network.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Installs what the lock names, from the cache where it is there; answers why not. */
async function installClients(): Promise<string | undefined> {
  const child = Bun.spawn([process.execPath, 'install', '--frozen-lockfile', '--silent'], { cwd: HERE, stderr: 'pipe' })
  const complaint = await new Response(child.stderr).text()
  return (await child.exited) === 0 ? undefined : complaint.trim()
}

async function buys(world: World, client: Client, coord: string): Promise<Row> {
  const wallet = await world.network.wallet(5)
  const listing = {
    name: client.name.slice(0, 40),
    message: `bought with ${client.name} & co?`,
    link: 'https://example.org/a?b=1&c=2',
  }
  const target = new URL(`/blocks/${coord}`, world.wall.url)
  for (const [name, value] of Object.entries(listing)) target.searchParams.set(name, value)
  const ran = await run(world, client, wallet, { target: target.href })
  const deed = await wallAt(world.wall.url).block(coord)
  const signedIn = client.signsIn === true && deed !== undefined ? await signsIn(world, client, wallet, coord) : []
  const paid = Number(5_000_000n - (await world.network.balanceOf(wallet.address))) / 1_000_000
  const shown = { name: deed?.owner.name, message: deed?.message, link: deed?.link }
  const isIntact = Bun.deepEquals(shown, listing)
  const faults = [
    ...(deed === undefined ? ['no block'] : isIntact ? [] : [`the listing became ${JSON.stringify(shown)}`]),
    ...(paid === 1 ? [] : [`${paid} dollars paid`]),
    ...signedIn,
  ]
  const also = client.signsIn === true ? ', repainted, renamed' : ''
  return rowOf(client, `bought ${coord}${also}, paid ${paid.toFixed(2)}`, faults, ran)
}

/** Repaints the block and names the wallet by the client; answers what did not come of it. */
async function signsIn(world: World, client: Client, wallet: Wallet, coord: string): Promise<string[]> {
  const { url } = world.wall
  const post = (path: string, body: object) =>
    run(world, client, wallet, { target: url + path, body: JSON.stringify(body) })
  const message = `repainted with ${client.name}`
  const renamed = `by ${client.name}`.slice(0, 40)
  const ran = [
    await post(`/blocks/${coord}`, { message, pixels: '07'.repeat(100) }),
    await post('/api/agents/me', { name: renamed }),
  ]
  const deed = await wallAt(url).block(coord)
  const faults = [
    ...(deed?.message === message && deed.pixels !== null ? [] : ['not repainted']),
    ...(deed?.owner.name === renamed ? [] : ['not renamed']),
  ]
  if (faults.length > 0)
    console.error(
      ran
        .map(({ out, err }) => out + err)
        .join('\n')
        .slice(-SHOWN_MAX),
    )
  return faults
}

async function usesTools(world: World, client: Client, coord: string): Promise<Row> {
  const wallet = await world.network.wallet(1)
  const { url } = world.wall
  await wallAt(url, { account: wallet, folder: world.folder }).buy(coord)
  const image = Buffer.from(await (await fetch(`${url}/blocks/${coord}.png`)).arrayBuffer()).toString('base64')
  const env = { MCP_URL: `${url}/mcp`, BLOCK: coord, IMAGE: image, CLIENT: client.name }
  const ran = await run(world, client, wallet, { target: url }, env)
  const { names, used } = lastLine(ran.out)
  const unused = names.filter((name) => !used.includes(name) && !name.startsWith('buy_'))
  const deed = await wallAt(url).block(coord)
  const faults = [
    ...(names.length === 0 ? ['no tools'] : []),
    ...(unused.length === 0 ? [] : [`unused: ${unused.join(' ')}`]),
    ...(deed?.message === `by ${client.name}` && deed.pixels !== null ? [] : ['the block was not repainted']),
  ]
  return rowOf(client, `used ${new Set(used).size} of ${names.length} tools`, faults, ran)
}

/** What `every-tool.mjs` says at its end. */
function lastLine(out: string): { names: string[]; used: string[] } {
  const line = out.trimEnd().split('\n').at(-1) ?? ''
  return line.startsWith('{') ? JSON.parse(line) : { names: [], used: [] }
}

type Ran = { readonly out: string; readonly err: string; readonly code: number }

async function run({ network, folder }: World, client: Client, wallet: Wallet, at: At, env: object = {}): Promise<Ran> {
  const home = await mkdtemp(join(folder, 'home-'))
  const child = Bun.spawn([...client.command(at)], {
    cwd: home,
    env: {
      PATH: Bun.env['PATH'] ?? '',
      HOME: home,
      CI: '1',
      PRIVATE_KEY: wallet.privateKey,
      MPPX_PRIVATE_KEY: wallet.privateKey,
      X402_PRIVATE_KEY: wallet.privateKey,
      RPC_URL: network.rpcUrl,
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
  return await outputOf(child)
}

const SHOWN_MAX = 2000

async function rowOf(client: Client, did: string, faults: readonly string[], { out, err, code }: Ran): Promise<Row> {
  const all = code === 0 ? faults : [...faults, `it ended with ${code}`]
  if (all.length > 0) console.error(`${client.name}\n${out.slice(-SHOWN_MAX)}\n${err.slice(-SHOWN_MAX)}\n`)
  const manifest: { version: string } = await Bun.file(
    join(HERE, 'node_modules', client.package, 'package.json'),
  ).json()
  return { client: client.name, version: manifest.version, did, fault: all.length === 0 ? undefined : all.join('; ') }
}

function print(rows: readonly Row[]): void {
  console.log('| client | version | what it did | |\n|---|---|---|---|')
  for (const { client, version, did, fault } of rows)
    console.log(`| ${client} | ${version} | ${did} | ${fault ?? 'good'} |`)
}

process.exitCode = await main()
