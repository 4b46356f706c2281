import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { Canvas } from '../../../../shared/contract/canvas.ts'
import { toHash, createTestPayment } from '../../../support/samples.ts'
import { readErrorCode, readJson, reportChainFault, openWall, createPaidInit } from '../../../support/service/wall.ts'

const wall = await openWall()

test('an empty wall has an empty canvas, feed and registry', async () => {
  const canvas = await readJson(await wall.sendRequest('GET /api/canvas?x=1'))
  expect(Value.Check(Canvas, canvas)).toBe(true)
  expect(canvas).toMatchObject({
    canvas: { width: 1600, height: 900, blockSize: 10, cols: 160, rows: 90, totalBlocks: 14400 },
    pricing: { perPixel: '0.01', perBlock: '1.00', asset: 'USDC', network: 'eip155:8453' },
    stats: { claimed: 0, remaining: 14400, agents: 0, lastClaimedAt: null, lastSaleId: 0 },
    agents: [],
    blocks: [],
  })
  expect(await readJson(await wall.sendRequest('GET /api/agents'))).toEqual({ agents: [], total: 0 })
  expect(await readJson(await wall.sendRequest('GET /api/feed?after=7'))).toEqual({
    nextAfter: 7,
    hasMore: false,
    sales: [],
  })
})

test('the canvas, the feed, the registry and the deed show the same sale', async () => {
  const { buyBlock, sendRequest: ask, clock } = await openWall()
  await buyBlock(`/blocks/3,4?name=Ada&message=hi&link=https://ada.example/&px=${'07'.repeat(100)}`, 1)
  const px = Buffer.alloc(100, 7).toString('base64')
  const t = clock.now()
  const agent = { name: 'Ada', wallet: '0x0000…0001', framework: null }
  expect(await readJson(await ask('GET /api/canvas'))).toMatchObject({
    stats: { claimed: 1, remaining: 14399, agents: 1, lastClaimedAt: t, lastSaleId: 1 },
    agents: [{ id: 1, ...agent, blocks: 1 }],
    blocks: [{ i: 643, a: 0, t, m: 'hi', l: 'https://ada.example/', px }],
  })
  expect(await readJson(await ask('GET /api/feed'))).toEqual({
    nextAfter: 1,
    hasMore: false,
    sales: [{ seq: 1, i: 643, coord: '3,4', t, agent: { id: 1, ...agent }, m: 'hi', l: 'https://ada.example/', px }],
  })
  expect(await readJson(await ask('GET /api/agents'))).toEqual({
    agents: [{ rank: 1, ...agent, blocks: 1, firstSeenAt: t, link: 'https://ada.example/' }],
    total: 1,
  })
  expect(await readJson(await ask('GET /blocks/3,4'))).toMatchObject({
    owner: agent,
    claimedAt: t,
    tx: toHash(1),
    pixels: px,
  })
})

const notNumbers = ['', '-1', '1.0', '+10', '0x10', 'null', '9007199254740992', '%zz', '1&KEY=2']

test.each(notNumbers)('the feed rejects %p as the value of the parameters after and limit', async (text) => {
  for (const key of ['after', 'limit']) {
    expect(await readErrorCode(await wall.sendRequest(`GET /api/feed?${key}=${text.replace('KEY', key)}`))).toBe(
      `invalid_${key}`,
    )
  }
})

test('the health check shows whether the wall can sell, and the error if it cannot', async () => {
  const healthy = await wall.sendRequest('GET /api/health')
  expect(healthy.headers.get('cache-control')).toBe('no-store')
  expect(await readJson(healthy)).toEqual({ ok: true, service: 'pixel-wall', rail: 'armed', network: 'eip155:8453' })

  const { chain, probe, sendRequest: ask } = await openWall({ store: { isReadable: async () => false } })
  await reportChainFault({ chain, probe })
  expect(await readJson(await ask('GET /api/health'))).toEqual({
    ok: false,
    service: 'pixel-wall',
    rail: 'misconfigured',
    railError: 'the token is another one',
    network: 'eip155:8453',
  })
})

test('if an exception is thrown, the client gets a 500 without the message of the exception, and the operator gets an alert', async () => {
  const failToRead = async (): Promise<never> => {
    throw new Error('the password is swordfish')
  }
  const { sendRequest: ask, logger } = await openWall({
    seller: { buy: failToRead, readOffer: failToRead, reconcile: failToRead, waitUntilIdle: failToRead },
  })
  const response = await ask('GET /blocks/3,4', createPaidInit(createTestPayment(1, 1)))
  expect(response.status).toBe(500)
  expect(await readJson(response)).toEqual({
    error: 'internal_error',
    message: 'Internal error. The operator has been notified.',
  })
  expect(logger.alerts).toHaveLength(1)
  expect(JSON.stringify(logger.alerts)).toContain('reads.test.ts')
  expect(JSON.stringify(logger.alerts)).not.toContain('swordfish')
})

test('a healthy wall reports at /livez, /readyz and /readyz/reads that it is alive, can sell and can serve readers', async () => {
  const { sendRequest: ask } = await openWall()
  expect([(await ask('GET /livez')).status, await readJson(await ask('GET /livez'))]).toEqual([200, { alive: true }])
  for (const path of ['/readyz', '/readyz/reads']) {
    const answer = await ask(`GET ${path}`)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await readJson(answer)).toMatchObject({ ready: true, reasons: [] })
    expect((await ask(`HEAD ${path}`)).status).toBe(200)
  }
})

test('a wall that cannot sell reports which dependency is down, since when and why, and still serves readers', async () => {
  const { sendRequest: ask, outages, clock } = await openWall()
  const reason = 'the database failed: the disk is full (SQLITE_FULL)'
  outages.recordState({ kind: 'store-write', name: 'sqlite' }, reason)
  const answer = await ask('GET /readyz')
  expect(answer.status).toBe(503)
  expect(await readJson(answer)).toEqual({
    ready: false,
    reasons: [reason],
    dependencies: [
      { kind: 'store-write', name: 'sqlite', state: 'down', reason, since: new Date(clock.now()).toISOString() },
    ],
  })
  expect((await ask('GET /readyz/reads')).status).toBe(200)
  expect(await readJson(await ask('GET /api/health'))).toMatchObject({ ok: false, rail: 'armed', railError: reason })
})

test('/readyz does not show dependencies that matter only to the operator, such as backups and the webhook', async () => {
  const { sendRequest: ask, outages } = await openWall()
  outages.recordState({ kind: 'disk', name: 'data' }, null)
  outages.recordState({ kind: 'backup', name: 'sqlite' }, 'no backup was ever made')
  outages.recordState({ kind: 'webhook', name: 'ops.example' }, 'it returned status 500')
  outages.recordState({ kind: 'catalogue', name: 'pay.example' }, null)
  const answer = await ask('GET /readyz')
  expect(answer.status).toBe(200)
  expect(await readJson(answer)).toMatchObject({ ready: true, dependencies: [{ kind: 'disk' }] })
})
