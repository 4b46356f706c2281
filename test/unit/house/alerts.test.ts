import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openMetrics } from '../../../server/adapters/metrics/metrics.ts'
import { reportSkipped } from '../../support/skipped.ts'

// Goal: alerts and dashboard match the metrics, and each alert has instructions. Method: their names are looked up in
// the metrics and in the operator's manual, and Prometheus' own tool tests the rules, if it is installed.

const root = join(import.meta.dir, '../../..')
const readText = (path: string) => Bun.file(join(root, path)).text()

const RULES = 'deploy/prometheus/alerts.yml'
const TESTS = ['deploy/prometheus/alerts.test.yml', 'deploy/prometheus/alerts.days.test.yml']
const DASHBOARD = 'deploy/grafana/wall.json'

test('every alert has a section in OPERATING.md and a test, and each section and test belongs to an alert', async () => {
  const alerts = [...(await readText(RULES)).matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
  const sections = [...(await readText('OPERATING.md')).matchAll(/^#### (Wall\w+)$/gm)].map(([, name = '']) => name)
  const tests = (await Promise.all(TESTS.map(readText))).join('\n')
  const tried = [...tests.matchAll(/alertname: (\w+)/g)]
  expect(sections).toEqual(alerts)
  expect(new Set(tried.map(([, name = '']) => name))).toEqual(new Set(alerts))
})

test('the alerts and the dashboard query only existing metrics, and docs/operating-reference.md lists each metric', async () => {
  const metrics = openMetrics()
  metrics.registerReadings({
    clock: { now: () => 0, elapsed: () => 0, wait: async () => {} },
    readRail: () => 'armed',
    canSell: () => true,
    canServeReaders: () => true,
    listDependencies: () => [],
    readStoreState: () => ({ pending: undefined, freeBytes: undefined, backedUpAt: undefined }),
    measureStoreBytes: async () => undefined,
    countBlocks: () => ({ sold: 0, open: 0 }),
    countOrphans: () => 0,
    readListings: () => [],
    build: { version: '1', bun: '1' },
  })
  const names = [...(await metrics.read()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)
  for (const path of [RULES, DASHBOARD]) {
    const asked = [...(await readText(path)).matchAll(/\b((?:wall|process)_[a-z_]+?)(?:_bucket|_count)?\b(?=[{[ )])/g)]
    expect(asked.length).toBeGreaterThan(10)
    for (const [, name = ''] of asked) expect(names).toContain(name)
  }
  const reference = await readText('docs/operating-reference.md')
  for (const name of names) expect(reference).toContain(`\`${name}`)
})

const promtool = Bun.which('promtool')

test.skipIf(reportSkipped('Prometheus (promtool)', promtool !== null))(
  'Prometheus accepts the rules, and their alerts fire as the tests of the rules expect',
  async () => {
    for (const args of [
      ['check', 'rules', RULES],
      ['test', 'rules', ...TESTS],
    ]) {
      const tool = Bun.spawn([promtool ?? '', ...args], { cwd: root, stdout: 'pipe', stderr: 'pipe' })
      const words = await new Response(tool.stdout).text()
      expect([await tool.exited, words]).toEqual([0, expect.stringContaining('SUCCESS')])
    }
  },
)
