import { expect, test } from 'bun:test'
import type { Payment } from '../../../../server/domain/purchase/payment.ts'
import { PALETTE } from '../../../../shared/palette.ts'
import { parseBlockOrThrow, NOW, createTestPayment, createWalletAddress } from '../../../support/samples.ts'
import { callTool } from '../../../support/service/agent.ts'
import { bindPayment } from '../../../support/service/bound.ts'
import { decodePicture } from '../../../support/service/decoded.ts'
import { signEdit, createBodyInit } from '../../../support/service/signed.ts'
import { readJson, openWall, createPaidInit, toPayload, type Wall } from '../../../support/service/wall.ts'

// Goal: no read shows what the operator has hidden. Method: the operator hides a block, a name and a whole wallet, and
// their owners publish texts with unique marks before and after the hiding. Every read is then searched for these
// marks, and some reads also for the marks of a shown block, to prove that the search works.

const GREEN = 46
const RED = 180
const createFlatPixels = (index: number) => index.toString(16).padStart(2, '0').repeat(100)
const findColour = (index: number) => PALETTE[index] ?? ''

const HIDDEN = parseBlockOrThrow('80,45')
const pixelMarks = [createFlatPixels(GREEN), Buffer.from(createFlatPixels(GREEN), 'hex').toString('base64')]

/** Lists the marks of hidden texts, links and pictures that a text contains. */
const listMarks = (text: string) => [
  ...(text.match(/hidden[-.]\w+/g) ?? []),
  ...pixelMarks.filter((px) => text.includes(px)),
]

const READS = [
  'GET /blocks/80,45',
  'GET /blocks/3,4',
  'GET /blocks/5,6',
  'GET /blocks/7,8',
  'GET /areas/3,4,1x1',
  'GET /api/canvas',
  'GET /api/blocks',
  'GET /api/feed',
  'GET /api/deeds',
  'GET /api/history',
  'GET /api/tail',
  'GET /api/agents',
  ...[1, 2, 3].map((payer) => `GET /api/agents/${createWalletAddress(payer)}`),
  'GET /atlas',
  'GET /atlas.atom',
  'GET /?block=80,45',
  'GET /?block=3,4',
  'GET /?agent=2',
  'GET /api/sign?kind=set_pixels&coord=80,45&message=x',
]

const PICTURES = [
  '/wall.png',
  '/wall.png?col=80&row=45&cols=4&rows=1',
  '/card.png',
  '/card.png?block=80,45',
  '/card.png?agent=1',
]

/** The payment for each block. All payments are bound to their orders, so that deeds contain as much as possible. */
const payments = new Map<string, Payment>()

const findPayment = (coord: string) => payments.get(coord) ?? createTestPayment(0, 0)

/**
 * A wall on which the first wallet's block at 80,45 is hidden, and its block at 83,45 is shown. The second wallet's
 * names are hidden, and the third wallet is banned. All three wallets publish content both before and after these
 * decisions.
 */
async function openWallWithHiddenContent(): Promise<Wall> {
  const wall = await openWall()
  const { moderation } = wall.db
  const link = encodeURIComponent('https://hidden.example/')
  const buy = async (coord: string, query: string, payer: number, nonce: number) => {
    const order = { block: coord, ...Object.fromEntries(new URLSearchParams(query)) }
    const payment = bindPayment(order, createTestPayment(payer, nonce))
    payments.set(coord, payment)
    expect((await wall.sendRequest(`GET /blocks/${coord}?${query}`, createPaidInit(payment))).status).toBe(200)
  }
  const repaintBlock = (payer: number, coord: string, message: string, ts: number) =>
    wall.sendRequest(
      `PUT /blocks/${coord}`,
      createBodyInit(signEdit(payer, coord, { message, pixels: createFlatPixels(GREEN) }, { ts })),
    )
  await buy('80,45', `message=hidden-sale&link=${link}&px=${createFlatPixels(GREEN)}`, 1, 1)
  expect((await repaintBlock(1, '80,45', 'hidden-repaint', NOW)).status).toBe(200)
  await buy('3,4', 'name=hidden-name&framework=hidden-frame', 2, 2)
  await buy('5,6', `message=shown-before&px=${createFlatPixels(RED)}`, 3, 3)
  // These requests fill the caches, to prove that no response cached before the hiding shows hidden content afterwards.
  for (const read of [...READS, ...PICTURES.map((path) => `GET ${path}`)]) await wall.sendRequest(read)
  await moderation.moderate(HIDDEN, 'hide', ['pixels', 'message', 'link'], NOW)
  await moderation.moderateWallet(createWalletAddress(2), { act: 'hide', parts: ['name', 'framework'] }, NOW)
  await moderation.moderateWallet(createWalletAddress(3), { act: 'ban' }, NOW)
  const later = await repaintBlock(1, '80,45', 'hidden-later', NOW + 1)
  expect(await readJson(later)).toMatchObject({ deed: { message: null, link: null, pixels: null } })
  await buy('7,8', 'name=hidden-name', 2, 4)
  await buy('9,9', `name=hidden-name&message=hidden-word&link=${link}&px=${createFlatPixels(GREEN)}`, 3, 5)
  expect((await repaintBlock(3, '9,9', 'hidden-word', NOW)).status).toBe(200)
  const shown = encodeURIComponent('https://shown.example/')
  await buy('83,45', `message=shown-sale&link=${shown}&px=${createFlatPixels(RED)}`, 1, 6)
  return wall
}

