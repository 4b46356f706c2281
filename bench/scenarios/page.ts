/**
 * The page in a real browser: when a wall's first pixels appear on slow connections, and when a full wall can be used.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import { openBrowser } from '../../test/support/page/browser.ts'
import type { Scenario } from '../findings.ts'
import { runOnEveryProcessor } from '../measure/cpu.ts'
import { sendOnce } from '../measure/load.ts'
import {
  ANSWER,
  FIRST_DRAWN,
  LOADED,
  NOTE_DRAWINGS,
  NOTE_TASKS,
  NOTE_VITALS,
  OPENED,
  RETURNED,
  STORED,
  USABLE,
  WAIT_FOR_ALL,
  renderReportScript,
} from '../measure/page-probe.ts'
import { computeScore } from '../measure/page-score.ts'
import { computeMedian } from '../measure/pair.ts'
import { createOwners } from './owners.ts'

const ROOT = join(import.meta.dir, '../..')
const PLAIN = '/plain-page.html'

// The round trip to a server that is not nearby.
const LATENCY_MS = 40
const LINES_MBIT = [4, 20] as const

const TIMEOUT_MS = 60_000

// The slowdown of a phone some years old, compared with this machine.
const TIMES_SLOWER = 4
const SLOW_MBIT = 4
const BLOCKS_SOLD = 8200

// Lighthouse's slow phone and connection.
const PHONE = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true }
const PHONE_MBIT = 1.6
const PHONE_LATENCY_MS = 150

// Loads take seconds each, so there are few.
const ROUNDS_MAX = 5

/** The time until a page draws the first pixels of a full wall, which it reads as it arrives or as a whole. */
export const measureFirstPixels: Scenario = async (servers, { rounds }) => {
  const { port } = await servers.wall(TOTAL_BLOCKS)
  const found = await runInBrowser(async (browser) => {
    const lines = []
    for (const mbit of LINES_MBIT) {
      const prepareLoad = (scripts: readonly string[]) => () =>
        measureLoad(browser, { url: urlOf(port), scripts: [NOTE_DRAWINGS, ...scripts], until: FIRST_DRAWN, mbit })
      const [early = [], late = []] = await runInTurns([prepareLoad([]), prepareLoad([WAIT_FOR_ALL])], rounds)
      lines.push({ mbit, early, late })
    }
    return lines
  })
  return {
    rows: found.flatMap(({ mbit, early, late }) => [
      { what: `as it comes, ${mbit} Mbit/s`, figures: { ms: computeMedian(early) } },
      { what: `in one go, ${mbit} Mbit/s`, figures: { ms: computeMedian(late) } },
    ]),
    ratios: Object.fromEntries(
      found.map(({ mbit, early, late }) => [
        `page: first pixels over all, ${mbit} Mbit/s`,
        computeMedianRatio(early, late),
      ]),
    ),
  }
}

/** The time until a full wall responds to its visitor, compared with a plain canvas page. */
export const measureFullWall: Scenario = async (servers, { rounds }) => {
  const { port } = await servers.wall(TOTAL_BLOCKS)
  const [ours = [], plain = []] = await runInBrowser(async (browser) => {
    const until = (path: string) => () =>
      measureLoad(browser, { url: urlOf(port) + path, scripts: [NOTE_DRAWINGS], until: USABLE })
    return await runInTurns([until(''), until(PLAIN)], rounds)
  })
  return {
    rows: [
      { what: 'this page', figures: { ms: computeMedian(ours) } },
      { what: 'a plain canvas-2d page', figures: { ms: computeMedian(plain) } },
    ],
    ratios: {
      'page: seconds until a full wall can be used': computeMedian(ours) / 1000,
      'page: full wall over a plain canvas': computeMedianRatio(ours, plain),
    },
  }
}

/** How the page opens on a slow machine with a slow connection, on a wall that is more than half sold. */
export const measureSlowMachine: Scenario = async (servers, { rounds }) => {
  const { port } = await servers.wall(BLOCKS_SOLD)
  const loads = await runInBrowser(async (browser) => {
    const scripts = [NOTE_DRAWINGS, NOTE_TASKS]
    const openPage = () =>
      loadPage(browser, { url: urlOf(port), scripts, until: OPENED, mbit: SLOW_MBIT, timesSlower: TIMES_SLOWER })
    await openPage()
    const found: number[][] = []
    while (found.length < Math.min(rounds, ROUNDS_MAX)) found.push(await openPage())
    return found
  })
  const computeFigure = (at: number) => computeMedian(loads.map((figures) => figures[at] ?? Number.NaN))
  const [first, usable, named, blocked, longest] = [
    computeFigure(0),
    computeFigure(1),
    computeFigure(2),
    computeFigure(3),
    computeFigure(4),
  ]
  return {
    rows: [
      { what: 'first wall pixels', figures: { ms: first } },
      { what: 'usable', figures: { ms: usable } },
      { what: 'every work named', figures: { ms: named } },
      { what: 'blocked', figures: { ms: blocked } },
      { what: 'longest task', figures: { ms: longest } },
    ],
    ratios: {
      'page, slow: seconds until the first pixels': first / 1000,
      'page, slow: seconds until it can be used': usable / 1000,
      'page, slow: seconds that it was blocked': blocked / 1000,
      'page, slow: seconds of its longest task': longest / 1000,
      'page: kB of its first script': await measureScriptKb(port),
    },
  }
}

