/** `bun run demo`: the whole thing on this machine: a chain, a facilitator, a wall, and agents that buy from it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ListingQuery } from '../../shared/contract/block.ts'
import type { Canvas } from '../../shared/contract/canvas.ts'
import { terminalText } from '../../shared/terminal.ts'
import { drawWall } from '../client/cli/wall-drawing.ts'
import { wall as wallAt, WallError, type Wall } from '../client/wall.ts'
import { AnvilMissing } from './anvil-binary.ts'
import { cube, picture, slope } from './art.ts'
import { startLocalNetwork, type LocalNetwork } from './network.ts'
import { armed, freePort, startWall, type WallProcess } from './wall-process.ts'
import { newWallet, type Wallet } from './wallets.ts'

const PORT = 8402

const say = (text = '') => console.log(terminalText(text))

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
const purchases: readonly { readonly target: string; readonly listing: ListingQuery }[] = [
  {
    target: 'next',
    listing: { name: 'Ada', framework: 'langgraph', message: 'First light.', link: 'https://example.org/', px: robot },
  },
  {
    target: 'next',
    listing: { name: 'Babbage', framework: 'eliza', message: 'I saw the price and signed.', px: heart },
  },
  {
    target: '80,45',
    listing: {
      name: 'Curie',
      framework: 'crewai',
      message: 'The very middle, please.',
      px: slope([0, 1, 3], [2, 5, 5]),
    },
  },
  {
    target: '81,44',
    listing: { name: 'Dijkstra', message: 'Shortest path to the wall.', px: slope([5, 2, 0], [3, 0, 3]) },
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
    await tour(network, wall, folder)
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

async function tour(network: LocalNetwork, { url }: WallProcess, folder: string): Promise<void> {
  const visit = (account: Wallet) => wallAt(url, { account, folder })
  const [first] = await buyAll(network, visit)
  await race(network, visit)
  if (first !== undefined) await repaint(first)

  const canvas = await canvasOf(wallAt(url), purchases.length + 1)
  say(`\nThe middle of the wall, ${canvas.stats.claimed} of ${canvas.canvas.totalBlocks} blocks sold:\n`)
  console.log(drawWall(canvas, 7, 4))

  const spare = await network.wallet(20)
  say(`\nThe wall keeps running at ${url} (Ctrl-C closes it).`)
  say('Buy a block yourself, with a throwaway key that holds 20 of the demo’s dollars:\n')
  say(`  PRIVATE_KEY=${spare.privateKey} npx -y bun@${Bun.version} run buy next --message "hello" --url ${url}\n`)
}

/** How an agent comes to the wall. */
type Visit = (account: Wallet) => Wall

/** A block, and the wall as its owner sees it. */
type Bought = { readonly wall: Wall; readonly block: string }

async function buyAll(network: LocalNetwork, visit: Visit): Promise<Bought[]> {
  const bought: Bought[] = []
  for (const { target, listing } of purchases) {
    const wall = visit(await network.wallet(5))
    say(`${listing.name} asks for ${target === 'next' ? 'the open block nearest the centre' : `block ${target}`},`)
    const { block, deed } = await wall.buy(target, listing)
    say(
      `  is told 402 and the price, signs ${deed.price.amount} ${deed.price.asset}, asks again, and owns ${block} (${deed.tx.slice(0, 10)}…).`,
    )
    bought.push({ wall, block })
  }
  return bought
}

async function race(network: LocalNetwork, visit: Visit): Promise<void> {
  const racers = await Promise.all(
    ['Euler', 'Fermat', 'Gauss'].map(async (name) => ({ name, wallet: await network.wallet(2) })),
  )
  say('\nEuler, Fermat and Gauss want the same block, 78,44, at the same moment:')
  const ends = racers.map(async ({ name, wallet }) => {
    const error = await visit(wallet)
      .buy('78,44', { name, px: key })
      .then(() => undefined, refusal)
    const left = await network.balanceOf(wallet.address)
    if (error === undefined) return `  ${name} gets it and has ${dollars(left)} of 2.00 left.`
    return `  ${name} is refused (${error.code}) and still has ${dollars(left)}.`
  })
  for (const line of await Promise.all(ends)) say(line)
}

function refusal(error: unknown): WallError {
  if (error instanceof WallError && error.kind === 'refused') return error
  throw error
}

async function repaint({ wall, block }: Bought): Promise<void> {
  say(`\nAda repaints block ${block}: free, signed with the key that paid.`)
  await wall.repaint(block, { pixels: heart, message: 'Repainted, for free.' })
  say('  The wall shows it.')
}

/** The canvas read once it shows so many sales: it follows them within a second. */
async function canvasOf(wall: Wall, sales: number): Promise<Canvas> {
  for (;;) {
    const canvas = await wall.canvas()
    if (canvas.stats.claimed >= sales) return canvas
    await Bun.sleep(100)
  }
}

const dollars = (atomic: bigint) => (Number(atomic) / 1_000_000).toFixed(2)

await main()
