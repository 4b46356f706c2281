import { beforeEach, describe, expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import type { Change } from '../../../server/domain/wall/log.ts'
import { applyChange, createEmptyView, type WallView } from '../../../server/domain/wall/wall-view.ts'
import { createCanvasParts } from '../../../server/http/canvas/canvas-parts.ts'
import { createCanvasReads, type CanvasReads } from '../../../server/http/canvas/canvas-read.ts'
import { createCanvasSnapshot, type Parts } from '../../../server/http/canvas/canvas-snapshot.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import {
  BARE,
  parseBlockOrThrow,
  createIdentityChange,
  NOBODY,
  NOW,
  createPixels,
  createTestSale,
} from '../../support/samples.ts'

const PRICED = { network: 'eip155:8453', amount: 1_000_000n }

const createRequest = (headers: Record<string, string> = {}) => new Request('http://wall.test/api/canvas', { headers })

let view: WallView
let reads: CanvasReads
let announced: Change[] = []

const createReads = (of: WallView, everyMs = 0) =>
  createCanvasReads({ view: of, terms: PRICED, clock: createFakeClock(NOW), everyMs })

/** Answers a request once every change so far is published. */
async function readPublished(request: Request): Promise<Response> {
  await reads.waitUntilPublished()
  return reads.canvas.answer(request)
}

const announceAndApply = (change: Change) => {
  announced.push(change)
  applyChange(view, change)
  reads.announceChange(change)
}

const computeNextNumber = () => view.number + 1

const sellBlock = (coord: string, message: string | null = null) =>
  announceAndApply(
    createTestSale(computeNextNumber(), parseBlockOrThrow(coord), {
      seq: view.sales.length + 1,
      content: { ...BARE, message },
    }),
  )

const repaintBlock = (coord: string, message: string | null, colour: number) => {
  const content = { pixels: createPixels(colour), message, link: null }
  announceAndApply({ number: computeNextNumber(), at: NOW, kind: 'repaint', block: parseBlockOrThrow(coord), content })
}

beforeEach(() => {
  announced = []
  view = createEmptyView()
  reads = createReads(view)
})

const readBlocks = async () => {
  const { blocks } = (await (await readPublished(createRequest())).json()) as { blocks: unknown[] }
  return blocks
}

test('each row of the wall is one line of the canvas read, so that a client can draw rows as they arrive', async () => {
  for (const coord of ['0,0', '5,0', '3,4', '159,89']) sellBlock(coord)
  const text = await (await readPublished(createRequest())).text()
  const lines = text.slice(text.indexOf('"blocks":[')).split('\n')
  expect(lines.map((line) => line.match(/"i":\d+/g))).toEqual([
    null,
    ['"i":0', '"i":5'],
    ['"i":643'],
    ['"i":14399'],
    null,
    null,
  ])
  expect(JSON.parse(text)).toHaveProperty('blocks.length', 4)
})

test('every kind of change appears in the canvas read: a sale, new pixels, a changed message and a new name', async () => {
  sellBlock('3,4', 'a')
  expect(await readBlocks()).toEqual([{ i: 643, a: 0, t: NOW, m: 'a' }])
  repaintBlock('3,4', 'a', 7)
  expect(await readBlocks()).toMatchObject([{ m: 'a', px: expect.any(String) }])
  repaintBlock('3,4', null, 7)
  expect((await readBlocks())[0]).not.toHaveProperty('m')
  sellBlock('4,4')
  expect(await readBlocks()).toHaveLength(2)
  announceAndApply(createIdentityChange(computeNextNumber(), { ...NOBODY, name: 'Ada' }))
  expect(await (await readPublished(createRequest())).json()).toMatchObject({ agents: [{ name: 'Ada', blocks: 2 }] })
})

test('after a change, only the changed block is serialised, once for each of the two JSON reads; a request serialises nothing', async () => {
  let looked = 0
  for (const coord of ['0,0', '0,50']) sellBlock(coord)
  await readPublished(createRequest())
  const stringify = JSON.stringify
  JSON.stringify = ((value: unknown) => {
    if (typeof value === 'object' && value !== null && 'i' in value) looked++
    return stringify(value)
  }) as typeof JSON.stringify
  try {
    await readPublished(createRequest())
    expect(looked).toBe(0)
    repaintBlock('0,50', 'new', 3)
    await readPublished(createRequest())
    expect(looked).toBe(2)
  } finally {
    JSON.stringify = stringify
  }
})

