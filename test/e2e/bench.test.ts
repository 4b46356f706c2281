import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import goals from '../../bench/goals.json' with { type: 'json' }
import { readAllowedProcessors } from '../../bench/measure/cpu.ts'
import { replaceResults, renderMarkdown } from '../../bench/report.ts'
import { behindProxy, inBrowser, onServer, scenarios } from '../../bench/scenarios.ts'
import { createServers, type Servers } from '../../bench/servers/servers.ts'
import { isInstalled } from '../support/e2e/proxies.ts'
import { IS_LONG_RUN } from '../support/long-run.ts'
import { openBrowser } from '../support/page/browser.ts'

// Goal: the benchmarks can run at any time, and each of their goals belongs to a measured figure. Method: one scenario
// runs briefly; in a long run, all scenarios do. The values mean nothing here, but each figure must exist, and only
// correct responses count.

/** Whether the page is built and a browser can show it. */
async function hasPage(): Promise<boolean> {
  if (!existsSync(new URL('../../dist/viewer/index.html', import.meta.url))) return false
  const browser = await openBrowser()
  if ('reason' in browser) return false
  await browser.close()
  return true
}

const browses = IS_LONG_RUN && (await hasPage())
if (IS_LONG_RUN && !browses) console.warn('The page is not measured: it is not built, or no Chromium starts here.')

const keeps = isInstalled('caching-nginx')
if (IS_LONG_RUN && !keeps) console.warn('Viewers behind a caching proxy are not measured: nginx is not installed.')

let walls: Servers
const ratios = new Set<string>()
const had = readAllowedProcessors(process.pid)
beforeAll(() => {
  walls = createServers()
})
afterAll(() => walls.stop())

const every = { ...scenarios, ...onServer, ...(keeps ? behindProxy : {}), ...(browses ? inBrowser : {}) }
const [first = ''] = Object.keys(every)

test.each(Object.entries(every).filter(([name]) => IS_LONG_RUN || name === first))(
  'the benchmark measures %s',
  async (_, scenario) => {
    const found = await scenario(walls, { rounds: 1, ms: 30, warmMs: 30, steadyMs: 300 })
    expect(found.rows.length).toBeGreaterThan(0)
    const figures = [...found.rows.flatMap((row) => Object.values(row.figures)), ...Object.values(found.ratios)]
    for (const figure of figures) expect(figure).toBeFinite()
    for (const name of Object.keys(found.ratios)) ratios.add(name)
  },
  120_000,
)

test('a measurement leaves the CPU affinity of the test process unchanged', () => {
  expect(readAllowedProcessors(process.pid)).toBe(had)
})

test.if(IS_LONG_RUN)('every goal of the benchmark names a figure that the benchmark measures', () => {
  const measurable = Object.keys(goals).filter(
    (name) => (browses || !/^page[:,]/.test(name)) && (keeps || !name.startsWith('viewers:')),
  )
  expect(measurable.filter((name) => !ratios.has(name))).toEqual([])
})

test('new benchmark results replace only the text between the two marks in the document, and a document without marks is an error', () => {
  const renderMarked = (text: string) => `before\n<!-- bench: start -->\n${text}\n<!-- bench: end -->\nafter\n`
  expect(replaceResults(renderMarked('old'), 'new')).toBe(renderMarked('new'))
  expect(() => replaceResults('no marks', 'new')).toThrow('lacks the marks')
})

test('a table of benchmark results states each goal in words, and gives a reason for each goal that was missed', () => {
  const report = { Reads: { rows: [], ratios: { met: 2, missed: 0.5, aside: 1 } } }
  const goals = {
    met: { atMost: 3, says: 'What is cheap' },
    missed: { atLeast: 1, says: 'What is dear', whyMissed: 'It does more.' },
  }
  expect(renderMarkdown(report, goals, 'a machine')).toBe(
    [
      'Measured by `bun run bench` on a machine.',
      '',
      '| What | measured | goal |',
      '|---|--:|--:|',
      '| What is cheap. | 2.00 | at most 3 |',
      '| What is dear. **Missed.** It does more. | 0.50 | at least 1 |',
    ].join('\n'),
  )
})
