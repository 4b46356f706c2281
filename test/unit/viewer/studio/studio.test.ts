import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { readPlainPng } from '../../../../server/adapters/pictures/png.ts'
import { AreaOrder } from '../../../../shared/contract/area-order.ts'
import { PALETTE_SIZE } from '../../../../shared/palette.ts'
import { formatAreaMessage, hashPixels } from '../../../../shared/signing.ts'
import {
  chooseAdvice,
  countCoveredBlocks,
  chooseDeal,
  formatTotal,
} from '../../../../viewer/studio/order/cost-summary.ts'
import { needsFile, renderOrder } from '../../../../viewer/studio/order/export-formats.ts'
import { createOrder, type RepaintOrder } from '../../../../viewer/studio/order/order.ts'
import { isPhotograph } from '../../../../viewer/studio/picture-kind.ts'
import { repaint, type RepaintDeps, type Progress, type RepaintSignature } from '../../../../viewer/studio/repaint.ts'
import { readBlocksOfWallet, type EditResult } from '../../../../viewer/studio/service.ts'
import {
  createSketch,
  listCoveredBlocks,
  findFinishedPicture,
  moveSketch,
  setHeight,
  replacePicture,
  setWidth,
  type Sketch,
} from '../../../../viewer/studio/sketch.ts'
import { requireBlockAt, canvas, buildSampleWall } from '../../../support/page/sample-wall.ts'
import { buildPng, RGBA } from '../../../support/picture-files.ts'

const photo = { name: 'photo.png', width: 1200, height: 900, isPhoto: true, isClear: false }

/** A sketch with a painted picture at a position; the picture's pixels repeat all palette colours in order. */
function createPaintedSketch(col: number, row: number, width: number, height: number): Sketch {
  const sketch = replacePicture(
    { ...createSketch({ col, row }), wall: buildSampleWall(canvas) },
    { name: 'a.png', width, height, isPhoto: false, isClear: false },
  )
  const { w, h } = sketch.size
  const indices = Uint8Array.from({ length: w * h * 100 }, (_, i) => i % PALETTE_SIZE)
  return { ...sketch, painted: { size: sketch.size, style: sketch.style, indices } }
}

/** A picture with the given colour at each pixel. */
function createRaster(
  width: number,
  height: number,
  colour: (x: number, y: number) => readonly [number, number, number],
) {
  const rgba = Uint8Array.from({ length: width * height * 4 }, (_, i) => {
    const at = Math.floor(i / 4)
    return i % 4 === 3 ? 255 : (colour(at % width, Math.floor(at / width))[i % 4] ?? 0)
  })
  return { width, height, rgba }
}

/** The same picture after JPEG compression. */
async function convertThroughJpeg({ width, height, rgba }: ReturnType<typeof createRaster>) {
  const rows = Array.from({ length: height }, (_, y) => [0, ...rgba.subarray(y * width * 4, (y + 1) * width * 4)])
  const png = buildPng(width, height, RGBA, Uint8Array.from(rows.flat()))
  const jpeg = await new Bun.Image(png).jpeg({ quality: 70 }).bytes()
  return readPlainPng(await new Bun.Image(jpeg).png({ compressionLevel: 0 }).bytes())
}

test('photographs and gradients are distinguished from logos and flat drawings, whatever their file format', async () => {
  const soft = createRaster(300, 200, (x, y) => [(x * 255) / 300, (y * 255) / 200, ((x + y) * 255) / 500])
  const logo = createRaster(300, 200, (x, y) => (Math.hypot(x - 150, y - 100) < 60 ? [220, 30, 30] : [250, 250, 250]))
  const stripes = createRaster(300, 200, (x) => [Math.floor(x / 3) * 2, 255 - Math.floor(x / 3) * 2, (x * 7) % 256])
  expect([soft, logo].map(isPhotograph)).toEqual([true, false])
  expect(isPhotograph(createRaster(1, 1, () => [0, 0, 0]))).toBe(false)
  expect(isPhotograph(stripes)).toBe(false)
  // JPEG compression blurs the edges of flat areas, and makes gradients coarser.
  const slow = createRaster(300, 200, (x, y) => [90 + y / 4, 110 + y / 5 + x / 20, 140])
  const opened = await Promise.all([slow, logo].map(convertThroughJpeg))
  expect(opened.map(isPhotograph)).toEqual([true, false])
})

