import { expect, test } from 'bun:test'
import { PALETTE } from '../../../../shared/palette.ts'
import { blockOf, NOW, paymentOf, wallet } from '../../../support/samples.ts'
import { callTool } from '../../../support/service/agent.ts'
import { decoded } from '../../../support/service/decoded.ts'
import { editOf, sending } from '../../../support/service/signed.ts'
import { jsonOf, openWall, payloadOf, type Wall } from '../../../support/service/wall.ts'

// Goal: what the operator hides is in nothing that anybody can read. Method: a block is sold, repainted, hidden and
// repainted again, each time with marks of its own; then every read there is, is searched for the marks, and the same reads
// for those of one near it, so that the search itself is proven.

const GREEN = 46
const RED = 180
const flat = (index: number) => index.toString(16).padStart(2, '0').repeat(100)
const colourOf = (index: number) => PALETTE[index] ?? ''

const HIDDEN = blockOf('80,45')
const marks = ['hidden-sale', 'hidden-repaint', 'hidden-later', 'hidden.example']
const pixelMarks = [flat(GREEN), Buffer.from(flat(GREEN), 'hex').toString('base64')]

const READS = [
  'GET /blocks/80,45',
  'GET /api/canvas',
  'GET /api/blocks',
  'GET /api/feed',
  'GET /api/history',
  'GET /api/agents',
  `GET /api/agents/${wallet(1)}`,
  'GET /?block=80,45',
  'GET /api/sign?kind=set_pixels&coord=80,45&message=x',
]

const PICTURES = [
  '/wall.png',
  '/wall.png?col=80&row=45&cols=4&rows=1',
  '/card.png',
  '/card.png?block=80,45',
  '/card.png?agent=1',
]

/** A wall with a hidden block at 80,45 and one of the same owner at 83,45 that is shown. */
async function wallWithHidden(): Promise<Wall> {
  const wall = await openWall()
  const link = encodeURIComponent('https://hidden.example/')
  await wall.buy(`/blocks/80,45?message=hidden-sale&link=${link}&px=${flat(GREEN)}`, 1)
  const repaint = (message: string, ts: number) =>
    wall.ask('PUT /blocks/80,45', sending(editOf(1, '80,45', { message, pixels: flat(GREEN) }, { ts })))
  expect((await repaint('hidden-repaint', NOW)).status).toBe(200)
  // Nothing that is kept from before may tell it.
  for (const read of [...READS, ...PICTURES.map((path) => `GET ${path}`)]) await wall.ask(read)
  await wall.db.moderation.moderate(HIDDEN, 'hide', ['pixels', 'message', 'link'], NOW)
  const later = await repaint('hidden-later', NOW + 1)
  expect(await jsonOf(later)).toMatchObject({ deed: { message: null, link: null, pixels: null } })
  await wall.buy(
    `/blocks/83,45?message=shown-sale&link=${encodeURIComponent('https://shown.example/')}&px=${flat(RED)}`,
    1,
    2,
  )
  return wall
}

const wall = await wallWithHidden()

test.each(READS)('what is hidden is not told by %s', async (read) => {
  const text = await (await wall.ask(read)).text()
  expect([...marks, ...pixelMarks].filter((mark) => text.includes(mark))).toEqual([])
})

test('the receipt of its own payment tells the sale without it, by either door', async () => {
  const overHttp = await wall.buy('/blocks/80,45', 1)
  expect(await jsonOf(overHttp)).toMatchObject({ deed: { message: null, link: null, painted: true } })
  const overMcp = await callTool(wall, 'buy_block', { coord: '80,45' }, payloadOf(paymentOf(1, 1)))
  expect(overMcp.structuredContent).toEqual(await jsonOf(overHttp))
})

test('the block near it is told by the same reads', async () => {
  for (const read of ['GET /blocks/83,45', 'GET /api/canvas', 'GET /api/feed', 'GET /api/history']) {
    const text = await (await wall.ask(read)).text()
    expect([read, text.includes('shown-sale'), text.includes('shown.example')]).toEqual([read, true, true])
  }
})

test('the live stream tells it to nobody, not even to who comes back from before', async () => {
  const response = await wall.ask('GET /api/live', { headers: { 'Last-Event-ID': '0' } })
  let text = ''
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes('shown-sale')) break
  }
  expect(text).toContain('id: 3')
  expect([...marks, ...pixelMarks].filter((mark) => text.includes(mark))).toEqual([])
})

test('its bytes are unpainted in the bare pixels', async () => {
  const bytes = await (await wall.ask('GET /api/canvas.bin')).bytes()
  const pixelsOf = (block: number) => new Set(bytes.subarray(block * 100, block * 100 + 100))
  expect([pixelsOf(HIDDEN), pixelsOf(HIDDEN + 3)]).toEqual([new Set([255]), new Set([RED])])
})

const coloursIn = async (picture: Response) => (await decoded(picture)).colours()

