import { expect, test } from 'bun:test'
import { createRateLimits } from '../../../../server/wall/rate-limits.ts'
import { AREA_BLOCKS_MAX } from '../../../../shared/area.ts'
import { PALETTE } from '../../../../shared/palette.ts'
import { sellBlock } from '../../../support/engine.ts'
import { createFakeClock } from '../../../support/fakes/clock.ts'
import { parseBlockOrThrow, listCoords, NOW } from '../../../support/samples.ts'
import { decodePicture } from '../../../support/service/decoded.ts'
import { signAreaEdit, signEdit, createBodyInit } from '../../../support/service/signed.ts'
import { readErrorCode, readJson, openWall } from '../../../support/service/wall.ts'

const AREA = '3,4,3x2'
const COORDS = listCoords(AREA)

/** Pixels of the area, row by row; no two blocks are equal. */
const PIXELS = Uint8Array.from({ length: 600 }, (_, at) => at % 239)

/** The part of the picture on one block, by the index of that block in the area. */
const cutPart = (at: number) =>
  Uint8Array.from({ length: 100 }, (_, i) => {
    const [x, y] = [(at % 3) * 10 + (i % 10), Math.floor(at / 3) * 10 + Math.floor(i / 10)]
    return PIXELS[y * 30 + x] ?? 0
  })

async function openAreaWall() {
  const wall = await openWall()
  for (const [at, coord] of COORDS.entries()) await sellBlock(wall.db, coord, 1, at + 1)
  await wall.buyBlock('/blocks/0,0?message=elsewhere', 7, 7)
  const putArea = (body: unknown, area = AREA) => wall.sendRequest(`PUT /areas/${area}`, createBodyInit(body))
  const readArea = async (area = AREA) => await readJson(await wall.sendRequest(`GET /areas/${area}`))
  const readBlocks = () =>
    Promise.all(COORDS.map(async (coord) => await readJson(await wall.sendRequest(`GET /blocks/${coord}`))))
  return { ...wall, putArea, read: readArea, deeds: readBlocks }
}

const names = ['3,4', '03,4,1x1', '3,4,1X1', '159,4,2x1', '0,0,21x20', 'next,1x1', '%zz']

test.each(names)('%s is rejected as the name of an area', async (name) => {
  const { sendRequest: ask } = await openWall()
  for (const request of [`GET /areas/${name}`, `GET /areas/${name}.png`]) {
    expect(await readErrorCode(await ask(request))).toBe('invalid_area')
  }
  const body = signAreaEdit(1, name, { message: 'a' })
  expect(await readErrorCode(await ask(`PUT /areas/${name}`, createBodyInit(body)))).toBe('invalid_area')
})

test('an area shows how many of its blocks are open, sold and held, and their total price if all are open', async () => {
  const wall = await openWall()
  const read = async () => await readJson(await wall.sendRequest(`GET /areas/${AREA}`))
  expect(await read()).toEqual({
    area: AREA,
    blocks: 6,
    open: 6,
    taken: 0,
    held: 0,
    price: '6.00',
    owner: null,
  })
  await wall.buyBlock('/blocks/3,4?name=Ada', 1)
  wall.facilitator.settling = { kind: 'unclear' }
  await wall.buyBlock('/blocks/4,4', 2, 2)
  expect(await read()).toEqual({ area: AREA, blocks: 6, open: 4, taken: 1, held: 1, price: null, owner: null })
})

test('an area has an owner only if one wallet owns all of its blocks', async () => {
  const { read, sendRequest: ask, buyBlock } = await openAreaWall()
  const owner = { name: 'Ada', wallet: '0x0000…0001', framework: 'loom' }
  expect(await read()).toEqual({ area: AREA, blocks: 6, open: 0, taken: 6, held: 0, price: null, owner })
  await buyBlock('/blocks/6,4?name=Eve', 2, 50)
  expect(await read('3,4,4x1')).toMatchObject({ taken: 4, owner: null })
  const response = await ask('HEAD /areas/3,4,1x1')
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
})