test('the first change is published immediately, and the changes within the next publishing interval are published together at its end', async () => {
  const clock = createFakeClock(NOW)
  reads = createCanvasReads({ view, terms: PRICED, clock, everyMs: 1000 })
  await reads.waitUntilPublished()
  sellBlock('9,9')
  expect(await readBlocks()).toHaveLength(1)
  expect(clock.elapsed()).toBe(0)
  for (const coord of ['0,0', '1,0', '2,0']) sellBlock(coord)
  expect(await readBlocks()).toHaveLength(4)
  expect(clock.elapsed()).toBe(1000)
})

test('the longer it takes to publish the wall, the longer the pause before the next publication, up to two seconds', async () => {
  const clock = createFakeClock(NOW)
  let takesMs = 0
  const parts: Parts = {
    ...createCanvasParts(view, PRICED),
    take() {
      clock.advance(takesMs)
      return [[0, new Uint8Array(9)]]
    },
    isDirty: () => changes-- > 0,
  }
  let changes = 0
  const slow = createCanvasSnapshot({ view, parts, type: 'text/plain', clock, everyMs: 900 })
  await slow.waitUntilPublished()
  const measurePeriod = async (took: number) => {
    takesMs = took
    const before = clock.elapsed()
    changes = 2
    slow.announceChange(createIdentityChange(1, NOBODY))
    await slow.waitUntilPublished()
    clock.advance(60_000)
    return clock.elapsed() - before - 60_000 - 2 * took
  }
  expect([await measurePeriod(1), await measurePeriod(60), await measurePeriod(500)]).toEqual([900, 1140, 2000])
})

test('a response stays unchanged, even if the wall is published several times before the client reads the body', async () => {
  sellBlock('3,4', 'first')
  const kept = await Promise.all(
    ['identity', 'gzip', 'zstd'].map((encoding) => readPublished(createRequest({ 'Accept-Encoding': encoding }))),
  )
  const again = await readPublished(createRequest())
  for (const message of ['a', 'b', 'c', 'd']) {
    repaintBlock('3,4', message, 7)
    await reads.waitUntilPublished()
  }
  const [plain, gzip, zstd] = await Promise.all(kept.map(async (answer) => new Uint8Array(await answer.arrayBuffer())))
  const text = await again.text()
  expect(JSON.parse(text)).toMatchObject({ blocks: [{ m: 'first' }] })
  for (const body of [plain, Bun.gunzipSync(gzip ?? ''), Bun.zstdDecompressSync(zstd ?? '')])
    expect(new TextDecoder().decode(body)).toBe(text)
})

test('a request during a publication gets the wall as it was before the publication or as it is after it', async () => {
  sellBlock('3,4', 'before')
  await reads.waitUntilPublished()
  repaintBlock('3,4', 'after', 7)
  const published = reads.waitUntilPublished().then(() => 'published')
  const waitForTurn = () => new Promise<'not yet'>((resolve) => setImmediate(resolve, 'not yet'))
  const asked: Response[] = []
  do asked.push(reads.canvas.answer(createRequest()))
  while ((await Promise.race([published, waitForTurn()])) === 'not yet')
  asked.push(reads.canvas.answer(createRequest()))
  const said = await Promise.all(asked.map(async (answer) => /"m":"(\w+)"/.exec(await answer.text())?.[1]))
  expect(new Set(said)).toEqual(new Set(['before', 'after']))
})

test('a client that reads the canvas before it is compressed gets an uncompressed response immediately', async () => {
  sellBlock('3,4')
  const fresh = createReads(view)
  const response = fresh.canvas.answer(createRequest({ 'Accept-Encoding': 'gzip' }))
  expect(response.headers.get('content-encoding')).toBeNull()
  expect(await response.json()).toHaveProperty('blocks.length', 1)
})

