import { expect, test } from 'bun:test'
import { createWorkerPictures } from '../../../../server/adapters/pictures/pictures.ts'
import { measureTextWidth } from '../../../../server/domain/picture/drawing.ts'
import type { Pictures } from '../../../../server/ports.ts'
import { PALETTE } from '../../../../shared/palette.ts'
import { decodePicture } from '../../../support/service/decoded.ts'
import { readErrorCode, openWall } from '../../../support/service/wall.ts'

// Goal: a link to the wall, a block or an agent shows its content. Method: blocks of known colours are bought, the real
// worker and encoder draw the cards, and another decoder reads the colours at their known positions.

const RED = 180
const GREEN = 46
const rainbow = Uint8Array.from({ length: 100 }, (_, at) => 16 + 2 * at).toHex()
const createFlatPixels = (index: number) => index.toString(16).padStart(2, '0').repeat(100)

const wall = await openWall()
await wall.buyBlock(`/blocks/3,4?px=${rainbow}`, 1)
await wall.buyBlock(`/blocks/4,4?px=${createFlatPixels(RED)}`, 2, 2)
await wall.buyBlock(`/blocks/20,4?px=${createFlatPixels(GREEN)}`, 1, 3)
await wall.buyBlock(`/blocks/159,89?px=${createFlatPixels(RED)}`, 2, 4)

const findColour = (index: number) => PALETTE[index] ?? ''
const readCard = async (query: string) => await decodePicture(await wall.sendRequest(`GET /card.png${query}`))

test.each(['', '?block=3,4', '?block=80,45', '?agent=1', '?agent=2'])(
  'the card for the query %p has 1200 x 630 pixels',
  async (query) => {
    const response = await wall.sendRequest(`GET /card.png${query}`)
    expect(response.headers.get('content-type')).toBe('image/png')
    const { width, height } = await decodePicture(response)
    expect([width, height]).toEqual([1200, 630])
  },
)

test('the wall’s card shows the whole wall, with each block six pixels wide and at its position', async () => {
  const { readColour: colourAt } = await readCard('')
  const readMiddle = (col: number, row: number) => colourAt(120 + col * 6 + 3, 28 + row * 6 + 3)
  expect([readMiddle(4, 4), readMiddle(20, 4), readMiddle(159, 89)]).toEqual([RED, GREEN, RED].map(findColour))
  expect([readMiddle(50, 50), colourAt(5, 5)]).toEqual([217, 216].map(findColour))
})

test('a block’s card shows every pixel of the block, and marks its position on the wall', async () => {
  const { readColour: colourAt } = await readCard('?block=3,4')
  for (let at = 0; at < 100; at++)
    expect(colourAt(40 + (at % 10) * 44 + 22, 140 + Math.floor(at / 10) * 44 + 22)).toBe(findColour(16 + 2 * at))
  const place = { x: 520 + 3 * 4, y: 140 + 4 * 4 }
  expect(colourAt(place.x - 4, place.y)).toBe('#ffffff')
  // This point is on another block of the wall, away from the marker.
  expect(colourAt(520 + 20 * 4 + 2, place.y + 2)).toBe(findColour(GREEN))
})

test('a block’s card shows the whole artwork that the block is part of, and marks the block in that artwork', async () => {
  const own = await openWall()
  await own.buyBlock(`/blocks/9,9?px=${createFlatPixels(0)}`, 1)
  await own.buyBlock(`/blocks/10,9?px=${createFlatPixels(GREEN)}`, 1, 2)
  const { readColour: colourAt } = await decodePicture(await own.sendRequest('GET /card.png?block=9,9'))
  // The card shows two blocks, each 220 pixels wide, in the middle of a pane of 440.
  expect([colourAt(40 + 110, 360), colourAt(40 + 330, 360)]).toEqual([0, GREEN].map(findColour))
  expect(colourAt(40 + 110, 250 - 4)).toBe('#ffffff')
})

test('an agent’s card shows the agent’s blocks, with all other blocks dimmed', async () => {
  const { readColour: colourAt } = await readCard('?agent=1')
  // The part of the wall around 3,4 and 20,4 cannot extend beyond the wall's corner, so the card begins there. Each
  // block is 30 pixels wide.
  const readMiddleColour = (col: number, row: number) => colourAt(120 + col * 30 + 15, 28 + row * 30 + 15)
  expect(readMiddleColour(20, 4)).toBe(findColour(GREEN))
  expect(colourAt(120 + 3 * 30 + 1, 28 + 4 * 30 + 1)).toBe(findColour(16))
  expect(readMiddleColour(4, 4)).not.toBe(findColour(RED))
})

