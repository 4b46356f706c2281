/**
 * `bun run endurance NAME [OPTION ...]`: runs a test at its full length, under load or with faults; `all` runs every
 * test in turn. test/README.md lists the tests that the gate runs in short form, and those that only the nightly
 * workflow runs.
 */

import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')

type Run = { readonly does: string; readonly command: readonly string[] }

const createScriptRun = (path: string, does: string): Run => ({ does, command: [join(import.meta.dir, path)] })

/** A run of tests at their full length, with the timeouts of the service. Options are passed to `bun test`. */
const createTestRun = (paths: readonly string[], does: string): Run => ({
  does,
  command: ['test', '--timeout', '600000', ...paths.map((path) => `./test/${path}`)],
})

const RUNS: Readonly<Record<string, Run>> = {
  sim: createScriptRun('sim/main.ts', '100,000 histories over a model chain, or with --mutants every planted bug'),
  torture: createScriptRun(
    'torture/main.ts',
    'rounds of kills and failures, with real processes, a real chain and a real disk',
  ),
  hostile: createTestRun(['endurance/hostile/catalogue.test.ts'], 'a catalogue of bad requests'),
  connections: createTestRun(['endurance/connections/connections.test.ts'], 'ten thousand half-open connections'),
  fuzz: createTestRun(['endurance/fuzz/fuzz.test.ts'], 'a million generated requests'),
  abuse: createTestRun(['endurance/abuse/abuse.test.ts'], 'floods of every kind, while other clients use the wall'),
  bodies: createTestRun(
    ['endurance/abuse/bodies.long.ts'],
    'the most expensive bodies of each route, and their CPU time',
  ),
  readers: createTestRun(
    ['endurance/readers/readers.long.ts'],
    'a thousand clients that do not read their responses, and the memory that they use',
  ),
  history: createTestRun(
    ['endurance/history/history.long.ts'],
    'an owner who repaints for a month as often as the budgets allow: disk, backups, start time',
  ),
  outages: createTestRun(
    ['endurance/outages/outages.test.ts'],
    'each dependency fails; how long until the wall reports the outage and its end',
  ),
  troubles: createTestRun(
    ['e2e/settle-troubles.test.ts', 'e2e/instances/troubled-instances.test.ts'],
    'failing settlements and instances, with the timeouts of the service',
  ),
  soak: createTestRun(['endurance/soak/soak.test.ts'], 'a full wall in use for half an hour'),
  flakes: createScriptRun(
    'flakes/main.ts',
    'the tests of the gate, repeated under load, and a count of their failures',
  ),
  clients: createTestRun(
    ['endurance/clients/clients.long.ts'],
    'third-party clients buy a block, or use every free tool',
  ),
  releases: createTestRun(['endurance/releases.long.ts'], 'a release is made, installed and run'),
  upgrade: createTestRun(['endurance/upgrade.long.ts'], 'instances are replaced one by one under load'),
  proxies: createTestRun(
    ['endurance/proxies/caddy.long.ts', 'endurance/proxies/caching-proxy.long.ts'],
    'the wall behind Caddy and behind a cache',
  ),
  'shared-stream': createTestRun(
    ['endurance/shared-stream/shared-stream.long.ts'],
    'ten thousand followers (FOLLOWERS=N) over one stream that Varnish shares',
  ),
  'hang-ups': createTestRun(
    ['endurance/proxies/hang-ups.long.ts'],
    'buyers behind each shipped proxy, over HTTP/1.1 and 2, hang up, sign a new payment and pay once',
  ),
  appearances: createTestRun(
    ['accessibility', 'server-pages', 'label', 'zoom'].map((name) => `page/${name}.test.ts`),
    'axe in each window size and theme, a hundred clicks per window, zoom of 200 % and 400 %',
  ),
  bench: createTestRun(['e2e/bench.test.ts'], 'every scenario of the bench, and a measured figure for every goal'),
}

const [name = '', ...options] = Bun.argv.slice(2)
const run = RUNS[name]

if (run !== undefined) process.exitCode = await runToExit(run, options)
else if (name === 'all') process.exitCode = await runAll()
else {
  const names = Object.entries(RUNS).map(([verb, { does }]) => `  ${verb.padEnd(12)} ${does}`)
  console.error(
    ['bun run endurance NAME [OPTION ...]', '', ...names, '  all          every run, one after the other'].join('\n'),
  )
  process.exitCode = 2
}

/** Runs every entry of `RUNS`, and `sim --mutants`, even after a failure; returns how many failed. */
async function runAll(): Promise<number> {
  const rows: string[] = []
  let failed = 0
  for (const [verb, one] of [...Object.entries(RUNS), ['sim --mutants', RUNS['sim']] as const]) {
    if (one === undefined) continue
    const began = performance.now()
    const code = await runToExit(one, verb.split(' ').slice(1))
    if (code !== 0) failed += 1
    rows.push(
      `${code === 0 ? 'ok    ' : 'FAILED'} ${verb.padEnd(14)} ${((performance.now() - began) / 1000).toFixed(0)} s`,
    )
  }
  console.log(rows.join('\n'))
  return failed
}

function runToExit({ command }: Run, more: readonly string[]): Promise<number> {
  return Bun.spawn([process.execPath, ...command, ...more], {
    cwd: ROOT,
    env: { ...Bun.env, LONG_RUN: '1' },
    stdin: 'inherit',
    stdout: 'inherit',
    stderr: 'inherit',
  }).exited
}
