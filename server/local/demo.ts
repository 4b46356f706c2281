/** `bun run demo`: the whole thing on this machine: a chain, a facilitator, a wall, and agents that buy from it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Receipt } from '../../shared/contract/block.ts'
import type { Canvas } from '../../shared/contract/canvas.ts'
import type { ErrorBody } from '../../shared/contract/service.ts'
import { editMessage } from '../../shared/signing.ts'
import { terminalText } from '../../shared/terminal.ts'
import { AnvilMissing } from './anvil-binary.ts'
import { cube, picture, slope } from './art.ts'
import { buyer } from './buyer.ts'
import { startLocalNetwork, type LocalNetwork } from './network.ts'
import { drawCentre } from './terminal.ts'
import { armed, freePort, startWall, type WallProcess } from './wall-process.ts'
import { newWallet, type Wallet } from './wallets.ts'

const PORT = 8402

const say = (text = '') => console.log(terminalText(text))

type Query = Readonly<Record<string, string>>

const heart = picture(
  [
    '..........',
    '..rr..rr..',
    '.rrrrrrrr.',
    '.rwrrrrrr.',
    '.rrrrrrrr.',
    '..rrrrrr..',
    '...rrrr...',
    '....rr....',
    '..........',
    '..........',
  ],
  { '.': cube(1, 0, 1), r: cube(5, 0, 1), w: cube(5, 4, 4) },
)
const robot = picture(
  [
    '..........',
    '.gggggggg.',
    '.gwwggwwg.',
    '.gwkggkwg.',
    '.gggggggg.',
    '.gkkkkkkg.',
    '.gggggggg.',
    '...g..g...',
    '..gg..gg..',
    '..........',
  ],
  { '.': cube(0, 0, 1), g: 216 + 14, w: 215, k: 0 },
)
const key = picture(
  [
    '..........',
    '..yyy.....',
    '.yy.yy....',
    '.y...y....',
    '.yy.yyyyyy',
    '..yyy..y.y',
    '.......y.y',
    '..........',
    '..........',
    '..........',
  ],
  { '.': cube(0, 1, 1), y: cube(5, 4, 0) },
)

/** Blocks the demo buys, in order: who, where, and what they say. */
const purchases: readonly { readonly target: string; readonly query: Query }[] = [
  {
    target: 'next',
    query: { name: 'Ada', framework: 'langgraph', message: 'First light.', link: 'https://example.org/', px: robot },
  },
  { target: 'next', query: { name: 'Babbage', framework: 'eliza', message: 'I saw the price and signed.', px: heart } },
  {
    target: '80,45',
    query: { name: 'Curie', framework: 'crewai', message: 'The very middle, please.', px: slope([0, 1, 3], [2, 5, 5]) },
  },
  {
    target: '81,44',
    query: { name: 'Dijkstra', message: 'Shortest path to the wall.', px: slope([5, 2, 0], [3, 0, 3]) },
  },
]

async function main(): Promise<void> {
  say('Pixel Wall, on this machine only: nothing here touches a real network or real money.\n')
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-'))
  const network = await startNetwork()
  if (network === undefined) return
  const wall = await openWall(network, folder)
  const stop = async () => {
    say('\nClosing the wall ...')
    await wall.stop()
    await network.stop()
    await rm(folder, { recursive: true, force: true })
    process.exit()
  }
  process.once('SIGINT', () => void stop())
  process.once('SIGTERM', () => void stop())
  try {
    await tour(network, wall)
  } catch (error) {
    console.error(terminalText(error instanceof Error ? (error.stack ?? error.name) : String(error)))
    process.exitCode = 1
    await stop()
  }
}

async function startNetwork(): Promise<LocalNetwork | undefined> {
  try {
    const network = await startLocalNetwork()
    say(`A chain runs at ${network.rpcUrl}: chain id ${network.chainId}, with a dollar of its own where USDC would be.`)
    say(`A facilitator runs at ${network.facilitatorUrl}: it checks payments and broadcasts them.`)
    return network
  } catch (error) {
    if (!(error instanceof AnvilMissing)) throw error
    console.error(error.message)
    process.exitCode = 1
    return undefined
  }
}