describe('a sketch', () => {
  test('photographs are dithered and drawings are not, unless the visitor has chosen a dither', () => {
    const dithered = replacePicture(createSketch({ col: 0, row: 0 }), photo)
    expect(dithered.style.dither).toBe('floyd-steinberg')
    expect(replacePicture(dithered, { ...photo, isPhoto: false }).style.dither).toBe('none')
    const own = { ...dithered, ownDither: true, style: { ...dithered.style, dither: 'none' as const } }
    expect(replacePicture(own, photo).style.dither).toBe('none')
  })

  test('a picture that is whole blocks in size keeps that size, and any other picture begins small and in proportion', () => {
    const measurePicture = (width: number, height: number) =>
      replacePicture(createSketch({ col: 0, row: 0 }), { ...photo, width, height }).size
    expect(measurePicture(160, 90)).toEqual({ w: 16, h: 9 })
    expect(measurePicture(1200, 900)).toEqual({ w: 8, h: 6 })
    expect(measurePicture(25, 31)).toEqual({ w: 3, h: 4 })
    expect(measurePicture(5000, 10)).toEqual({ w: 8, h: 1 })
  })

  test('while the aspect ratio is kept, a change of one side also changes the other', () => {
    const sketch = replacePicture(createSketch({ col: 0, row: 0 }), photo)
    expect(setWidth(sketch, 12).size).toEqual({ w: 12, h: 9 })
    expect(setHeight(sketch, 3).size).toEqual({ w: 4, h: 3 })
    expect(setWidth({ ...sketch, keepsShape: false }, 12).size).toEqual({ w: 12, h: 6 })
  })

  test('the size and position of a picture stay within the wall and within the limit for one payment', () => {
    const sketch = replacePicture(createSketch({ col: 158, row: 0 }), photo)
    expect(sketch.at).toEqual({ col: 152, row: 0 })
    expect(moveSketch(sketch, { col: -4, row: 1000 }).at).toEqual({ col: 0, row: 84 })
    expect(setWidth(sketch, 10_000).size).toEqual({ w: 23, h: 17 })
    expect(listCoveredBlocks(setWidth({ ...sketch, keepsShape: false, size: { w: 1, h: 2 } }, 160))).toHaveLength(320)
  })

  test('moving a picture does not paint it again, but changing its size or style does', () => {
    const sketch = createPaintedSketch(10, 10, 20, 20)
    expect(findFinishedPicture(moveSketch(sketch, { col: 20, row: 20 }))).toBe(findFinishedPicture(sketch))
    expect(findFinishedPicture(setWidth(sketch, 3))).toBeUndefined()
    expect(findFinishedPicture({ ...sketch, style: { ...sketch.style } })).toBeUndefined()
  })

  test('covered blocks are counted by kind, and can be bought only if all are open, or repainted only if the visitor owns all of them', () => {
    const sketch = { ...createPaintedSketch(78, 44, 40, 20), mine: new Set([requireBlockAt(80, 45)]), held: 1 }
    expect(countCoveredBlocks(sketch)).toEqual({ open: 3, held: 1, others: 3, mine: 1 })
    expect(chooseDeal(sketch)).toBe('neither')
    expect(chooseDeal(createPaintedSketch(10, 10, 40, 20))).toBe('buy')
    expect(chooseDeal({ ...createPaintedSketch(10, 10, 40, 20), held: 1 })).toBe('neither')
    expect(chooseDeal({ ...createPaintedSketch(80, 45, 10, 10), mine: new Set([requireBlockAt(80, 45)]) })).toBe(
      'repaint',
    )
    const { wall } = sketch
    expect(chooseDeal({ ...createPaintedSketch(10, 10, 40, 20), wall: wall && { ...wall, complete: false } })).toBe(
      'neither',
    )
    expect(formatTotal({ pricing: { perPixel: '0.025', perBlock: '2.50', asset: 'USDC', network: '' } }, 3)).toBe(
      '7.50',
    )
  })

  test('if the covered blocks are of different kinds, or the wall is sold out, the page says what to do', () => {
    const mixed = {
      ...createPaintedSketch(78, 44, 40, 20),
      wallet: '0x12',
      mine: new Set([requireBlockAt(80, 45)]),
      held: 1,
    }
    expect(chooseAdvice(mixed)).toBe(
      'Blocks under the picture: 3 available, 1 yours, 1 being bought by others, 3 owned by others. Move the picture to a place where all blocks are available, or all are yours.',
    )
    expect(chooseAdvice({ ...mixed, wallet: undefined })).toEndWith(
      'If the sold blocks are yours, enter your wallet address.',
    )
    const { wall } = mixed
    const soldOut = { ...mixed, wall: wall && { ...wall, stats: { ...wall.stats, remaining: 0 } } }
    expect(chooseAdvice(soldOut)).toStartWith('Every block is sold. If you own some, enter your wallet address')
    expect(chooseAdvice(createPaintedSketch(10, 10, 40, 20))).toBe('')
    expect(
      chooseAdvice({ ...soldOut, ...createPaintedSketch(80, 45, 10, 10), wall: soldOut.wall, mine: mixed.mine }),
    ).toBe('')
  })
})

