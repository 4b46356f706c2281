import { expect, test } from 'bun:test'
import { TEST_VECTOR } from '../../../../server/domain/wall/signed-fields.ts'
import { computeSignature } from '../../../support/fakes/wallets.ts'
import { NOW, createTestPayment, createWalletAddress } from '../../../support/samples.ts'
import { buyOverMcp, callTool, callReadTool } from '../../../support/service/agent.ts'
import { signAreaEdit, signEdit, signPainterChoice, createBodyInit } from '../../../support/service/signed.ts'
import { readJson, openWall } from '../../../support/service/wall.ts'

// Goal: a signed change through a tool has the same result and the same errors as over HTTP. Method: each request is
// sent over HTTP to one wall, and through a tool to another.

const AREA = '3,4,2x1'
const px = '07'.repeat(100)

/** A wall on which the first wallet owns two blocks, and a third block is held in doubt. */
async function openSoldWall() {
  const wall = await openWall()
  for (const [at, coord] of ['3,4', '4,4'].entries()) await buyOverMcp(wall, { coord }, createTestPayment(1, at + 1))
  wall.facilitator.settling = { kind: 'unclear' }
  await buyOverMcp(wall, { coord: '9,9' }, createTestPayment(3, 3))
  return wall
}

const [front, back] = [await openSoldWall(), await openSoldWall()]

type Row = readonly [tool: string, named: object, address: string, body: object, ends?: string]

const createBlockRow = (change: object = {}, payer = 1): Row => [
  'set_pixels',
  { coord: '3,4' },
  '/blocks/3,4',
  { ...signEdit(payer, '3,4', { pixels: px, message: null }), ...change },
]
const createAreaRow = (change: object = {}, payer = 1): Row => [
  'set_area',
  { area: AREA },
  `/areas/${AREA}`,
  { ...signAreaEdit(payer, AREA, { pixels: new Uint8Array(200), message: 'ours' }, NOW + 1), ...change },
]
const createNamingRow = (change: object = {}): Row => [
  'set_painter',
  {},
  '/api/agents/me/painter',
  { ...signPainterChoice(1, createWalletAddress(9)), ...change },
]
const createRefusedBlockRow = (coord: string, error: string): Row => [
  'set_pixels',
  { coord },
  `/blocks/${coord}`,
  signEdit(1, coord, { pixels: px }),
  error,
]
const createRefusedRow = ([tool, named, address, body]: Row, error: string): Row => [tool, named, address, body, error]

const rows: readonly Row[] = [
  createRefusedRow(createBlockRow({}, 2), 'unauthorized'),
  createRefusedRow(createBlockRow({ pixels: 'f0'.repeat(100) }), 'invalid_pixels'),
  createRefusedRow(createBlockRow({ message: '' }), 'invalid_message'),
  createRefusedRow(createBlockRow({ link: 'http://a.example/' }), 'invalid_link'),
  createRefusedRow(createBlockRow({ pixels: undefined, message: undefined }), 'empty_update'),
  createRefusedRow(createBlockRow({ signature: undefined }), 'invalid_body'),
  createRefusedRow(createBlockRow({ px }), 'invalid_body'),
  createRefusedRow(createBlockRow({ ts: NOW - 300_001 }), 'stale_signature'),
  createRefusedBlockRow('160,0', 'invalid_coordinate'),
  createRefusedBlockRow('next', 'invalid_coordinate'),
  createRefusedBlockRow('5,5', 'no_owner'),
  createRefusedBlockRow('9,9', 'purchase_pending'),
  createRefusedRow(createAreaRow({}, 2), 'unauthorized'),
  createRefusedRow(createAreaRow({ pixels: 'AAAA' }), 'invalid_pixels'),
  createRefusedRow(createAreaRow({ ts: NOW - 300_001 }), 'stale_signature'),
  ['set_area', { area: '3,4' }, '/areas/3,4', signAreaEdit(1, '3,4', { message: 'a' }), 'invalid_area'],
  ['set_area', { area: '3,4,3x1' }, '/areas/3,4,3x1', signAreaEdit(1, '3,4,3x1', { message: 'a' }), 'no_owner'],
  createRefusedRow(createNamingRow({ painter: 'me' }), 'invalid_painter'),
  createRefusedRow(createNamingRow({ painter: undefined }), 'invalid_body'),
  createRefusedRow(createNamingRow({ wallet: '0x12' }), 'invalid_wallet'),
  createRefusedRow(createNamingRow({ ts: NOW - 300_001 }), 'stale_signature'),
  createRefusedRow(createNamingRow({ wallet: createWalletAddress(2) }), 'no_purchases'),
  createRefusedRow(createNamingRow({ signature: '0x12' }), 'unauthorized'),
  createBlockRow(),
  createAreaRow(),
  createAreaRow(),
  createNamingRow(),
  createRefusedRow(createNamingRow(), 'stale_signature'),
]

