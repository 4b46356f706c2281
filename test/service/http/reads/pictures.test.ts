import { expect, test } from 'bun:test'
import { UPLOAD_MAX_BYTES } from '../../../../server/http/request/clients.ts'
import { PALETTE } from '../../../../shared/palette.ts'
import { createFlatPng, createJpegOfScans } from '../../../support/picture-files.ts'
import { decodePicture } from '../../../support/service/decoded.ts'
import { readErrorCode, readJson, openWall } from '../../../support/service/wall.ts'

const wall = await openWall()
const px = Uint8Array.from({ length: 100 }, (_, at) => 239 - at).toHex()
await wall.buyBlock(`/blocks/3,4?px=${px}`, 1)

const readPicture = async (path: string) => await decodePicture(await wall.sendRequest(`GET ${path}`))

test('the picture of the wall shows every block at its position, to the pixel', async () => {
  const { width, height, readColour: colourAt } = await readPicture('/wall.png')
  expect([width, height]).toEqual([1600, 900])
  for (let at = 0; at < 100; at++)
    expect(colourAt(30 + (at % 10), 40 + Math.floor(at / 10))).toBe(PALETTE[239 - at] ?? '')
  expect([colourAt(0, 0), colourAt(1, 1), colourAt(1599, 899)]).toEqual([220, 217, 217].map((i) => PALETTE[i] ?? ''))
})

test('a part of the wall is returned at the requested scale', async () => {
  const { width, height, readColour: colourAt } = await readPicture('/wall.png?col=2&row=4&cols=2&rows=1&scale=3')
  expect([width, height]).toEqual([60, 30])
  expect([colourAt(29, 0), colourAt(30, 0), colourAt(32, 2), colourAt(33, 0)]).toEqual(
    [217, 239, 239, 238].map((i) => PALETTE[i] ?? ''),
  )
})

test('each block has its own picture', async () => {
  const { width, height, readColour: colourAt } = await readPicture('/blocks/003,4.png?scale=2')
  expect([width, height, colourAt(19, 19)]).toEqual([20, 20, PALETTE[140] ?? ''])
  expect((await readPicture('/blocks/0,0.png')).width).toBe(160)
})

