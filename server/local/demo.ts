/** `bun run demo`: runs a chain, a facilitator, a wall, and agents that buy from it, all on this machine. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Canvas } from '../../shared/contract/canvas.ts'
import { escapeText } from '../../shared/terminal.ts'
import { parseCoord } from '../../shared/wall.ts'
import { drawWall } from '../client/cli/wall-drawing.ts'
import { wall as wallAt, type Wall } from '../client/wall.ts'
import { AnvilMissing } from './anvil-binary.ts'
import { localChainId } from './chain.ts'
import { buyLateWork, buildExhibition } from './exhibition.ts'
import { startLocalNetwork, type LocalNetwork } from './network.ts'
import { waitUntilArmed, findFreePort, startWall, type WallProcess } from './wall-process.ts'
import { createWallet } from './wallets.ts'

const PORT = 8402

/**
 * The drawn part of the wall: the sign in the middle, or one picture if the terminal is too narrow. Each block takes
 * ten characters.
 */
const DRAWN = {
  wide: { across: 14, down: 7, around: parseCoord('80,44') },
  narrow: { across: 7, down: 6, around: parseCoord('78,37') },
} as const
const WIDE_COLUMNS = 144

// Enough time to open the page.
const LATE_MS = 12_000

const print = (text = '') => console.log(escapeText(text))

async function runDemo(): Promise<void> {
  print('Pixel Wall, on this machine only: nothing here touches a real network or real money.\n')
  const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-'))
  const network = await startNetwork()
  if (network === undefined) return
  const wall = await openWall(network, folder)
  const stop = async () => {
    print('\nClosing the wall ...')
    await wall.stop()
    await network.stop()
    await rm(folder, { recursive: true, force: true })
    process.exit()
  }
  process.once('SIGINT', () => void stop())
  process.once('SIGTERM', () => void stop())
  try {
    await runTour(network, wall, folder)
  } catch (error) {
    console.error(escapeText(error instanceof Error ? (error.stack ?? error.name) : String(error)))
    process.exitCode = 1
    await stop()
  }
}

async function startNetwork(): Promise<LocalNetwork | undefined> {
  try {
    const network = await startLocalNetwork()
    print(`A chain runs at ${network.rpcUrl}: chain id ${localChainId}, with a test dollar in place of USDC.`)
    print(`A facilitator runs at ${network.facilitatorUrl}: it checks payments and broadcasts them.`)
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
    PAY_TO: createWallet().address,
    FACILITATOR_URL: network.facilitatorUrl,
    RPC_URL: network.rpcUrl,
    DATABASE_PATH: join(folder, 'wall.sqlite'),
  }
  // The usual port gives the usual address; if that port is in use, any free port will do.
  const wall = await startWall({ ...settings, PORT: String(PORT) }).catch(async () =>
    startWall({ ...settings, PORT: String(await findFreePort()) }),
  )
  await waitUntilArmed(wall.url)
  print(`The wall is open at ${wall.url}\n`)
  return wall
}

async function runTour(network: LocalNetwork, { url }: WallProcess, folder: string): Promise<void> {
  const venue = { network, url, folder, print }
  const sold = await buildExhibition(venue)
  const canvas = await waitForSales(wallAt(url), sold)
  print(`\nPart of the wall, ${canvas.stats.claimed} of ${canvas.canvas.totalBlocks} blocks sold:\n`)
  const { across, down, around } = DRAWN[process.stdout.columns >= WIDE_COLUMNS ? 'wide' : 'narrow']
  console.log(drawWall(canvas, across, down, around))

  const spare = await network.createFundedWallet(20)
  print(`\nThe wall keeps running at ${url} (Ctrl-C closes it).`)
  print('Buy a block yourself, with a throwaway key that holds 20 of the demo’s dollars:\n')
  print(`  PRIVATE_KEY=${spare.privateKey} npx -y bun@${Bun.version} run buy next --message "hello" --url ${url}`)
  print('\nOr buy a picture: the same command with --image logo.png --size 4x3 --max 12 instead of next.')
  print('Check against the chain that every block is paid for and every payment is accounted for:\n')
  print(`  npx -y bun@${Bun.version} run verify ${url} --rpc ${network.rpcUrl}`)
  print('\nKeep watching: one more agent is on its way.\n')
  await Bun.sleep(LATE_MS)
  await buyLateWork(venue)
}

/** Returns the canvas once it shows this many sales. The canvas shows each sale within a second. */
async function waitForSales(wall: Wall, sales: number): Promise<Canvas> {
  for (;;) {
    const canvas = await wall.canvas()
    if (canvas.stats.claimed >= sales) return canvas
    await Bun.sleep(100)
  }
}

await runDemo()