describe('a copy that is current', () => {
  const readEtag = async () => (await readPublished(createRequest())).headers.get('etag') ?? ''

  test('a client with a current copy of the canvas gets a 304 without a body', async () => {
    sellBlock('3,4')
    const etag = await readEtag()
    for (const held of [etag, etag.replace('W/', ''), `"x", ${etag}`, '*']) {
      const response = await readPublished(createRequest({ 'If-None-Match': held }))
      expect(response.status).toBe(304)
      expect(response.headers.get('etag')).toBe(etag)
      expect(Object.fromEntries(response.headers)).toEqual({
        'access-control-allow-origin': '*',
        'cache-control': 'public, max-age=2, stale-while-revalidate=10',
        etag,
        'log-number': '1',
        vary: 'Accept-Encoding',
      })
      expect(await response.text()).toBe('')
    }
  })

  test('a copy of the canvas is stale after a change', async () => {
    const etag = await readEtag()
    sellBlock('3,4')
    expect((await readPublished(createRequest({ 'If-None-Match': etag }))).status).toBe(200)
  })

  test('a copy of the canvas of one wall is stale for a different wall, even if both walls have the same number of changes', async () => {
    sellBlock('3,4')
    const etag = await readEtag()
    view = createEmptyView()
    reads = createReads(view)
    sellBlock('5,6')
    expect((await readPublished(createRequest({ 'If-None-Match': etag }))).status).toBe(200)
  })

  test('a copy of the canvas is current for every process that shows the same wall', async () => {
    sellBlock('3,4')
    const etag = await readEtag()
    const other = createEmptyView()
    for (const change of announced) applyChange(other, change)
    const elsewhere = createReads(other)
    for (let compressed = 0; compressed < 2; compressed++) {
      const response = elsewhere.canvas.answer(createRequest({ 'If-None-Match': etag }))
      expect([response.status, response.headers.get('etag')]).toEqual([304, etag])
      await elsewhere.waitUntilPublished()
    }
  })
})

const decodings = {
  identity: (body: Uint8Array<ArrayBuffer>) => body,
  gzip: Bun.gunzipSync,
  zstd: Bun.zstdDecompressSync,
}

const encodings: ReadonlyArray<readonly [accept: string, encoding: 'gzip' | 'zstd' | null]> = [
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'gzip'],
  ['*', 'gzip'],
  ['zstd', 'zstd'],
  ['gzip;q=0.5, zstd', 'zstd'],
  ['gzip;q=0.5', 'gzip'],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'gzip'],
  ['identity', null],
  ['', null],
  ['br', null],
  ['gzip;q=0', null],
  ['gzip;q=0, *', null],
  ['*;q=0', null],
  ['gzip;q=0, br;q=0, identity', null],
  ['gzip;q=0.5, identity', null],
  ['gzip;q=2', null],
]

test.each(encodings)('for Accept-Encoding %p, the Content-Encoding of the response is %p', async (accept, encoding) => {
  sellBlock('3,4')
  const response = await readPublished(createRequest({ 'Accept-Encoding': accept }))
  expect(response.headers.get('content-encoding')).toBe(encoding)
  expect(response.headers.get('vary')).toBe('Accept-Encoding')
  const body = new Uint8Array(await response.arrayBuffer())
  const text = new TextDecoder().decode(decodings[encoding ?? 'identity'](body))
  expect(text).toBe(await (await readPublished(createRequest())).text())
})

test('the pixels read contains the pixels of every block, one block after another; a client with a current copy gets a 304', async () => {
  for (const coord of ['0,0', '3,4', '159,89']) sellBlock(coord)
  repaintBlock('3,4', 'painted', 7)
  await reads.waitUntilPublished()
  const response = reads.pixels.answer(createRequest({ 'Accept-Encoding': 'gzip' }))
  const bytes = Bun.gunzipSync(new Uint8Array(await response.arrayBuffer()))
  const expected = new Uint8Array(1_440_000).fill(255)
  expected.fill(7, parseBlockOrThrow('3,4') * 100, parseBlockOrThrow('3,4') * 100 + 100)
  expect(Buffer.compare(bytes, expected)).toBe(0)
  expect(reads.pixels.answer(createRequest({ 'If-None-Match': response.headers.get('etag') ?? '' })).status).toBe(304)
})