/** How the wall and the page for painting open on a phone with an empty cache, on a wall that is some months old. */
export const measurePhone: Scenario = async (servers) => {
  const { port } = await servers.worksWall()
  const pages = { 'the wall': '', 'the page for painting': '/paint' }
  const found = await runInBrowser(async (browser) => {
    const open = (path: string) =>
      loadPage(browser, {
        url: urlOf(port) + path,
        scripts: [NOTE_VITALS],
        until: LOADED,
        mbit: PHONE_MBIT,
        latencyMs: PHONE_LATENCY_MS,
        timesSlower: TIMES_SLOWER,
        device: PHONE,
      })
    await open('')
    const all: PhoneLoads[] = []
    for (const [what, path] of Object.entries(pages)) {
      const loads: number[][] = []
      while (loads.length < ROUNDS_MAX) loads.push(await open(path))
      all.push(createPhoneRow(what, loads))
    }
    return all
  })
  const [wall, paint] = found
  return {
    rows: found.map(({ what, figures }) => ({ what, figures })),
    ratios: {
      'page, phone: its score': wall?.score ?? Number.NaN,
      'page, phone: the score of painting': paint?.score ?? Number.NaN,
      'page, phone: seconds until its largest text': (wall?.largest ?? Number.NaN) / 1000,
      'page, phone: seconds that it was blocked': (wall?.blocked ?? Number.NaN) / 1000,
      'page, phone: how far it moved': wall?.moved ?? Number.NaN,
      'page, phone: KiB of a first load': wall?.kib ?? Number.NaN,
    },
  }
}

// How many blocks are repainted between two visits.
const REPAINTED = 100

/**
 * How the wall opens on a slow phone for a visitor who returns after some blocks were repainted, relative to the first
 * visit.
 */
export const measureReturnVisit: Scenario = async (servers) => {
  const { port } = await servers.wall(BLOCKS_SOLD)
  const sign = createOwners(BLOCKS_SOLD)
  const load = { url: urlOf(port), mbit: PHONE_MBIT, latencyMs: PHONE_LATENCY_MS, timesSlower: TIMES_SLOWER }
  const visits = await runInBrowser(async (browser) => {
    const found: { readonly first: readonly number[]; readonly next: readonly number[] }[] = []
    while (found.length < ROUNDS_MAX) {
      // The emulated line does not slow down what a service worker requests.
      const context = await browser.newContext({ ...PHONE, serviceWorkers: 'block' })
      const visit = (until: string) => loadInTab(context, { ...load, scripts: [NOTE_DRAWINGS], until })
      const first = await visit(STORED)
      for (let at = 0; at < REPAINTED; at++) await sendOnce(port, sign().bytes)
      found.push({ first, next: await visit(RETURNED) })
      await context.close()
    }
    return found
  })
  const of = (which: 'first' | 'next', at: number) =>
    computeMedian(visits.map((visit) => visit[which][at] ?? Number.NaN))
  const createRow = (which: 'first' | 'next') => ({ 'first pixels ms': of(which, 0), kB: of(which, 1) / 1000 })
  return {
    rows: [
      { what: 'a first visit', figures: createRow('first') },
      { what: `a return after ${REPAINTED} repaints`, figures: createRow('next') },
    ],
    ratios: {
      'page, phone: first pixels of a return over a first visit': of('next', 0) / of('first', 0),
      'page, phone: kB of a return': of('next', 1) / 1000,
    },
  }
}

type PhoneLoads = ReturnType<typeof createPhoneRow>

/** The median of each figure of several loads. */
function createPhoneRow(what: string, loads: readonly (readonly number[])[]) {
  const of = (at: number) => computeMedian(loads.map((figures) => figures[at] ?? Number.NaN))
  const vitals = { first: of(0), largest: of(1), blocked: of(2), moved: of(3) }
  const [kib, score] = [of(4) / 1024, computeScore(vitals)]
  const { first, largest, blocked, moved } = vitals
  const figures = { score, 'first ms': first, 'largest ms': largest, 'blocked ms': blocked, moved, KiB: kib }
  return { what, figures, ...vitals, kib, score }
}

