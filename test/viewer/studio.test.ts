import { describe, expect, test } from 'bun:test'
import { PALETTE_SIZE } from '../../shared/palette.ts'
import { parsePixels } from '../../shared/pixels.ts'
import { editMessage } from '../../shared/signing.ts'
import { coordOf } from '../../shared/wall.ts'
import { priceOf, tallyOf } from '../../viewer/studio/cost-summary.ts'
import { written } from '../../viewer/studio/export-formats.ts'
import { orderOf } from '../../viewer/studio/order.ts'
import { isPhotograph } from '../../viewer/studio/picture-kind.ts'
import { repaint, type Brush, type Stroke } from '../../viewer/studio/repaint.ts'
import type { Edited } from '../../viewer/studio/service.ts'
import {
  begin,
  covered,
  movedTo,
  pixelsFor,
  withHeight,
  withPicture,
  withWidth,
  type Sketch,
} from '../../viewer/studio/sketch.ts'
import { at, canvas, wallOf } from './sample-wall.ts'

const photo = { name: 'photo.png', width: 1200, height: 900, isPhoto: true }

/** A picture that lies at a place, every pixel of which says where it is. */
function painted(col: number, row: number, width: number, height: number): Sketch {
  const sketch = withPicture(
    { ...begin({ col, row }), wall: wallOf(canvas) },
    { name: 'a.png', width, height, isPhoto: false },
  )
  const { w, h } = sketch.size
  const indices = Uint8Array.from({ length: w * h * 100 }, (_, i) => i % PALETTE_SIZE)
  return { ...sketch, painted: { size: sketch.size, style: sketch.style, indices } }
}

/** A picture by the colour of each of its pixels. */
function raster(width: number, height: number, colour: (x: number, y: number) => readonly [number, number, number]) {
  const rgba = Uint8Array.from({ length: width * height * 4 }, (_, i) => {
    const at = Math.floor(i / 4)
    return i % 4 === 3 ? 255 : (colour(at % width, Math.floor(at / width))[i % 4] ?? 0)
  })
  return { width, height, rgba }
}

test('photographs and gradients are told from logos and flat drawings', () => {
  const soft = raster(300, 200, (x, y) => [(x * 255) / 300, (y * 255) / 200, ((x + y) * 255) / 500])
  const logo = raster(300, 200, (x, y) => (Math.hypot(x - 150, y - 100) < 60 ? [220, 30, 30] : [250, 250, 250]))
  const stripes = raster(300, 200, (x) => [Math.floor(x / 3) * 2, 255 - Math.floor(x / 3) * 2, (x * 7) % 256])
  expect([soft, logo].map(isPhotograph)).toEqual([true, false])
  expect(isPhotograph(raster(1, 1, () => [0, 0, 0]))).toBe(false)
  expect(isPhotograph(stripes)).toBe(false)
})

describe('a sketch', () => {
  test('photographs are dithered, what was made for the wall is not, and a choice of its maker stays', () => {
    const dithered = withPicture(begin({ col: 0, row: 0 }), photo)
    expect(dithered.style.dither).toBe('floyd-steinberg')
    expect(withPicture(dithered, { ...photo, width: 30, height: 20 }).style.dither).toBe('none')
    expect(withPicture(dithered, { ...photo, isPhoto: false }).style.dither).toBe('none')
    const own = { ...dithered, ownDither: true, style: { ...dithered.style, dither: 'none' as const } }
    expect(withPicture(own, photo).style.dither).toBe('none')
  })

  test('a picture made of whole blocks keeps its pixels; any other begins small and in shape', () => {
    const sizeOf = (width: number, height: number) =>
      withPicture(begin({ col: 0, row: 0 }), { ...photo, width, height }).size
    expect(sizeOf(160, 90)).toEqual({ w: 16, h: 9 })
    expect(sizeOf(1200, 900)).toEqual({ w: 8, h: 6 })
    expect(sizeOf(25, 31)).toEqual({ w: 3, h: 4 })
    expect(sizeOf(5000, 10)).toEqual({ w: 8, h: 1 })
  })

  test('one side follows the other while the shape is kept', () => {
    const sketch = withPicture(begin({ col: 0, row: 0 }), photo)
    expect(withWidth(sketch, 12).size).toEqual({ w: 12, h: 9 })
    expect(withHeight(sketch, 3).size).toEqual({ w: 4, h: 3 })
    expect(withWidth({ ...sketch, keepsShape: false }, 12).size).toEqual({ w: 12, h: 6 })
  })

  test('size and place never leave the wall', () => {
    const sketch = withPicture(begin({ col: 158, row: 0 }), photo)
    expect(sketch.at).toEqual({ col: 152, row: 0 })
    expect(movedTo(sketch, { col: -4, row: 1000 }).at).toEqual({ col: 0, row: 84 })
    expect(withWidth(sketch, 10_000).size).toEqual({ w: 160, h: 90 })
    expect(covered(withWidth(sketch, 10_000))).toHaveLength(14_400)
  })

  test('each block gets its own part of the picture, and none while another is being painted', () => {
    const sketch = painted(10, 10, 20, 20)
    expect(pixelsFor(sketch, { col: 11, row: 11 })?.slice(0, 11)).toEqual(
      Uint8Array.of(...[210, 211, 212, 213, 214, 215, 216, 217, 218, 219].map((i) => i % PALETTE_SIZE), 230),
    )
    expect(pixelsFor(sketch, { col: 12, row: 11 })).toBeUndefined()
    expect(pixelsFor(withWidth(sketch, 3), { col: 11, row: 11 })).toBeUndefined()
    expect(pixelsFor({ ...sketch, style: { ...sketch.style } }, { col: 11, row: 11 })).toBeUndefined()
  })

  test('what it covers is told apart', () => {
    const sketch = { ...painted(78, 44, 40, 20), mine: new Set([at(80, 45)]), held: new Set([at(78, 44)]) }
    const named = Object.entries(tallyOf(sketch)).map(([kind, blocks]) => [kind, blocks.map(coordOf)])
    expect(Object.fromEntries(named)).toEqual({
      open: ['80,44', '81,44', '79,45'],
      held: ['78,44'],
      others: ['79,44', '78,45', '81,45'],
      mine: ['80,45'],
    })
    expect(priceOf(3)).toBe('3.00')
  })
})