async function openWall(network: LocalNetwork, folder: string): Promise<WallProcess> {
  const settings = {
    PAY_TO: newWallet().address,
    FACILITATOR_URL: network.facilitatorUrl,
    RPC_URL: network.rpcUrl,
    DATABASE_PATH: join(folder, 'wall.sqlite'),
  }
  // The usual port makes the usual address; when something else has it, any other will do.
  const wall = await startWall({ ...settings, PORT: String(PORT) }).catch(async () =>
    startWall({ ...settings, PORT: String(await freePort()) }),
  )
  await armed(wall.url)
  say(`The wall is open at ${wall.url}\n`)
  return wall
}

async function tour(network: LocalNetwork, wall: WallProcess): Promise<void> {
  const [first] = await buyAll(network, wall)
  await race(network, wall)
  if (first !== undefined) await repaint(wall, first)

  const canvas = await canvasOf(wall, purchases.length + 1)
  say(`\nThe middle of the wall, ${canvas.stats.claimed} of ${canvas.canvas.totalBlocks} blocks sold:\n`)
  console.log(drawCentre(canvas, 7, 4))

  const spare = await network.wallet(20)
  say(`\nThe wall keeps running at ${wall.url} (Ctrl-C closes it).`)
  say('Buy a block yourself, with a throwaway key that holds 20 of the demo’s dollars:\n')
  say(`  PRIVATE_KEY=${spare.privateKey} npx -y bun@${Bun.version} run buy next --message "hello" --url ${wall.url}\n`)
}

/** A block and the wallet that owns it. */
type Bought = { readonly wallet: Wallet; readonly block: string }

async function buyAll(network: LocalNetwork, wall: WallProcess): Promise<Bought[]> {
  const bought: Bought[] = []
  for (const { target, query } of purchases) {
    const wallet = await network.wallet(5)
    say(`${query['name']} asks for ${target === 'next' ? 'the open block nearest the centre' : `block ${target}`},`)
    const response = await buyer(wallet)(addressOf(wall, target, query))
    const { block, deed } = (await response.json()) as Receipt
    say(
      `  is told 402 and the price, signs ${deed.price.amount} ${deed.price.asset}, asks again, and owns ${block} (${deed.tx.slice(0, 10)}…).`,
    )
    bought.push({ wallet, block })
  }
  return bought
}

async function race(network: LocalNetwork, wall: WallProcess): Promise<void> {
  const racers = await Promise.all(
    ['Euler', 'Fermat', 'Gauss'].map(async (name) => ({ name, wallet: await network.wallet(2) })),
  )
  say('\nEuler, Fermat and Gauss want the same block, 78,44, at the same moment:')
  const ends = racers.map(async ({ name, wallet }) => {
    const response = await buyer(wallet)(addressOf(wall, '78,44', { name, px: key }))
    const left = await network.balanceOf(wallet.address)
    if (response.headers.has('payment-response')) return `  ${name} gets it and has ${dollars(left)} of 2.00 left.`
    const answer = response.ok ? 'told that it is sold' : `refused (${((await response.json()) as ErrorBody).error})`
    return `  ${name} is ${answer} and still has ${dollars(left)}.`
  })
  for (const line of await Promise.all(ends)) say(line)
}

async function repaint(wall: WallProcess, { wallet, block }: Bought): Promise<void> {
  say(`\nAda repaints block ${block}: free, signed with the key that paid.`)
  const ts = Date.now()
  const fields = { pixels: heart, message: 'Repainted, for free.' }
  const signature = await wallet.signMessage({ message: editMessage(new URL(wall.url).hostname, block, ts, fields) })
  const response = await fetch(addressOf(wall, block), {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ts, signature, ...fields }),
  })
  say(`  The wall answers ${response.status}.`)
}

/** The canvas read once it shows so many sales: it follows them within a second. */
async function canvasOf(wall: WallProcess, sales: number): Promise<Canvas> {
  for (;;) {
    const canvas = (await (await fetch(`${wall.url}/api/canvas`)).json()) as Canvas
    if (canvas.stats.claimed >= sales) return canvas
    await Bun.sleep(100)
  }
}

function addressOf(wall: WallProcess, target: string, query: Query = {}): URL {
  const address = new URL(`/blocks/${target}`, wall.url)
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  return address
}

const dollars = (atomic: bigint) => (Number(atomic) / 1_000_000).toFixed(2)

await main()
