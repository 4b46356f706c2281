import { afterAll, beforeAll, expect, test } from 'bun:test'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { validateDiscoveryExtension } from '@x402/extensions/bazaar'
import type { WallProcess } from '../../server/local/wall-process.ts'
import { runCommand } from '../support/e2e/command.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'

// Goal: an operator knows which paid addresses a catalogue would not list, and what to do. Method: the real command and
// a real wall; a catalogue that probes like Coinbase's, without a body, and responds as Coinbase's documentation says.

let around: Surroundings
let wall: WallProcess
let broken: string | undefined // the path of the paid address whose demand arrives without its extension
const resources: string[] = []
const catalogue = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (request.method === 'GET')
      return Response.json({ x402Version: 2, payTo: '0x', resources: resources.map((resource) => ({ resource })) })
    const { resource, method } = (await request.json()) as { resource: string; method: string }
    const { status, headers } = await fetch(resource, { method })
    const { extensions } = decodePaymentRequiredHeader(headers.get('payment-required') ?? 'e30=')
    const isDescribed =
      !resource.endsWith(broken ?? ' ') && validateDiscoveryExtension(extensions?.['bazaar'] as never).valid
    const preflight = [
      { check: 'reachable', passed: true, detail: 'Endpoint responded within the timeout.', severity: 'required' },
      { check: 'returns_402', passed: status === 402, expected: '402', actual: `${status}`, severity: 'required' },
      {
        check: 'has_bazaar_extension',
        passed: isDescribed,
        detail: 'The extension | is missing.',
        severity: 'required',
      },
    ]
    const valid = preflight.every(({ passed }) => passed)
    return Response.json({
      valid,
      statusCode: status,
      preflight,
      simulation: { outcome: valid ? 'accepted' : 'rejected' },
    })
  },
})

beforeAll(async () => {
  around = await startSurroundings()
  wall = await around.startArmedWall({ BASE_URL: 'http://127.0.0.1', DATABASE_PATH: around.databasePath })
})
afterAll(async () => {
  await catalogue.stop(true)
  await wall.stop()
  await around.stop()
})

async function runListed(url = catalogue.url.origin) {
  const settings = { ...around.settings, BASE_URL: wall.url }
  const { out, err, status } = await runCommand(settings, around.folder, 'listed', '--catalogue', url)
  return { status, err, rows: out.trim().split('\n').slice(2) }
}

test('the command listed validates each paid address, and gives a remedy for each address that is not in the catalogue or would be rejected by it', async () => {
  const fresh = await runListed()
  expect([fresh.status, fresh.rows.length]).toEqual([1, 3])
  for (const row of fresh.rows)
    expect(row).toContain('| not listed | make one sale at this address through Coinbase’s facilitator')
  resources.push(`${wall.url}/blocks/next`, `${wall.url}/blocks/{coord}`, `${wall.url}/areas`)
  expect(await runListed()).toMatchObject({
    status: 0,
    rows: [
      `| GET ${wall.url}/blocks/next | 3 checks passed, listed | nothing |`,
      `| GET ${wall.url}/blocks/159,89 | 3 checks passed, listed | nothing |`,
      `| POST ${wall.url}/areas | 3 checks passed, listed | nothing |`,
    ],
  })
  broken = '/areas'
  const { status, rows } = await runListed()
  expect([status, rows.at(-1)]).toEqual([
    1,
    `| POST ${wall.url}/areas | has_bazaar_extension: The extension / is missing. | check the proxy in front of the wall: it must pass headers of 8 kB |`,
  ])
})

test('if a catalogue does not respond, or responds in an unexpected form, the command listed reports the problem and exits with status 2', async () => {
  expect(await runListed('http://127.0.0.1:1')).toMatchObject({
    status: 2,
    rows: [],
    err: expect.stringContaining('does not respond'),
  })
  expect(await runListed(wall.url)).toMatchObject({
    status: 2,
    err: expect.stringContaining('returned an unexpected response (status 404)'),
  })
})