test.each(rows.map(([tool, named, address, body, ends = 'made']) => [tool, named, address, body, ends] as const))(
  '%s with %j gets the same response as a PUT to %s',
  async (tool, named, address, body, ends) => {
    const { untrusted: _, ...result } = await callReadTool(back, tool, { ...named, ...body })
    expect(result).toEqual(await readJson(await front.sendRequest(`PUT ${address}`, createBodyInit(body))))
    expect(result['error'] ?? 'made').toBe(ends)
  },
)

test('a call to set_pixels without a coordinate, or to set_area with an area that is not a string, is rejected and marked as an error', async () => {
  expect(await callReadTool(back, 'set_pixels', signEdit(1, '3,4', { pixels: px }))).toMatchObject({
    error: 'invalid_coordinate',
  })
  expect(await callReadTool(back, 'set_area', { area: 3, ...signAreaEdit(1, AREA, { message: 'a' }) })).toMatchObject({
    error: 'invalid_area',
  })
  expect(await callTool(back, 'set_pixels', { coord: '3,4' })).toHaveProperty('isError', true)
})

test('the result of a repaint lists the untrusted fields, which contain texts from users', async () => {
  const ts = NOW + 2
  const { untrusted } = await callReadTool(back, 'set_pixels', {
    coord: '3,4',
    ...signEdit(1, '3,4', { message: 'x' }, { ts }),
  })
  expect(untrusted).toEqual(['deed.owner.name', 'deed.owner.framework', 'deed.message', 'deed.link'])
})

const indices = new Uint8Array(200).fill(7).toBase64()
const link = 'https://ada.example/'

const kinds: ReadonlyArray<readonly [tool: string, args: Readonly<Record<string, unknown>>, query: string]> = [
  ['set_pixels', { coord: '3,4', message: null, link }, `coord=3,4&link=${link}&clear=message`],
  [
    'set_area',
    { area: AREA, pixels: indices, link: null },
    `area=${AREA}&pixels=${encodeURIComponent(indices)}&clear=link`,
  ],
  [
    'set_painter',
    { wallet: createWalletAddress(1), painter: createWalletAddress(5) },
    `wallet=${createWalletAddress(1)}&painter=${createWalletAddress(5)}`,
  ],
  ['set_painter', { wallet: createWalletAddress(1), painter: null }, `wallet=${createWalletAddress(1)}&clear=painter`],
]

test.each(kinds)(
  'the text to sign for %s is the same as over HTTP, and the tool accepts its signature',
  async (kind, args, query) => {
    back.clock.advance(10)
    const ts = back.clock.now()
    const { call, ...help } = await callReadTool(back, 'signing_message', { kind, ...args, ts })
    expect(help['testVector']).toEqual(TEST_VECTOR)
    expect(help).toEqual(await readJson(await back.sendRequest(`GET /api/sign?kind=${kind}&${query}&ts=${ts}`)))
    const signature = computeSignature(createWalletAddress(1), String(help['message']))
    const made = call as { name: string; arguments: object }
    expect(await callReadTool(back, made.name, { ...made.arguments, signature })).not.toHaveProperty('error')
  },
)

test('the text to sign for the name of a wallet is the same as over HTTP', async () => {
  const args = { kind: 'register', wallet: createWalletAddress(1), name: 'Ada', framework: null, ts: back.clock.now() }
  const { call, ...help } = await callReadTool(back, 'signing_message', args)
  const query = `kind=register&wallet=${createWalletAddress(1)}&name=Ada&clear=framework&ts=${args.ts}`
  expect(help).toEqual(await readJson(await back.sendRequest(`GET /api/sign?${query}`)))
  const { name, arguments: given } = call as { name: string; arguments: object }
  expect([name, given]).toEqual([
    'set_identity',
    { wallet: createWalletAddress(1), ts: args.ts, name: 'Ada', framework: null },
  ])
  const signature = computeSignature(createWalletAddress(1), String(help['message']))
  expect(await callReadTool(back, name, { ...given, signature })).toMatchObject({
    updated: true,
    agent: { name: 'Ada', framework: null },
    untrusted: ['agent.name', 'agent.framework', 'agent.link'],
  })
})

test('a call with missing fields is rejected with an error that lists these fields', async () => {
  expect(await callReadTool(back, 'set_pixels', { coord: '3,4', message: 'hi' })).toMatchObject({
    error: 'invalid_body',
    message: expect.stringMatching(/^Missing: ts, signature\. Send a JSON object with /),
  })
  expect(await callReadTool(back, 'set_identity', { ts: 1, signature: '0x12', name: 'Ada' })).toMatchObject({
    message: expect.stringMatching(/^Missing: wallet\. /),
  })
})

test.each([
  [{}, 'invalid_body'],
  [{ kind: 'x' }, 'invalid_body'],
  [{ kind: 'set_pixels', coord: '3,4' }, 'empty_update'],
])(
  'a request for the text to sign is rejected for the arguments %j with %s, like the change itself',
  async (args, error) => {
    expect(await callReadTool(back, 'signing_message', args)).toMatchObject({ error })
  },
)