describe('an order', () => {
  const words = { name: 'Ada', message: "a & b's", link: '' }
  const open = { ...createPaintedSketch(10, 20, 20, 10), words }
  const own = { ...createPaintedSketch(80, 45, 10, 10), words, mine: new Set([requireBlockAt(80, 45)]) }

  const orderSketch = (sketch: Sketch) => {
    const order = createOrder(sketch, 'https://wall.example')
    if (order === undefined) throw new Error('there is no order')
    return order
  }

  test('an order buys the whole picture with one payment', () => {
    const order = orderSketch(open)
    const bytes = open.painted?.indices.toBase64() ?? ''
    expect(order).toEqual({
      kind: 'buy',
      wall: 'https://wall.example',
      area: '10,20,2x1',
      blocks: 2,
      price: '2.00',
      perBlock: '1.00',
      asset: 'USDC',
      network: 'eip155:8453',
      url: 'https://wall.example/areas',
      body: { at: '10,20', w: 2, h: 1, name: 'Ada', pixels: bytes, message: "a & b's" },
    })
    expect(Value.Check(AreaOrder, order.body)).toBe(true)
  })

  test('an order repaints the whole picture with one signature', () => {
    expect(orderSketch(own)).toEqual({
      kind: 'repaint',
      wall: 'https://wall.example',
      area: '80,45,1x1',
      blocks: 1,
      url: 'https://wall.example/areas/80,45,1x1',
      body: { pixels: own.painted?.indices.toBase64() ?? '', message: "a & b's" },
    })
  })

  test('there is no order before the picture is painted, or if the covered blocks are of different kinds', () => {
    expect(createOrder({ ...open, painted: undefined }, 'https://wall.example')).toBeUndefined()
    expect(createOrder(createPaintedSketch(78, 44, 40, 20), 'https://wall.example')).toBeUndefined()
  })

  test.each([
    ['a purchase', open, '2.00'],
    ['a repaint', own, 'set_area v1'],
  ])('every export of %s contains its URL and its picture', (_, sketch, said) => {
    const order = orderSketch(sketch)
    for (const form of ['prompt', 'curl', 'script'] as const) {
      const { name, text } = renderOrder(order, form)
      expect(name).toStartWith(`pixel-wall-${order.area.replaceAll(',', '-')}.`)
      for (const part of [order.url, order.body.pixels ?? '', said]) expect(text).toContain(part)
    }
    expect(JSON.parse(renderOrder(order, 'json').text)).toEqual(order.body)
    expect(() => new Bun.Transpiler({ loader: 'ts' }).scan(renderOrder(order, 'script').text)).not.toThrow()
  })

  test('a shell reads the body in a curl command unchanged', async () => {
    const command = renderOrder(orderSketch(open), 'curl').text.split('\n').at(-2) ?? ''
    const given = await Bun.$`sh -c ${command.replace('curl', "printf '%s\n'")}`.text()
    expect(JSON.parse(given.trim().split('\n').at(-1) ?? '')).toEqual(orderSketch(open).body)
  })

  test('a prompt contains the whole body, and warns if the body is too large to copy without a program', () => {
    const [small, large] = [
      orderSketch(createPaintedSketch(10, 10, 20, 10)),
      orderSketch(createPaintedSketch(0, 0, 160, 90)),
    ]
    expect([needsFile(small), needsFile(large)]).toEqual([false, true])
    for (const order of [small, large]) {
      const { text } = renderOrder(order, 'prompt')
      const [, json = ''] = /```json\n(.*)\n```\n$/s.exec(text) ?? []
      expect(Bun.deepEquals(JSON.parse(json), order.body)).toBe(true)
      expect(text.includes('at the end of this file')).toBe(needsFile(order))
    }
  })
})