test.each(PICTURES)('its colours are not in %s, and those of the block near it are', async (path) => {
  const colours = await coloursIn(await wall.ask(`GET ${path}`))
  expect([colours.has(colourOf(GREEN)), colours.has(colourOf(RED))]).toEqual([false, true])
})

test('its own picture is that of a block without one', async () => {
  expect((await coloursIn(await wall.ask('GET /blocks/80,45.png'))).has(colourOf(GREEN))).toBe(false)
  expect((await coloursIn(await wall.ask('GET /blocks/83,45.png'))).has(colourOf(RED))).toBe(true)
})

test('a preview of a purchase next to it shows it bare', async () => {
  const coloursBeside = async (coord: string) => {
    const { image } = await jsonOf(await wall.ask('POST /api/preview', sending({ coord })))
    return await coloursIn(new Response(Buffer.from(String(image), 'base64')))
  }
  expect((await coloursBeside('81,45')).has(colourOf(GREEN))).toBe(false)
  expect((await coloursBeside('82,45')).has(colourOf(RED))).toBe(true)
})

const TOOLS = [
  ['get_wall', {}],
  ['get_block', { coord: '80,45' }],
  ['get_founding_machines', {}],
  ['my_wall', { wallet: wallet(1) }],
] as const

test.each(TOOLS)('%s tells nothing of it', async (name, args) => {
  const text = JSON.stringify(await callTool(wall, name, args))
  expect([...marks, ...pixelMarks].filter((mark) => text.includes(mark))).toEqual([])
})

test('get_wall_image shows it bare', async () => {
  const { content } = await callTool(wall, 'get_wall_image', { col: 80, row: 45, cols: 4, rows: 1 })
  const data = content.find(({ type }) => type === 'image')?.data ?? ''
  const colours = await coloursIn(new Response(Buffer.from(data, 'base64')))
  expect([colours.has(colourOf(GREEN)), colours.has(colourOf(RED))]).toEqual([false, true])
})

// A wallet whose names are hidden, and one that is banned and speaks on every way there is.
async function wallWithBanned(): Promise<Wall> {
  const wall = await openWall()
  await wall.buy('/blocks/3,4?name=hidden-name&framework=hidden-frame', 1)
  await wall.buy('/blocks/9,9?name=shown-name', 3)
  await wall.db.moderation.moderateWallet(wallet(1), { act: 'hide', parts: ['name', 'framework'] }, NOW)
  await wall.buy('/blocks/5,6?message=shown-before', 2)
  await wall.db.moderation.moderateWallet(wallet(2), { act: 'ban' }, NOW)
  const link = encodeURIComponent('https://hidden.example/')
  await wall.buy(`/blocks/80,45?name=hidden-name&message=hidden-sale&link=${link}&px=${flat(GREEN)}`, 2, 4)
  const edit = editOf(2, '80,45', { message: 'hidden-repaint' }, { ts: NOW })
  expect((await wall.ask('PUT /blocks/80,45', sending(edit))).status).toBe(200)
  await wall.buy('/blocks/7,8?name=hidden-again', 1, 5)
  return wall
}

const banned = await wallWithBanned()
const BANNED_READS = [
  ...READS,
  'GET /blocks/3,4',
  'GET /blocks/7,8',
  `GET /api/agents/${wallet(2)}`,
  'GET /api/tail',
  'GET /atlas',
  'GET /atlas.atom',
  'GET /?block=3,4',
  'GET /?agent=1',
  'GET /areas/3,4,1x1',
]

test.each(BANNED_READS)('neither a hidden name nor the word of a banned wallet is told by %s', async (read) => {
  const text = await (await banned.ask(read)).text()
  expect(
    ['hidden-name', 'hidden-frame', 'hidden-again', ...marks, ...pixelMarks].filter((mark) => text.includes(mark)),
  ).toEqual([])
})

test('nor by the tools, the live stream, pictures or receipts, while others are told', async () => {
  for (const [name, args] of [...TOOLS, ['get_block', { coord: '3,4' }], ['my_wall', { wallet: wallet(2) }]] as const)
    expect([name, JSON.stringify(await callTool(banned, name, args)).includes('hidden-')]).toEqual([name, false])
  const response = await banned.ask('GET /api/live', { headers: { 'Last-Event-ID': '0' } })
  let text = ''
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.includes(`id: ${(await banned.db.log.compacted()).at(-1)?.number}\n`)) break
  }
  expect([text.includes('shown-name'), text.includes('shown-before'), text.includes('hidden')]).toEqual([
    true,
    true,
    false,
  ])
  expect((await coloursIn(await banned.ask('GET /wall.png'))).has(colourOf(GREEN))).toBe(false)
  const receipt = await jsonOf(await banned.buy('/blocks/80,45', 2, 4))
  expect(receipt).toMatchObject({ deed: { name: null, message: null, link: null, painted: true } })
})