test('the blocks read is the canvas read without pixels, and a repaint that changes only pixels does not change the blocks read', async () => {
  sellBlock('3,4', 'a')
  sellBlock('9,9')
  repaintBlock('3,4', 'a', 7)
  const whole = (await (await readPublished(createRequest())).json()) as { blocks: { px?: string }[] }
  const readText = async () => await (await reads.blocks.answer(createRequest())).text()
  const before = await readText()
  expect(JSON.parse(before)).toEqual({ ...whole, blocks: whole.blocks.map((block) => ({ ...block, px: undefined })) })
  expect(whole.blocks[0]).toHaveProperty('px')
  repaintBlock('3,4', 'a', 9)
  await reads.waitUntilPublished()
  expect(await readText()).toBe(before)
  expect(reads.readNumber()).toBe(view.number)
})

test('after a repaint of pixels, a copy of the blocks read is still current, and the 304 response contains the new log number', async () => {
  sellBlock('3,4', 'a')
  await reads.waitUntilPublished()
  const etag = reads.blocks.answer(createRequest()).headers.get('etag') ?? ''
  repaintBlock('3,4', 'a', 9)
  await reads.waitUntilPublished()
  const { status, headers } = reads.blocks.answer(createRequest({ 'If-None-Match': etag }))
  expect([status, headers.get('etag'), headers.get('log-number')]).toEqual([304, etag, `${view.number}`])
})

describe('the blocks read in Brotli', () => {
  const browser = { 'Accept-Encoding': 'gzip, deflate, br, zstd' }
  const readEncoding = () => reads.blocks.answer(createRequest(browser)).headers.get('content-encoding')
  const waitForBrotli = async () => {
    while (readEncoding() !== 'br') await new Promise((resolve) => setImmediate(resolve))
    return reads.blocks.answer(createRequest(browser))
  }

  test('browsers get the gzipped form of the blocks read until its Brotli form is ready, and then get the Brotli form', async () => {
    sellBlock('3,4', 'a')
    await reads.waitUntilPublished()
    expect(readEncoding()).toBe('gzip')
    const body = brotliDecompressSync(await (await waitForBrotli()).arrayBuffer())
    expect(body.toString()).toBe(await reads.blocks.answer(createRequest()).text())
    expect(reads.canvas.answer(createRequest(browser)).headers.get('content-encoding')).toBe('gzip')
  })

  test('the blocks read is compressed with Brotli again only when it changes', async () => {
    sellBlock('3,4', 'a')
    await reads.waitUntilPublished()
    await waitForBrotli()
    repaintBlock('3,4', 'a', 9)
    await reads.waitUntilPublished()
    expect(readEncoding()).toBe('br')
    sellBlock('4,4', 'b')
    await reads.waitUntilPublished()
    expect(readEncoding()).toBe('gzip')
    expect(brotliDecompressSync(await (await waitForBrotli()).arrayBuffer()).toString()).toContain('"m":"b"')
  })

  test('Brotli is not sent to a client that prefers a different encoding', async () => {
    sellBlock('3,4', 'a')
    await reads.waitUntilPublished()
    await waitForBrotli()
    for (const [accept, encoding] of [
      ['gzip', 'gzip'],
      ['br;q=0.5, zstd', 'zstd'],
      ['br;q=0, gzip', 'gzip'],
      ['*', 'gzip'],
    ] as const)
      expect(reads.blocks.answer(createRequest({ 'Accept-Encoding': accept })).headers.get('content-encoding')).toBe(
        encoding,
      )
  })
})

test('each read of the whole wall contains the number of the last change that it shows, even in a 304', async () => {
  sellBlock('3,4')
  repaintBlock('3,4', 'painted', 7)
  await reads.waitUntilPublished()
  for (const one of [reads.canvas, reads.pixels, reads.blocks]) {
    const { headers } = one.answer(createRequest())
    expect(headers.get('log-number')).toBe(`${view.number}`)
    const unchanged = one.answer(createRequest({ 'If-None-Match': headers.get('etag') ?? '' }))
    expect([unchanged.status, unchanged.headers.get('log-number')]).toEqual([304, `${view.number}`])
  }
})

test('reads that are not built at start-up are built from the wall on their first request', () => {
  // The view has the sale, but the reads were not notified of it.
  applyChange(view, createTestSale(1, parseBlockOrThrow('3,4')))
  const shown = [reads.canvas, reads.pixels, reads.blocks].map((one) =>
    one.answer(createRequest()).headers.get('log-number'),
  )
  expect(shown).toEqual(['0', '1', '1'])
})