/** The size in kB of the scripts that the page itself links, in gzip. */
async function measureScriptKb(port: number): Promise<number> {
  const page = await (await fetch(urlOf(port))).text()
  const paths = [...page.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, path = '']) => path)
  const bodies = await Promise.all(paths.map(async (path) => await (await fetch(urlOf(port) + path)).arrayBuffer()))
  return bodies.reduce((sum, body) => sum + Bun.gzipSync(new Uint8Array(body), { level: 9 }).length, 0) / 1000
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`

/** Opens a browser while `measure` runs. Throws if the page is not built. */
async function runInBrowser<Found>(measure: (browser: Browser) => Promise<Found>): Promise<Found> {
  if (!existsSync(join(ROOT, 'dist/viewer/index.html')))
    throw new Error('the page is not built: run `bun run build` before the wall is started')
  // A browser has many processes, and visitors do not run all of them on one CPU.
  const browser = await runOnEveryProcessor(openBrowser)
  if ('reason' in browser) throw new Error(`no Chromium starts here: ${browser.reason}`)
  try {
    return await measure(browser)
  } finally {
    await browser.close()
  }
}

/** Measures each way in turns, after one round that does not count; returns their figures. */
async function runInTurns(ways: ReadonlyArray<() => Promise<number>>, rounds: number): Promise<number[][]> {
  const figures = ways.map((): number[] => [])
  for (let round = -1; round < Math.min(rounds, ROUNDS_MAX); round++)
    for (const [at, way] of ways.entries()) {
      const figure = await way()
      if (round >= 0) figures[at]?.push(figure)
    }
  return figures
}

/** The median over rounds of the ratio of two figures. */
const computeMedianRatio = (ours: readonly number[], others: readonly number[]) =>
  computeMedian(ours.map((one, round) => one / (others[round] ?? Number.NaN)))

type PageLoad = {
  readonly url: string
  readonly scripts: readonly string[] // run before the page's own
  readonly until: string // an expression that returns milliseconds, one figure or several
  readonly mbit?: number // of the connection; unlimited if omitted
  readonly latencyMs?: number // of the connection
  readonly timesSlower?: number // than this machine
  readonly device?: BrowserContextOptions // a desktop if omitted
}

/** Opens an address and returns its first figure. */
async function measureLoad(browser: Browser, one: PageLoad): Promise<number> {
  const [figure = Number.NaN] = await loadPage(browser, one)
  return figure
}

/** Opens an address as a new visitor does, with nothing stored. */
async function loadPage(browser: Browser, load: PageLoad): Promise<number[]> {
  const context = await browser.newContext(load.device ?? { viewport: { width: 1280, height: 800 } })
  try {
    return await loadInTab(context, load)
  } finally {
    await context.close()
  }
}

/** Opens an address in a new tab. */
async function loadInTab(context: BrowserContext, load: PageLoad): Promise<number[]> {
  const { url, scripts, until, mbit } = load
  const page = await context.newPage()
  await leaveBlankPage(page)
  for (const content of [...scripts, renderReportScript(until)]) await page.addInitScript({ content })
  // A route handler delays every request of a page a little, so only the plain page gets one.
  if (url.endsWith(PLAIN)) await page.route(url, (route) => route.fulfill({ path: join(import.meta.dir, PLAIN) }))
  if (mbit !== undefined) await slowDown(page, { ...load, mbit })
  try {
    const isAnswer = (message: ConsoleMessage) => message.text().startsWith(ANSWER)
    const answer = page.waitForEvent('console', { predicate: isAnswer, timeout: TIMEOUT_MS })
    await page.goto(url, { waitUntil: 'commit', timeout: TIMEOUT_MS })
    const figures: number | number[] = JSON.parse((await answer).text().slice(ANSWER.length))
    return [figures].flat()
  } finally {
    await page.close()
  }
}

// An address outside the measured sites.
const ELSEWHERE = 'http://elsewhere.example/'

/**
 * Leaves a tab's first, blank page. It shares its process with the next page, so its end would count as the next
 * page's.
 */
async function leaveBlankPage(page: Page): Promise<void> {
  await page.route(ELSEWHERE, (route) => route.fulfill({ contentType: 'text/html', body: '<title>Elsewhere</title>' }))
  await page.goto(ELSEWHERE)
  await page.unroute(ELSEWHERE)
}

async function slowDown(
  page: Page,
  { mbit, latencyMs = LATENCY_MS, timesSlower = 1 }: Pick<PageLoad, 'latencyMs' | 'timesSlower'> & { mbit: number },
): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const throughput = (mbit * 1_000_000) / 8
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: latencyMs,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  })
  await session.send('Emulation.setCPUThrottlingRate', { rate: timesSlower })
}