test('the cards of an artwork and of an agent show the agent’s name if the font has all of its letters', async () => {
  const named = await openWall()
  await named.buyBlock('/blocks/3,4?name=Ada', 1)
  await named.buyBlock(`/blocks/9,9?name=${encodeURIComponent('Адель')}`, 2, 2)
  /** Returns the left end of the right-aligned line of text. */
  const findTextStart = async (query: string) => {
    const { readColour: colourAt } = await decodePicture(await named.sendRequest(`GET /card.png${query}`))
    const columns = Array.from({ length: 500 }, (_, at) => 700 + at)
    return columns.find((x) => [590, 594, 598, 602, 606].some((y) => colourAt(x, y) !== findColour(216)))
  }
  const alignRight = (text: string, right: number) => right - measureTextWidth(text, 3)
  expect(await findTextStart('?work=3,4')).toBe(alignRight('ADA : 1 BLOCK', 1160))
  expect(await findTextStart('?agent=1')).toBe(alignRight('ADA : 1 BLOCK', 1080))
  // The first character, a 1, leaves its first column empty.
  expect(await findTextStart('?work=9,9')).toBe(alignRight('1 BLOCK', 1160) + 3)
})

test('if an agent’s blocks are far apart, the agent’s card shows the whole wall', async () => {
  const { readColour: colourAt } = await readCard('?agent=2')
  const middleOf = (col: number, row: number) => colourAt(120 + col * 6 + 3, 28 + row * 6 + 3)
  expect([middleOf(4, 4), middleOf(159, 89)]).toEqual([RED, RED].map(findColour))
  expect(middleOf(20, 4)).not.toBe(findColour(GREEN))
})

test('a request with the ETag of a card gets 304 until the wall changes', async () => {
  const own = await openWall()
  const path = 'GET /card.png?block=1,1'
  const first = await own.sendRequest(path)
  expect(first.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=2')
  const holding = { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } }
  expect((await own.sendRequest(path, holding)).status).toBe(304)
  expect((await own.sendRequest('GET /card.png', holding)).status).toBe(200)
  await own.buyBlock(`/blocks/1,1?px=${createFlatPixels(GREEN)}`, 1)
  const second = await own.sendRequest(path, holding)
  expect(second.status).toBe(200)
  expect((await decodePicture(second)).readColour(100, 200)).toBe(findColour(GREEN))
})

test.each([
  ['?block=160,0', 'invalid_coordinate'],
  ['?block=next', 'invalid_coordinate'],
  ['?block=1,1&block=1,1', 'invalid_coordinate'],
  ['?agent=0', 'invalid_option'],
  ['?agent=0x12', 'invalid_option'],
  ['?agent=1&block=1,1', 'invalid_option'],
  ['?agent=3', 'not_found'],
])('a request for the card %s is rejected', async (query, code) => {
  expect(await readErrorCode(await wall.sendRequest(`GET /card.png${query}`))).toBe(code)
})

test('a card is drawn even while twenty unfinished conversions keep the workers busy', async () => {
  const own = await openWall()
  const paint = async (): Promise<never> => await new Promise(() => {})
  const crowd = await openWall({ pictures: { ...createWorkerPictures(), convertToPalette: paint } })
  const upload = { headers: { 'Content-Type': 'application/octet-stream' }, body: new Uint8Array(3) }
  for (let at = 0; at < 20; at++) void crowd.sendRequest('POST /api/pixels?w=1&h=1&width=1&height=1', upload)
  const [card, same] = [await crowd.sendRequest('GET /card.png'), await own.sendRequest('GET /card.png')]
  expect([card.status, await card.bytes()]).toEqual([200, await same.bytes()])
})

test('the wall is scaled down once for all cards that are drawn at the same time', async () => {
  let shrunk = 0
  const pictures: Pictures = {
    encode: async () => new Uint8Array(1),
    convertToPalette: async () => 'busy',
    async shrink(_, width, height) {
      shrunk++
      return { width, height, indices: new Uint8Array(width * height) }
    },
  }
  const own = await openWall({ pictures })
  const requestCard = async (col: number) => (await own.sendRequest(`GET /card.png?block=${col},0`)).status
  expect(new Set(await Promise.all(Array.from({ length: 20 }, (_, col) => requestCard(col))))).toEqual(new Set([200]))
  expect(shrunk).toBe(1)
})
