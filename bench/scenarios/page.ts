/** The page in a real browser, on a slow phone with a slow connection: a first visit, and a return. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { openBrowser } from '../../test/support/page/browser.ts'
import type { Scenario } from '../findings.ts'
import { runOnEveryProcessor } from '../measure/cpu.ts'
import { sendOnce } from '../measure/load.ts'
import {
  ANSWER,
  LOADED,
  NOTE_DRAWINGS,
  NOTE_VITALS,
  RETURNED,
  STORED,
  renderReportScript,
} from '../measure/page-probe.ts'
import { computeScore } from '../measure/page-score.ts'
import { computeMedian } from '../measure/pair.ts'
import { createRepaintSigner } from './owners.ts'

const ROOT = join(import.meta.dir, '../..')

const TIMEOUT_MS = 60_000

// The factor by which a phone from some years ago is slower than this machine.
const TIMES_SLOWER = 4
const BLOCKS_SOLD = 8200

// Lighthouse's slow phone and connection.
const PHONE = { viewport: { width: 412, height: 823 }, deviceScaleFactor: 1.75, isMobile: true, hasTouch: true }
const PHONE_MBIT = 1.6
const PHONE_LATENCY_MS = 150

// Each load takes seconds, so there are at most this many rounds.
const ROUNDS_MAX = 5

/** Measures how `/` and `/paint` of a wall that is some months old open on a phone with an empty cache. */
export const measurePhone: Scenario = async (servers) => {
  const { port } = await servers.getWorksWall()
  const pages = { 'the wall': '', 'the page for painting': '/paint' }
  const found = await runInBrowser(async (browser) => {
    const openPage = (path: string) =>
      loadPage(browser, { url: formatUrl(port) + path, script: NOTE_VITALS, until: LOADED })
    await openPage('')
    const all: PhoneLoads[] = []
    for (const [what, path] of Object.entries(pages)) {
      const loads: number[][] = []
      while (loads.length < ROUNDS_MAX) loads.push(await openPage(path))
      all.push(createPhoneRow(what, loads))
    }
    return all
  })
  const [wall, paint] = found
  return {
    rows: found.map(({ what, figures }) => ({ what, figures })),
    ratios: {
      'page, phone: score': wall?.score ?? Number.NaN,
      'page, phone: the score of painting': paint?.score ?? Number.NaN,
      'page, phone: seconds until the largest text': (wall?.largest ?? Number.NaN) / 1000,
      'page, phone: seconds blocked': (wall?.blocked ?? Number.NaN) / 1000,
      'page, phone: layout shift': wall?.moved ?? Number.NaN,
      'page, phone: KiB of a first load': wall?.kib ?? Number.NaN,
    },
  }
}

// How many blocks are repainted between two visits.
const REPAINTED = 100

/**
 * Measures how the wall opens on a slow phone for a visitor who returns after some blocks were repainted, and compares
 * that with the first visit.
 */
export const measureReturnVisit: Scenario = async (servers) => {
  const { port } = await servers.getWall(BLOCKS_SOLD)
  const sign = createRepaintSigner(BLOCKS_SOLD)
  const visits = await runInBrowser(async (browser) => {
    const found: { readonly first: readonly number[]; readonly next: readonly number[] }[] = []
    while (found.length < ROUNDS_MAX) {
      // Service workers are blocked, because the emulated connection does not slow down their requests.
      const context = await browser.newContext({ ...PHONE, serviceWorkers: 'block' })
      const visitWall = (until: string) => loadInTab(context, { url: formatUrl(port), script: NOTE_DRAWINGS, until })
      const first = await visitWall(STORED)
      for (let at = 0; at < REPAINTED; at++) await sendOnce(port, sign())
      found.push({ first, next: await visitWall(RETURNED) })
      await context.close()
    }
    return found
  })
  const computeFigure = (which: 'first' | 'next', at: number) =>
    computeMedian(visits.map((visit) => visit[which][at] ?? Number.NaN))
  const createRow = (which: 'first' | 'next') => ({
    'first pixels ms': computeFigure(which, 0),
    kB: computeFigure(which, 1) / 1000,
  })
  return {
    rows: [
      { what: 'a first visit', figures: createRow('first') },
      { what: `a return after ${REPAINTED} repaints`, figures: createRow('next') },
    ],
    ratios: {
      'page, phone: first pixels of a return over a first visit': computeFigure('next', 0) / computeFigure('first', 0),
      'page, phone: kB of a return': computeFigure('next', 1) / 1000,
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

const formatUrl = (port: number) => `http://127.0.0.1:${port}`

/** Runs `measure` with an open browser. Throws if the page is not built. */
async function runInBrowser<Found>(measure: (browser: Browser) => Promise<Found>): Promise<Found> {
  if (!existsSync(join(ROOT, 'dist/viewer/index.html')))
    throw new Error('the page is not built: run `bun run build`, then start the benchmark again')
  // A browser has many processes, and visitors do not run all of them on one CPU.
  const browser = await runOnEveryProcessor(openBrowser)
  if ('reason' in browser) throw new Error(`Chromium cannot start on this machine: ${browser.reason}`)
  try {
    return await measure(browser)
  } finally {
    await browser.close()
  }
}

type PageLoad = {
  readonly url: string
  readonly script: string // run before the page's own scripts
  readonly until: string // an expression that resolves to figures
}

/** Opens an address as a new visitor does, with nothing stored. */
async function loadPage(browser: Browser, load: PageLoad): Promise<number[]> {
  const context = await browser.newContext(PHONE)
  try {
    return await loadInTab(context, load)
  } finally {
    await context.close()
  }
}

/** Opens an address in a new tab; returns the figures that the page reports. */
async function loadInTab(context: BrowserContext, { url, script, until }: PageLoad): Promise<number[]> {
  const page = await context.newPage()
  await leaveBlankPage(page)
  for (const content of [script, renderReportScript(until)]) await page.addInitScript({ content })
  await slowDown(page)
  try {
    const isAnswer = (message: ConsoleMessage) => message.text().startsWith(ANSWER)
    const answer = page.waitForEvent('console', { predicate: isAnswer, timeout: TIMEOUT_MS })
    await page.goto(url, { waitUntil: 'commit', timeout: TIMEOUT_MS })
    const figures: number[] = JSON.parse((await answer).text().slice(ANSWER.length))
    return figures
  } finally {
    await page.close()
  }
}

// An address outside the measured sites.
const ELSEWHERE = 'http://elsewhere.example/'

/**
 * Navigates away from a tab's first, blank page. That page shares its process with the next one, so unloading it would
 * count towards the figures of the next page.
 */
async function leaveBlankPage(page: Page): Promise<void> {
  await page.route(ELSEWHERE, (route) => route.fulfill({ contentType: 'text/html', body: '<title>Elsewhere</title>' }))
  await page.goto(ELSEWHERE)
  await page.unroute(ELSEWHERE)
}

/** Slows a page's connection and its main thread down to the speed of the phone's. */
async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const throughput = (PHONE_MBIT * 1_000_000) / 8
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: PHONE_LATENCY_MS,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  })
  await session.send('Emulation.setCPUThrottlingRate', { rate: TIMES_SLOWER })
}