const wall = await openWallWithHiddenContent()

test.each(READS)('%s does not show hidden content', async (read) => {
  expect(listMarks(await (await wall.sendRequest(read)).text())).toEqual([])
})

test('the receipt for a hidden block shows the sale without the hidden parts, over HTTP and MCP', async () => {
  const overHttp = await wall.sendRequest('GET /blocks/80,45', createPaidInit(findPayment('80,45')))
  expect(await readJson(overHttp)).toMatchObject({ deed: { message: null, link: null, painted: true } })
  const overMcp = await callTool(wall, 'buy_block', { coord: '80,45' }, toPayload(findPayment('80,45')))
  expect(overMcp.structuredContent).toEqual(await readJson(overHttp))
  const ofBanned = await readJson(await wall.sendRequest('GET /blocks/9,9', createPaidInit(findPayment('9,9'))))
  expect(ofBanned).toMatchObject({ deed: { name: null, message: null, link: null, painted: true } })
})

test('public reads still show the content of a block that is not hidden', async () => {
  for (const read of ['GET /blocks/83,45', 'GET /api/canvas', 'GET /api/feed', 'GET /api/history', 'GET /api/deeds']) {
    const text = await (await wall.sendRequest(read)).text()
    expect([read, text.includes('shown-sale'), text.includes('shown.example')]).toEqual([read, true, true])
  }
})

test.each([
  ['the live stream', 'GET /api/live'],
  ['a shared stream', 'GET /api/live/shared'],
])('%s does not send hidden content, not even to a reader that resumes from an older log number', async (_, path) => {
  const response = await wall.sendRequest(path, { headers: { 'Last-Event-ID': '0' } })
  let text = ''
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('shown-sale')) break
  }
  expect([text.includes('shown-before'), listMarks(text)]).toEqual([true, []])
})

test('the raw pixels show a hidden block as unpainted', async () => {
  const bytes = await (await wall.sendRequest('GET /api/canvas.bin')).bytes()
  const listPixelValues = (block: number) => new Set(bytes.subarray(block * 100, block * 100 + 100))
  expect([listPixelValues(HIDDEN), listPixelValues(HIDDEN + 3)]).toEqual([new Set([255]), new Set([RED])])
})

const listColours = async (picture: Response) => (await decodePicture(picture)).listColours()

test.each(PICTURES)('the colour of a hidden block is not in %s, but the colour of a shown block is', async (path) => {
  const colours = await listColours(await wall.sendRequest(`GET ${path}`))
  expect([colours.has(findColour(GREEN)), colours.has(findColour(RED))]).toEqual([false, true])
})

test('the picture of a hidden block does not contain its colour, but the picture of a shown block does', async () => {
  expect((await listColours(await wall.sendRequest('GET /blocks/80,45.png'))).has(findColour(GREEN))).toBe(false)
  expect((await listColours(await wall.sendRequest('GET /blocks/83,45.png'))).has(findColour(RED))).toBe(true)
})

test('a preview of a purchase next to a hidden block shows the hidden block as unpainted', async () => {
  const listColoursBeside = async (coord: string) => {
    const { image } = await readJson(await wall.sendRequest('POST /api/preview', createBodyInit({ coord })))
    return await listColours(new Response(Buffer.from(String(image), 'base64')))
  }
  expect((await listColoursBeside('81,45')).has(findColour(GREEN))).toBe(false)
  expect((await listColoursBeside('82,45')).has(findColour(RED))).toBe(true)
})

test.each([
  ['get_wall', {}],
  ['get_block', { coord: '80,45' }],
  ['get_block', { coord: '3,4' }],
  ['get_founding_machines', {}],
  ...[1, 2, 3].map((payer) => ['my_wall', { wallet: createWalletAddress(payer) }] as const),
] as const)('%s with %j does not show hidden content', async (name, args) => {
  expect(listMarks(JSON.stringify(await callTool(wall, name, args)))).toEqual([])
})

test('get_wall_image shows a hidden block as unpainted', async () => {
  const { content } = await callTool(wall, 'get_wall_image', { col: 80, row: 45, cols: 4, rows: 1 })
  const data = content.find(({ type }) => type === 'image')?.data ?? ''
  const colours = await listColours(new Response(Buffer.from(data, 'base64')))
  expect([colours.has(findColour(GREEN)), colours.has(findColour(RED))]).toEqual([false, true])
})

test.each([
  '/wall.png',
  '/blocks/3,4.png',
  '/areas/3,4,1x1.png',
  '/card.png',
  '/card.png?block=3,4',
  '/atlas',
  '/atlas.atom',
  '/oembed?url=https://wall.test/',
])(
  'a proxy may cache %s for two seconds but must not serve it stale, because the operator may hide content in it',
  async (path) => {
    const { sendRequest: ask, buyBlock } = await openWall()
    await buyBlock('/blocks/3,4', 1)
    const response = await ask(`GET ${path}`)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=0, s-maxage=2'])
  },
)
