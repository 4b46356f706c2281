import { expect, test } from 'bun:test'
import type { Payment } from '../../../../server/domain/purchase/payment.ts'
import { openBlankWall } from '../../../support/blank-wall.ts'
import { createTestPayment, TERMS } from '../../../support/samples.ts'
import { callTool, sendRpc } from '../../../support/service/agent.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import { decodeDemand, readJson, OFFER, openWall, createPaidInit } from '../../../support/service/wall.ts'

// Goal: a wall shows its own price and name everywhere, and keeps its promises to those who bought at another price.
// Method: the public texts of a wall with another price and name are searched for the default price and name.

const TITLE = 'Ada & Sons'
const AMOUNT = 2_500_000n
const offer = { ...OFFER, title: TITLE, terms: { ...TERMS, amount: AMOUNT } }
const wall = await openWall({ offer })

/** A payment at this wall's price. */
const createPayment = (nonce: number, amount = AMOUNT): Payment =>
  createTestPayment(1, nonce, { amount, accepted: { ...TERMS, amount, scheme: 'exact' } })

const PRICED = [
  '/llms.txt',
  '/llms-full.txt',
  '/skill.md',
  '/openapi.json',
  '/.well-known/agent-skills/index.json',
  '/.well-known/skills/index.json',
  '/.well-known/x402',
  '/server.json',
  '/api/canvas',
  '/api/blocks',
  '/blocks/3,4',
  '/areas/3,4,1x1',
  '/api/space?w=1&h=1',
  '/?block=3,4',
]

test.each(PRICED)('%s shows the wall’s own price, and neither the default price nor the default name', async (path) => {
  const text = await (await wall.sendRequest(`GET ${path}`)).text()
  expect([text.includes('2.50'), /(?<![\d.])1\.00(?!\d)|1000000(?!\d)|Pixel Wall/.exec(replaceExamples(text))]).toEqual(
    [true, null],
  )
})

// The amounts in a schema's examples are only samples, and need not be this wall's price.
const replaceExamples = (text: string) =>
  text.replaceAll('"examples":["1.00"]', '').replaceAll('"examples":["1000000"]', '')

test('a demand for payment shows the price in its header, in its message and on its HTML page', async () => {
  const response = await wall.sendRequest('GET /blocks/next')
  expect(decodeDemand(response)).toMatchObject({ resource: { serviceName: TITLE }, accepts: [{ amount: '2500000' }] })
  expect((await readJson(response))['message']).toContain('costs 2.50 USDC')
  const page = await (await wall.sendRequest('GET /blocks/next', { headers: { Accept: 'text/html' } })).text()
  expect([page.includes('402 · 2.50 USDC'), page.includes('Ada &amp; Sons is a public billboard')]).toEqual([
    true,
    true,
  ])
  const area = await wall.sendRequest('POST /areas', createBodyInit({ w: 2, h: 2 }))
  expect((await readJson(area))['message']).toContain('This area costs 10.00 USDC')
})

test('a preview and the MCP tools show the wall’s own price', async () => {
  const { price } = await readJson(await wall.sendRequest('POST /api/preview', createBodyInit({ coord: '3,4' })))
  expect(price).toEqual({ amount: '2.50', asset: 'USDC', network: TERMS.network })
  expect((await callTool(wall, 'get_wall')).structuredContent).toMatchObject({
    pricing: { perPixel: '0.025', perBlock: '2.50' },
  })
  const listed = JSON.stringify((await sendRpc(wall, { method: 'tools/list' })).result)
  expect([listed.includes('2.50 USDC'), listed.includes('1.00 USDC'), listed.includes('{price}')]).toEqual([
    true,
    false,
    false,
  ])
})

test('the atlas, the feed and the guide show the wall’s own name', async () => {
  for (const path of ['/atlas', '/atlas.atom'])
    expect([path, (await (await wall.sendRequest(`GET ${path}`)).text()).includes('Ada &amp; Sons')]).toEqual([
      path,
      true,
    ])
  const guide = await (await wall.sendRequest('GET /', { headers: { Accept: 'text/markdown' } })).text()
  expect(guide.split('\n')[0]).toBe(`# ${TITLE} (first: your client's spend cap must allow 2.50 USD)`)
})

test('a payment of the default price is rejected with the reason, and a payment of this wall’s price buys the block', async () => {
  const wrong = await wall.sendRequest('GET /blocks/5,6', createPaidInit(createPayment(1, TERMS.amount)))
  expect([wrong.status, (await readJson(wrong))['reason']]).toEqual([402, 'the amount is not exactly 2.50 USDC'])
  const bought = await wall.sendRequest('GET /blocks/5,6', createPaidInit(createPayment(2)))
  expect(await readJson(bought)).toMatchObject({ deed: { price: { amount: '2.50' } } })
})

test('after a wall changes its price, held and sold purchases keep the old price, and new purchases need the new price', async () => {
  const db = await openBlankWall()
  const before = await openWall({}, db)
  const sold = createTestPayment(1, 1)
  expect((await before.sendRequest('GET /blocks/5,6', createPaidInit(sold))).status).toBe(200)
  const held = createTestPayment(1, 2)
  before.facilitator.settling = { kind: 'unclear' }
  expect((await before.sendRequest('GET /blocks/7,8', createPaidInit(held))).status).toBe(503)

  const after = await openWall({ offer }, db)
  for (const payment of [sold, createTestPayment(1, 9), held]) after.chain.transferPayment(payment)
  expect(await readJson(await after.sendRequest('GET /blocks/5,6', createPaidInit(sold)))).toMatchObject({
    deed: { price: { amount: '1.00' } },
  })
  expect(await readJson(await after.sendRequest('GET /blocks/7,8', createPaidInit(held)))).toMatchObject({
    deed: { price: { amount: '1.00' } },
  })
  expect((await after.sendRequest('GET /blocks/9,9', createPaidInit(createTestPayment(1, 3)))).status).toBe(402)
  expect((await after.sendRequest('GET /blocks/9,9', createPaidInit(createPayment(4)))).status).toBe(200)
  const amounts = [sold, held, createPayment(4)].map(async (key) => (await db.ledger.find(key))?.payment.amount)
  expect(await Promise.all(amounts)).toEqual([1_000_000n, 1_000_000n, AMOUNT])
})
