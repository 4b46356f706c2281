/** The page in a real browser: when a wall's first pixels are there on slow lines, and when a full wall can be used. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { TOTAL_BLOCKS } from '../shared/wall.ts'
import { openBrowser } from '../test/viewer/browser.ts'
import { pin, unpin } from './cpu.ts'
import type { Scenario } from './findings.ts'
import { FIRST_DRAWN, NOTE_DRAWINGS, USABLE, WAIT_FOR_ALL } from './page-probe.ts'
import { median } from './pair.ts'

const ROOT = join(import.meta.dir, '..')
const PLAIN = '/plain-page.html'

// There and back on a line to a server that is not next door.
const LATENCY_MS = 40
const LINES_MBIT = [4, 20] as const

const PATIENCE_MS = 60_000

// Loads take seconds each, so few are made.
const ROUNDS_MAX = 5

/** How long until the first pixels of a full wall are drawn, read as it comes and read in one go. */
export const firstPixels: Scenario = async (fleet, { rounds }) => {
  const { port } = await fleet.wall(TOTAL_BLOCKS)
  const found = await inBrowser(async (browser) => {
    const lines = []
    for (const mbit of LINES_MBIT) {
      const until = (scripts: readonly string[]) => () =>
        visit(browser, { url: urlOf(port), scripts: [NOTE_DRAWINGS, ...scripts], until: FIRST_DRAWN, mbit })
      const [early = [], late = []] = await inTurns([until([]), until([WAIT_FOR_ALL])], rounds)
      lines.push({ mbit, early, late })
    }
    return lines
  })
  return {
    rows: found.flatMap(({ mbit, early, late }) => [
      { what: `as it comes, ${mbit} Mbit/s`, figures: { ms: median(early) } },
      { what: `in one go, ${mbit} Mbit/s`, figures: { ms: median(late) } },
    ]),
    ratios: Object.fromEntries(
      found.map(({ mbit, early, late }) => [`page: first pixels over all, ${mbit} Mbit/s`, ratioOf(early, late)]),
    ),
  }
}

/** How long until a full wall answers its reader, beside the plain way to draw one. */
export const fullWall: Scenario = async (fleet, { rounds }) => {
  const { port } = await fleet.wall(TOTAL_BLOCKS)
  const [ours = [], plain = []] = await inBrowser(async (browser) => {
    const until = (path: string) => () =>
      visit(browser, { url: urlOf(port) + path, scripts: [NOTE_DRAWINGS], until: USABLE })
    return await inTurns([until(''), until(PLAIN)], rounds)
  })
  return {
    rows: [
      { what: 'this page', figures: { ms: median(ours) } },
      { what: 'a plain canvas-2d page', figures: { ms: median(plain) } },
    ],
    ratios: {
      'page: seconds until a full wall can be used': median(ours) / 1000,
      'page: full wall over a plain canvas': ratioOf(ours, plain),
    },
  }
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`

/** Opens a browser for as long as something needs one. The page it is shown is built first where it is not. */
async function inBrowser<Found>(measure: (browser: Browser) => Promise<Found>): Promise<Found> {
  if (!existsSync(join(ROOT, 'dist/viewer/index.html')))
    throw new Error('the page is not built: run `bun run build` before the wall is started')
  // A browser is many processes, and one processor for all of them is not what its reader has.
  unpin(process.pid)
  const browser = await openBrowser()
  pin(process.pid, 0)
  if ('reason' in browser) throw new Error(`no Chromium starts here: ${browser.reason}`)
  try {
    return await measure(browser)
  } finally {
    await browser.close()
  }
}

/** Figures of each way, measured in turns after one round that does not count. */
async function inTurns(ways: ReadonlyArray<() => Promise<number>>, rounds: number): Promise<number[][]> {
  const figures = ways.map((): number[] => [])
  for (let round = -1; round < Math.min(rounds, ROUNDS_MAX); round++)
    for (const [at, way] of ways.entries()) {
      const figure = await way()
      if (round >= 0) figures[at]?.push(figure)
    }
  return figures
}

/** The median over rounds of one figure over the other. */
const ratioOf = (ours: readonly number[], others: readonly number[]) =>
  median(ours.map((one, round) => one / (others[round] ?? Number.NaN)))

type Visit = {
  readonly url: string
  readonly scripts: readonly string[] // run before the page's own
  readonly until: string // an expression that answers milliseconds
  readonly mbit?: number // of the line; as fast as it goes when left out
}

/** Opens an address as a new visitor does, with nothing kept. */
async function visit(browser: Browser, { url, scripts, until, mbit }: Visit): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  for (const content of scripts) await page.addInitScript({ content })
  // Every request of a page is held up a little once one is answered here.
  if (url.endsWith(PLAIN)) await page.route(url, (route) => route.fulfill({ path: join(import.meta.dir, PLAIN) }))
  if (mbit !== undefined) await slowDown(page, mbit)
  try {
    await page.goto(url, { waitUntil: 'domcontentloaded', timeout: PATIENCE_MS })
    const answer = await page.waitForFunction(until, undefined, { timeout: PATIENCE_MS })
    return Number(await answer.jsonValue())
  } finally {
    await context.close()
  }
}

async function slowDown(page: Page, mbit: number): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const throughput = (mbit * 1_000_000) / 8
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  })
}
