import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { hashMessage } from 'viem'
import { reserveTarget } from '../../../support/engine.ts'
import { computeSignature } from '../../../support/fakes/wallets.ts'
import { parseBlockOrThrow, NOW, createTestPayment, createWalletAddress } from '../../../support/samples.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import { readErrorCode, readJson, openWall } from '../../../support/service/wall.ts'

const wall = await openWall()
await wall.buyBlock('/blocks/3,4?name=Ada&message=first&link=https://a.b/', 1)

for (const [at, payer] of [1, 1, 3].entries()) await wall.buyBlock(`/blocks/${6 + at},4`, payer, 10 + at)

const px = '07'.repeat(100)
const owner = `kind=register&wallet=${createWalletAddress(1)}`

type Help = { message: string; digest: string; request: { method: string; url: string; body: Record<string, unknown> } }

/** Requests the text to sign, signs it as the first wallet, and sends the body that came with the text. */
async function signAndSend(query: string) {
  const help = (await readJson(await wall.sendRequest(`GET /api/sign?${query}`))) as Help
  const { method, url, body } = help.request
  const signature = computeSignature(createWalletAddress(1), help.message)
  const sent = await wall.sendRequest(
    `${method} ${url.slice('https://wall.test'.length)}`,
    createBodyInit({ ...body, signature }),
  )
  return { help, sent }
}

test('the text that /api/sign returns for an edit is accepted once it is signed', async () => {
  wall.clock.advance(1)
  const { help, sent } = await signAndSend(`kind=set_pixels&coord=003,4&message=hi%20there&pixels=${px}&clear=link`)
  expect(help).toMatchObject({
    message: [
      'wall.test',
      'set_pixels v2',
      'block=3,4',
      `ts=${NOW + 1}`,
      'pixels_present=1',
      `pixels=${px}`,
      'message_present=1',
      'message=hi there',
      'link_present=1',
      'link=',
    ].join('\n'),
    ts: NOW + 1,
    validUntil: NOW + 1 + 300_000,
    request: {
      method: 'PUT',
      url: 'https://wall.test/blocks/3,4',
      body: { ts: NOW + 1, message: 'hi there', pixels: px, link: null },
    },
  })
  expect(help.digest).toBe(hashMessage(help.message))
  expect(sent.status).toBe(200)
  expect((await readJson(sent))['deed']).toMatchObject({ message: 'hi there', link: null })
})

const rows = Uint8Array.from({ length: 200 }, (_, i) => i % 240)
const digest = createHash('sha256').update(rows).digest('hex')
const areaEdit = 'kind=set_area&area=6,4,2x1'

test('the text for an edit of an area contains the digest of its pixels, and is accepted once it is signed', async () => {
  wall.clock.advance(1)
  const pixels = rows.toBase64()
  const { help, sent } = await signAndSend(`${areaEdit}&message=hi&pixels=${encodeURIComponent(pixels)}&clear=link`)
  expect(help).toMatchObject({
    message: [
      'wall.test',
      'set_area v1',
      'area=6,4,2x1',
      `ts=${String(help.request.body['ts'])}`,
      'pixels_present=1',
      `pixels=${digest}`,
      'message_present=1',
      'message=hi',
      'link_present=1',
      'link=',
    ].join('\n'),
    request: { method: 'PUT', url: 'https://wall.test/areas/6,4,2x1', body: { message: 'hi', pixels, link: null } },
  })
  expect(await readJson(sent)).toEqual({ updated: true, area: '6,4,2x1', blocks: 2 })
})

test('a client can request the text for an edit of an area with only the digest of the pixels, and send the pixels with the edit', async () => {
  wall.clock.advance(1)
  const help = (await readJson(await wall.sendRequest(`GET /api/sign?${areaEdit}&pixels=${digest}`))) as Help
  expect(help.request.body).toEqual({ ts: wall.clock.now() })
  const body = {
    ...help.request.body,
    pixels: rows.toBase64(),
    signature: computeSignature(createWalletAddress(1), help.message),
  }
  expect((await wall.sendRequest('PUT /areas/6,4,2x1', createBodyInit(body))).status).toBe(200)
})