describe('repainting', () => {
  const pixels = new Uint8Array(200).toBase64()
  const order: RepaintOrder = {
    kind: 'repaint',
    wall: 'https://wall.example',
    area: '1,1,2x1',
    blocks: 2,
    url: 'https://wall.example/areas/1,1,2x1',
    body: { pixels },
  }

  function createDeps(answers: EditResult[]) {
    const signed: string[] = []
    const sent: RepaintSignature[] = []
    const reports: Progress[] = []
    const deps: RepaintDeps = {
      host: 'wall.example',
      clock: { ahead: 0 },
      signText: async (text) => `0x${signed.push(text)}`,
      sendRepaint: async (_, body) => {
        sent.push(body)
        return answers.shift() ?? { kind: 'done' }
      },
      reportProgress: (progress) => void reports.push(progress),
    }
    return { ...deps, signed, sent, reports }
  }

  test('repainting an area signs its canonical message once, with the digest of its pixels', async () => {
    const calm = createDeps([])
    await repaint(order, calm)
    expect(calm.reports.map(({ state }) => state)).toEqual(['signing', 'sending', 'done'])
    const digest = hashPixels(new Uint8Array(200))
    expect(calm.signed).toEqual([
      formatAreaMessage('wall.example', '1,1,2x1', calm.sent[0]?.ts ?? 0, { pixels: digest }),
    ])
  })

  test('a lost repaint request is sent again with the same signature', async () => {
    const calm = createDeps([{ kind: 'lost', words: 'gone' }])
    await repaint(order, calm)
    const failed = calm.reports.at(-1)
    if (failed?.state !== 'failed') throw new Error('the first request did not fail')
    expect(failed.words).toBe('gone')
    await repaint(order, calm, failed.signed)
    expect(calm.signed).toHaveLength(1)
    expect(calm.sent[1]).toEqual(calm.sent[0] ?? { ts: 0, signature: '' })
  })

  test('if the clocks of the visitor and the service differ, the next message is signed with the time of the service', async () => {
    const now = Date.now() + 3_600_000
    const calm = createDeps([{ kind: 'refused', words: 'late', now }])
    await repaint(order, calm)
    await repaint(order, calm)
    expect(Math.abs((calm.sent[1]?.ts ?? 0) - now)).toBeLessThan(60_000)
  })

  test('if the owner of the wallet declines to sign, no repaint is sent', async () => {
    const calm = createDeps([])
    await repaint(order, { ...calm, signText: async () => ({ declined: true, words: 'no' }) })
    expect(calm.reports.at(-1)).toEqual({ state: 'failed', words: 'no' })
    expect(calm.sent).toEqual([])
  })
})

test('all blocks of a wallet are read, however many pages there are', async () => {
  const owned = Array.from({ length: 450 }, (_, index) => index)
  const pages: Record<string, number> = { '0': 200, '200': 400, '400': 450 }
  const asked: string[] = []
  const found = await readBlocksOfWallet('0xada', async (path) => {
    asked.push(path)
    const after = new URL(path, 'https://wall.test').searchParams.get('after') ?? ''
    const nextAfter = pages[after] ?? 0
    const blocks = owned.slice(Number(after), nextAfter).map((index) => ({ block: { coord: '', index } }))
    return Response.json({ blocks, nextAfter, hasMore: nextAfter < owned.length })
  })
  expect(found.map(Number)).toEqual(owned)
  expect(asked).toEqual(['/api/agents/0xada?after=0', '/api/agents/0xada?after=200', '/api/agents/0xada?after=400'])
})