test('a request with the ETag of a picture gets 304 until the wall changes', async () => {
  const own = await openWall()
  const path = 'GET /wall.png?cols=2&rows=2'
  const first = await own.sendRequest(path)
  const etag = first.headers.get('etag') ?? ''
  expect(first.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=2')
  const holding = { headers: { 'If-None-Match': etag } }
  expect((await own.sendRequest(path, holding)).status).toBe(304)
  expect((await own.sendRequest('GET /wall.png?cols=2&rows=1', holding)).status).toBe(200)
  await own.buyBlock(`/blocks/1,1?px=${px}`, 1)
  const second = await own.sendRequest(path, holding)
  expect(second.status).toBe(200)
  const { readColour: colourAt } = await decodePicture(second)
  expect(colourAt(10, 10)).toBe(PALETTE[239] ?? '')
})

test.each([
  '/wall.png?col=160',
  '/wall.png?col=100&cols=61',
  '/wall.png?row=89&rows=2',
  '/wall.png?cols=0',
  '/wall.png?scale=0',
  '/wall.png?scale=17',
  '/wall.png?scale=3',
  '/wall.png?cols=16&rows=16&scale=16',
  '/blocks/3,4.png?scale=1.5',
  '/areas/0,0,20x20.png?scale=13',
  '/areas/0,0,2x2.png?scale=17',
])('a request for the picture %s is rejected', async (path) => {
  expect(await readErrorCode(await wall.sendRequest(`GET ${path}`))).toBe('invalid_region')
})

test('a request for a picture at an invalid coordinate is rejected, and pictures are read-only', async () => {
  for (const path of ['/blocks/160,0.png', '/blocks/next.png', '/blocks/%zz.png'])
    expect(await readErrorCode(await wall.sendRequest(`GET ${path}`))).toBe('invalid_coordinate')
  expect((await wall.sendRequest('PUT /blocks/3,4.png')).status).toBe(405)
  expect((await wall.sendRequest('HEAD /blocks/3,4.png')).status).toBe(200)
})

const createUpload = (body: Uint8Array<ArrayBuffer>, type = 'image/png'): RequestInit => ({
  headers: { 'Content-Type': type },
  body,
})

test('an uploaded picture is converted into pixels for blocks to buy, and the response has a preview of them', async () => {
  const file = createFlatPng(40, 20, '#d75f00')
  const answer = await readJson(await wall.sendRequest('POST /api/pixels?w=2&h=1', createUpload(file)))
  const orange = PALETTE.indexOf('#d75f00').toString(16).repeat(100)
  expect(answer).toMatchObject({
    w: 2,
    h: 1,
    blocks: [
      { dx: 0, dy: 0, px: orange },
      { dx: 1, dy: 0, px: orange },
    ],
  })
  const {
    width,
    height,
    readColour: colourAt,
  } = await decodePicture(new Response(Uint8Array.fromBase64(String(answer['preview']))))
  expect([width, height, colourAt(19, 9)]).toEqual([20, 10, '#d75f00'])
})

test('raw pixels are assigned row by row to the right blocks', async () => {
  // The picture has twenty by twenty pixels in palette colours, which the conversion must not change.
  const indices = Uint8Array.from({ length: 400 }, (_, at) => (at * 7) % 240)
  const rgb = Uint8Array.from(Buffer.from([...indices].map((index) => PALETTE[index]?.slice(1)).join(''), 'hex'))
  const request = 'POST /api/pixels?w=2&h=2&width=20&height=20&dither=floyd-steinberg'
  const { blocks } = await readJson(await wall.sendRequest(request, createUpload(rgb, 'application/octet-stream')))
  expect(blocks).toEqual(
    [0, 1, 2, 3].map((block) => {
      const [dx, dy] = [block % 2, Math.floor(block / 2)]
      const own = Array.from({ length: 100 }, (_, at) => {
        const [x, y] = [dx * 10 + (at % 10), dy * 10 + Math.floor(at / 10)]
        return indices[y * 20 + x] ?? 0
      })
      return { dx, dy, px: Uint8Array.from(own).toHex() }
    }),
  )
})

test('with fit=contain, a picture that does not fill its blocks is surrounded by the background colour', async () => {
  const request = 'POST /api/pixels?fit=contain&background=FFFFFF'
  const { blocks } = await readJson(await wall.sendRequest(request, createUpload(createFlatPng(10, 5, '#000000'))))
  const [{ px: painted = '' } = {}] = blocks as { px?: string }[]
  expect(new Set([painted.slice(0, 40), painted.slice(160)])).toEqual(new Set(['d7'.repeat(20)]))
  expect(painted.slice(40, 140)).toBe('00'.repeat(50))
})

const image = createFlatPng(2, 2, '#000000')

const refusals: ReadonlyArray<readonly [what: string, query: string, init: RequestInit, code: string]> = [
  ['no picture', '', createUpload(new Uint8Array()), 'invalid_image'],
  ['text instead of a picture', '', createUpload(new TextEncoder().encode('hello')), 'invalid_image'],
  ['a JPEG with too many scans', '', createUpload(await createJpegOfScans(8, 8, 60), 'image/jpeg'), 'invalid_image'],
  ['an unsupported content type', '', createUpload(image, 'image/gif'), 'invalid_body'],
  ['no content type', '', { body: image }, 'invalid_body'],
  ['raw pixels without a size', '', createUpload(image, 'application/octet-stream'), 'invalid_size'],
  [
    'raw pixels that do not match their size',
    'width=9&height=9',
    createUpload(image, 'application/octet-stream'),
    'invalid_image',
  ],
  ['a width of 0', 'w=0', createUpload(image), 'invalid_size'],
  ['a height that is too large', 'h=91', createUpload(image), 'invalid_size'],
  ['an unknown dither', 'dither=yes', createUpload(image), 'invalid_option'],
  ['an unknown fit', 'fit=shrink', createUpload(image), 'invalid_option'],
  ['an invalid background', 'background=red', createUpload(image), 'invalid_option'],
  ['too many bytes', '', createUpload(new Uint8Array(UPLOAD_MAX_BYTES + 1)), 'body_too_large'],
]

test.each(refusals)('a conversion request with %s is rejected', async (_, query, init, code) => {
  expect(await readErrorCode(await wall.sendRequest(`POST /api/pixels?${query}`, init))).toBe(code)
})

test('if more uploads arrive in parallel than the server accepts, only the excess uploads are rejected', async () => {
  const uploads = Array.from({ length: 18 }, () => wall.sendRequest('POST /api/pixels', createUpload(image)))
  const statuses = (await Promise.all(uploads)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 503)).toHaveLength(1)
  expect(statuses.filter((status) => status === 200)).toHaveLength(17)
})

test('slow uploads do not block a fast one, because only large bodies occupy a slot, and only complete pictures occupy a worker', async () => {
  const { sendRequest: ask } = await openWall()
  const leave = new AbortController()
  const createSlowBody = () =>
    new ReadableStream({
      start: (controller) => {
        controller.enqueue(image.slice(0, 1))
        leave.signal.addEventListener('abort', () => controller.error(new Error('it left')))
      },
    })
  const crawling = Array.from({ length: 40 }, () =>
    ask('POST /api/pixels', { ...createUpload(image), body: createSlowBody() }),
  )
  const large = createUpload(new Uint8Array(200 * 200 * 3), 'application/octet-stream')
  expect((await ask('POST /api/pixels?width=200&height=200', large)).status).toBe(200)
  leave.abort()
  for (const response of await Promise.all(crawling)) expect(await readErrorCode(response)).toBe('invalid_body')
})