describe('an order', () => {
  const sketch = {
    ...painted(79, 44, 20, 20),
    wallet: `0x${'a'.repeat(40)}`,
    mine: new Set([at(80, 45)]),
    words: { name: 'Ada', message: 'a & b', link: '' },
  }
  const order = orderOf(sketch, 'https://wall.example')

  test('buys what is open, repaints what is owned and leaves the rest alone', () => {
    if (order === undefined) throw new Error('there is an order')
    expect(order).toMatchObject({
      wall: 'https://wall.example',
      picture: { at: '79,44', w: 2, h: 2 },
      price: { blocks: 2, perBlock: '1.00', total: '2.00', asset: 'USDC', network: 'eip155:8453' },
      buy: [{ block: '80,44' }, { block: '79,45' }],
      repaint: [{ block: '80,45', method: 'PUT', url: 'https://wall.example/blocks/80,45' }],
      leave: ['79,44'],
    })
    const query = new URL(order.buy[0]?.url ?? '').searchParams
    expect([query.get('name'), query.get('message'), query.has('link')]).toEqual(['Ada', 'a & b', false])
    expect(parsePixels(query.get('px') ?? '')).toBeInstanceOf(Uint8Array)
    expect(Object.keys(order.repaint[0]?.body ?? {})).toEqual(['pixels', 'message'])
  })

  test('is not there before the picture is painted or the whole wall is known', () => {
    expect(orderOf({ ...sketch, painted: undefined }, 'https://wall.example')).toBeUndefined()
    const wall = sketch.wall && { ...sketch.wall, complete: false }
    expect(orderOf({ ...sketch, wall }, 'https://wall.example')).toBeUndefined()
  })

  test('every form names every request and the most that may be spent', () => {
    if (order === undefined) throw new Error('there is an order')
    for (const form of ['prompt', 'json', 'http', 'script'] as const) {
      const { name, text } = written(order, form)
      expect(name).toStartWith('pixel-wall-79-44.')
      for (const { url } of [...order.buy, ...order.repaint]) expect(text).toContain(url)
      expect(text.includes('2.00')).toBe(form !== 'http')
    }
    expect(JSON.parse(written(order, 'json').text)).toMatchObject(order)
    expect(() => new Bun.Transpiler({ loader: 'ts' }).scan(written(order, 'script').text)).not.toThrow()
  })

  test('a large one is named in the prompt and lies in the file', () => {
    const large = orderOf(painted(0, 0, 160, 90), 'https://wall.example')
    if (large === undefined) throw new Error('there is an order')
    const { text } = written(large, 'prompt')
    expect(text).toContain('pixel-wall-0-0.json')
    expect(text.length).toBeLessThan(4000)
  })
})

describe('repainting', () => {
  const strokes: Stroke[] = [at(1, 1), at(2, 1)].map((block) => ({ block, face: { pixels: '00' }, state: 'waiting' }))

  function brush(answers: Edited[]): Brush & { readonly signed: string[]; readonly sent: { readonly ts: number }[] } {
    const signed: string[] = []
    const sent: { readonly ts: number }[] = []
    return {
      signed,
      sent,
      host: 'wall.example',
      clock: { ahead: 0 },
      sign: async (text) => `0x${signed.push(text)}`,
      send: async (_, body) => {
        sent.push(body)
        return answers.shift() ?? { kind: 'done' }
      },
      tell: () => {},
    }
  }

  test('signs the canonical text of each block', async () => {
    const calm = brush([])
    const done = await repaint(strokes, calm)
    expect(done.map(({ state }) => state)).toEqual(['done', 'done'])
    expect(calm.signed).toEqual(
      ['1,1', '2,1'].map((coord, i) => editMessage('wall.example', coord, calm.sent[i]?.ts ?? 0, { pixels: '00' })),
    )
  })

  test('a lost request is sent again as it was signed', async () => {
    const calm = brush([{ kind: 'lost', words: 'gone' }])
    const first = await repaint(strokes, calm)
    expect(first.map(({ state, words }) => [state, words])).toEqual([
      ['failed', 'gone'],
      ['done', undefined],
    ])
    await repaint(first, calm)
    expect(calm.signed).toHaveLength(2)
    expect(calm.sent[2]).toEqual(calm.sent[0] ?? { ts: 0 })
  })

  test('where the clocks differ, the next text is signed with the service’s time', async () => {
    const now = Date.now() + 3_600_000
    const calm = brush([{ kind: 'refused', words: 'late', now }])
    await repaint(strokes, calm)
    expect(Math.abs((calm.sent[1]?.ts ?? 0) - now)).toBeLessThan(60_000)
  })

  test('a no of the wallet’s owner ends the run', async () => {
    const calm = brush([])
    const done = await repaint(strokes, { ...calm, sign: async () => ({ declined: true, words: 'no' }) })
    expect(done.map(({ state }) => state)).toEqual(['failed', 'waiting'])
    expect(calm.sent).toEqual([])
  })
})