test('the text that /api/sign returns for a new painter is accepted once it is signed', async () => {
  wall.clock.advance(1)
  const { help, sent } = await signAndSend(
    `kind=set_painter&wallet=${createWalletAddress(1)}&painter=${createWalletAddress(5)}`,
  )
  expect(help.message.split('\n')).toEqual([
    'wall.test',
    'set_painter v1',
    `wallet=${createWalletAddress(1)}`,
    `ts=${wall.clock.now()}`,
    `painter=${createWalletAddress(5)}`,
  ])
  expect(sent.status).toBe(200)
  const cleared = await signAndSend(
    `kind=set_painter&wallet=${createWalletAddress(1)}&clear=painter&ts=${wall.clock.now() + 1}`,
  )
  expect([cleared.help.message.split('\n')[4], cleared.sent.status]).toEqual(['painter=', 200])
})

test('the text that /api/sign returns for a registration is accepted once it is signed', async () => {
  wall.clock.advance(1)
  const { help, sent } = await signAndSend(`${owner}&framework=loom&clear=name`)
  expect(help.message.split('\n').slice(4)).toEqual([
    'name_present=1',
    'name=',
    'framework_present=1',
    'framework=loom',
  ])
  expect(await readJson(sent)).toMatchObject({ updated: true, agent: { name: null, framework: 'loom' } })
})

test('the text to sign contains the time that the caller gave, unchanged', async () => {
  const ts = wall.clock.now() - 60_000
  const help = await readJson(await wall.sendRequest(`GET /api/sign?kind=set_pixels&coord=3,4&message=a&ts=${ts}`))
  expect(help['ts']).toBe(ts)
  expect(help['message']).toContain(`\nts=${ts}\n`)
})

const edit = 'kind=set_pixels&coord=3,4'

const refused: ReadonlyArray<readonly [query: string, code: string]> = [
  ['', 'invalid_option'],
  ['kind=paint&coord=3,4&message=a', 'invalid_option'],
  [edit, 'empty_update'],
  ['kind=set_pixels&message=a', 'invalid_coordinate'],
  ['kind=set_pixels&coord=160,0&message=a', 'invalid_coordinate'],
  [`${edit}&message=`, 'invalid_message'],
  [`${edit}&message=a&message=b`, 'invalid_message'],
  [`${edit}&link=http://a.b/`, 'invalid_link'],
  [`${edit}&pixels=07`, 'invalid_pixels'],
  [`${edit}&clear=pixels`, 'invalid_pixels'],
  [`${edit}&clear=colour`, 'invalid_option'],
  [`${edit}&clear=`, 'invalid_option'],
  [`${edit}&clear=link,link`, 'invalid_option'],
  [`${edit}&message=a&clear=message`, 'invalid_option'],
  [`${edit}&name=Ada`, 'invalid_option'],
  [`${edit}&message=a&ts=soon`, 'invalid_option'],
  [`${edit}&message=a&ts=1`, 'stale_signature'],
  ['kind=set_pixels&coord=5,5&message=a', 'no_owner'],
  ['kind=set_pixels&coord=9,9&message=a', 'purchase_pending'],
  [areaEdit, 'empty_update'],
  ['kind=set_area&message=a', 'invalid_area'],
  ['kind=set_area&area=6,4,21x20&message=a', 'invalid_area'],
  [`${areaEdit}&pixels=${px}`, 'invalid_pixels'],
  [`${areaEdit}&pixels=${encodeURIComponent(new Uint8Array(200).fill(240).toBase64())}`, 'invalid_pixels'],
  [`${areaEdit}&clear=pixels`, 'invalid_pixels'],
  ['kind=set_area&area=6,4,2x2&message=a', 'no_owner'],
  ['kind=set_area&area=9,9,1x1&message=a', 'purchase_pending'],
  ['kind=set_area&area=6,4,3x1&message=a', 'unauthorized'],
  [`kind=set_painter&wallet=${createWalletAddress(1)}&painter=me`, 'invalid_painter'],
  [`kind=set_painter&wallet=${createWalletAddress(1)}`, 'empty_update'],
  ['kind=register&name=Ada', 'invalid_wallet'],
  [`kind=register&wallet=${createWalletAddress(9)}&name=Ada`, 'no_purchases'],
  [owner, 'empty_update'],
  [`${owner}&message=a`, 'invalid_option'],
  [`${owner}&name=${'a'.repeat(41)}`, 'invalid_name'],
  [`${owner}&framework=%00`, 'invalid_framework'],
]

await reserveTarget(wall.db, parseBlockOrThrow('9,9'), createTestPayment(2, 2))

test.each(refused)(
  'a request for the text of an invalid change is rejected like the change itself: %s',
  async (query, code) => {
    expect(await readErrorCode(await wall.sendRequest(`GET /api/sign?${query}`))).toBe(code)
  },
)