test('the picture of an area shows that part of the wall, and proxies may cache it for two seconds', async () => {
  const { putArea, sendRequest: ask } = await openAreaWall()
  await putArea(signAreaEdit(1, AREA, { pixels: PIXELS }))
  const response = await ask(`GET /areas/${AREA}.png?scale=1`)
  expect(response.headers.get('content-type')).toBe('image/png')
  expect(response.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=2')
  const { width, height, readColour: colourAt } = await decodePicture(await ask(`GET /areas/${AREA}.png?scale=1`))
  expect([width, height]).toEqual([30, 20])
  for (const [at, index] of PIXELS.entries()) expect(colourAt(at % 30, Math.floor(at / 30))).toBe(PALETTE[index] ?? '')
  expect((await decodePicture(await ask(`GET /areas/${AREA}.png`))).width).toBe(120)
  const same = await ask('GET /wall.png?col=3&row=4&cols=3&rows=2')
  expect(await same.bytes()).toEqual(await response.bytes())
  const etag = response.headers.get('etag') ?? ''
  expect((await ask(`GET /areas/${AREA}.png?scale=1`, { headers: { 'if-none-match': etag } })).status).toBe(304)
})

test('an owner repaints an area with one signature, and every reader then sees each block with its part of the picture', async () => {
  const { putArea, deeds, sendRequest: ask } = await openAreaWall()
  const response = await putArea(
    signAreaEdit(1, AREA, { pixels: PIXELS, message: 'ours', link: 'https://ada.example/' }),
  )
  expect([response.status, await readJson(response)]).toEqual([200, { updated: true, area: AREA, blocks: 6 }])
  expect(response.headers.get('cache-control')).toBe('no-store')
  for (const [at, deed] of (await deeds()).entries())
    expect(deed).toMatchObject({ message: 'ours', link: 'https://ada.example/', pixels: cutPart(at).toBase64() })
  const { blocks } = (await readJson(await ask('GET /api/canvas'))) as { blocks: { i: number; px?: string }[] }
  expect(blocks.filter(({ i }) => i === parseBlockOrThrow('4,5'))).toMatchObject([
    { m: 'ours', px: cutPart(4).toBase64() },
  ])
  expect(await readJson(await ask('GET /blocks/0,0'))).toHaveProperty('message', 'elsewhere')
})

test('a signature for other pixels, another area or a block is not valid for a repaint of the area', async () => {
  const { putArea } = await openAreaWall()
  const { signature } = signAreaEdit(1, AREA, { pixels: PIXELS })
  const other = PIXELS.with(0, 7)
  expect((await putArea({ ...signAreaEdit(1, AREA, { pixels: other }), signature })).status).toBe(401)
  expect((await putArea(signAreaEdit(1, '3,4,2x2', { message: 'a' }))).status).toBe(401)
  const ofBlock = signEdit(1, '3,4', { message: 'a' })
  expect((await putArea(ofBlock, '3,4,1x1')).status).toBe(401)
})

test('an accepted repaint of an area uses the repaint budget of each of its blocks, and a rejected repaint uses none', async () => {
  const db = (await openWall()).db
  for (const [at, coord] of COORDS.entries()) await sellBlock(db, coord, 1, at + 1)
  const { sendRequest: ask } = await openWall({ limits: createRateLimits(createFakeClock(NOW)) }, db)
  const paintArea = async (name: string, message: string) =>
    (await ask(`PUT /areas/${name}`, createBodyInit(signAreaEdit(1, name, { message })))).status
  const statuses = []
  for (let at = 0; at < 31; at += 1) statuses.push(await paintArea('3,4,1x1', `${at}`))
  expect(statuses.slice(-2)).toEqual([200, 429])
  expect(await paintArea(AREA, 'all')).toBe(429)
  const others = []
  for (let at = 0; at < 31; at += 1) others.push(await paintArea('4,4,2x2', `${at}`))
  expect(others.slice(-2)).toEqual([200, 429])
})

test('the live stream and the history show each block of a repainted area, row by row', async () => {
  const { putArea, sendRequest: ask } = await openAreaWall()
  const live = await ask('GET /api/live')
  await putArea(signAreaEdit(1, AREA, { pixels: PIXELS, message: 'ours' }))
  const history = (await readJson(await ask('GET /api/history?after=7'))) as {
    changes: { coord: string; px: string }[]
  }
  expect(history.changes.map(({ coord }) => coord)).toEqual(COORDS)
  expect(history.changes.map(({ px }) => px)).toEqual(COORDS.map((_, at) => cutPart(at).toBase64()))
  const reader = live.body?.getReader() ?? expect.unreachable()
  let heard = ''
  while ((heard.match(/event: repaint/g) ?? []).length < 6)
    heard += new TextDecoder().decode((await reader.read()).value)
  await reader.cancel()
  for (const coord of COORDS) expect(heard).toContain(`"coord":"${coord}"`)
})

test('a repaint of the largest area fits within the body limit', async () => {
  const db = (await openWall()).db
  const name = '40,30,20x20'
  for (const [at, coord] of listCoords(name).entries()) await sellBlock(db, coord, 1, at + 1)
  const { sendRequest: ask } = await openWall({}, db)
  const pixels = Uint8Array.from({ length: 100 * AREA_BLOCKS_MAX }, (_, at) => at % 240)
  const response = await ask(
    `PUT /areas/${name}`,
    createBodyInit(signAreaEdit(1, name, { pixels, message: 'é'.repeat(140) })),
  )
  expect(await readJson(response)).toEqual({ updated: true, area: name, blocks: 400 })
})

const wall = await openAreaWall()

const bodies: ReadonlyArray<readonly [what: string, fields: object, code: string]> = [
  ['no changes', {}, 'empty_update'],
  ['pixels: null', { pixels: null }, 'invalid_body'],
  ['an empty pixel string', { pixels: '' }, 'invalid_pixels'],
  ['the pixels of only one block', { pixels: new Uint8Array(100).toBase64() }, 'invalid_pixels'],
  ['one pixel too many', { pixels: new Uint8Array(601).toBase64() }, 'invalid_pixels'],
  ['a colour outside the palette', { pixels: new Uint8Array(600).with(599, 240).toBase64() }, 'invalid_pixels'],
  ['a pixel string that is as long as hex but is not hex', { pixels: '0z'.repeat(600) }, 'invalid_pixels'],
  ['an image', { image: '' }, 'invalid_body'],
]

test.each(bodies)('a repaint of an area with %s is rejected', async (_, given, code) => {
  expect(await readErrorCode(await wall.putArea({ ts: NOW, signature: '0x12', ...given }))).toBe(code)
})

test('a repaint of an area reports errors in this order: body, area, pixels, owner, time', async () => {
  const late = signAreaEdit(2, AREA, { message: 'a' }, 1)
  expect(await readErrorCode(await wall.putArea({ ...late, message: '' }, '0,0,0x0'))).toBe('invalid_message')
  expect(await readErrorCode(await wall.putArea(late, '0,0,0x0'))).toBe('invalid_area')
  expect(await readErrorCode(await wall.putArea({ ...late, pixels: '' }, '50,50,1x1'))).toBe('invalid_pixels')
  expect(await readErrorCode(await wall.putArea(late, '50,50,1x1'))).toBe('no_owner')
  expect(await readErrorCode(await wall.putArea(late))).toBe('stale_signature')
})
