import { afterAll, beforeAll, expect, test } from 'bun:test'
import { measureCpuMs } from '../../../bench/measure/cpu.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { scaleLimit } from '../../support/machine.ts'

// Goal: no request body costs the wall much more CPU time than reading it. Method: each route that accepts a body gets
// the largest body of each shape, always from an address with full budgets; the CPU time of the wall's process is
// measured.

const KB = 1024
const ROUTES: readonly (readonly [method: string, path: string, maxKb: number])[] = [
  ['PUT', '/blocks/0,0', 4],
  ['POST', '/blocks/0,0', 4],
  ['PUT', '/areas/0,0-1,1', 128],
  ['POST', '/areas/0,0-1,1', 128],
  ['POST', '/areas', 4096],
  ['PUT', '/api/agents/me', 4],
  ['POST', '/api/agents/me', 4],
  ['PUT', '/api/agents/me/painter', 4],
  ['POST', '/api/agents/me/receipts', 4],
  ['POST', '/api/preview', 4],
  ['POST', '/api/sign', 4],
  ['POST', '/mcp', 64],
  ['POST', '/api/pixels?w=8&h=8', 4096],
]

/** Bodies of at most `bytes` bytes, named after their expensive part. */
const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  'unknown keys': (bytes) => `{${renderArray(bytes - 2, (at) => `"k${at}":1`)}}`,
  'a long text': (bytes) => `{"message":"${'\u{20ac}'.repeat(Math.floor((bytes - 14) / 3))}"}`,
  'a long picture': (bytes) => `{"w":1,"h":1,"image":"${'A'.repeat(bytes - 24)}"}`,
  'many pixels': (bytes) => `{"px":[${renderArray(bytes - 8, () => '7')}]}`,
  nesting: (bytes) => '['.repeat(Math.floor(bytes / 2)) + ']'.repeat(Math.floor(bytes / 2)),
  'many parts': (bytes) => `[${renderArray(bytes - 2, () => '{}')}]`,
}

function renderArray(bytes: number, part: (at: number) => string): string {
  const parts: string[] = []
  let length = 0
  for (let at = 0; length + part(at).length + 1 <= bytes; at++) {
    parts.push(part(at))
    length += part(at).length + 1
  }
  return parts.join(',')
}

// The minimum of several measurements counts, because the process has other work, too.
const MEASUREMENTS = 3
const REQUESTS = 10

// The maximum CPU time to read, decode and reject a body: a base, plus an amount per megabyte.
const CPU_MAX_MS = 5
const CPU_MAX_MS_OF_A_MEGABYTE = 8

let world: World
beforeAll(async () => {
  world = await startWorld({ TRUST_PROXY: '1' })
}, 60_000)
afterAll(async () => await world.stop())

let address = 0
const takeNextAddress = () => `10.0.${address >> 8}.${address++ & 255}`

test('on each route, the most expensive bodies cause no 5xx, and each takes at most 5 ms of CPU time plus 8 ms per megabyte', async () => {
  const rows = []
  for (const [method, path, maxKb] of ROUTES)
    for (const [shape, make] of Object.entries(SHAPES)) {
      const body = make(maxKb * KB)
      const statuses = new Set<number>()
      const sendBody = async () => {
        const headers = {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-forwarded-for': takeNextAddress(),
        }
        const answer = await fetch(world.url + path, { method, headers, body })
        await answer.arrayBuffer()
        statuses.add(answer.status)
      }
      await sendBody()
      const measured: number[] = []
      for (let times = 0; times < MEASUREMENTS; times++)
        measured.push(
          await measureCpuMs(world.getWall().pid, async () => {
            for (let at = 0; at < REQUESTS; at++) await sendBody()
          }),
        )
      rows.push({
        route: `${method} ${path}`,
        shape,
        KB: maxKb,
        status: [...statuses].join(),
        ms: Math.min(...measured) / REQUESTS,
      })
    }
  console.table(rows)
  const computeLimitMs = (kb: number) => scaleLimit(CPU_MAX_MS + CPU_MAX_MS_OF_A_MEGABYTE * (kb / KB))
  expect(rows.filter(({ status }) => /5\d\d/.test(status))).toEqual([])
  expect(rows.filter(({ ms, KB: kb }) => ms > computeLimitMs(kb))).toEqual([])
}, 300_000)
