import { expect, test } from 'bun:test'
import { createWorkerPictures } from '../../../server/adapters/pictures/pictures.ts'
import { encodePng, readPlainPng } from '../../../server/adapters/pictures/png.ts'
import { countMegapixels, type PaintPlan, type PictureFlaw } from '../../../server/domain/picture/picture.ts'
import { PALETTE, PALETTE_SIZE } from '../../../shared/palette.ts'
import { createFlatPng, GREY, INDEXED, createJpegOfScans, buildPng, RGB, RGBA } from '../../support/picture-files.ts'

// Goal: pictures are decoded correctly, and no file can harm the process. Method: files are made by hand; the runtime's
// own decoder, which shares no code with the encoder, reads the wall's pictures.

const pictures = createWorkerPictures()

const plan: PaintPlan = { width: 10, height: 10, fit: 'cover', dither: 'none', background: '#000000' }

const CLIENT = { kind: 'client', who: '192.0.2.1' } as const
const PAYER = { kind: 'payer', who: '0x01' } as const

const paintFile = (bytes: Uint8Array<ArrayBuffer>, changes: Partial<PaintPlan> = {}) =>
  pictures.convertToPalette({ kind: 'file', bytes }, { ...plan, ...changes }, CLIENT)

/** The palette indices in a painted picture, each once, or why it was rejected. */
async function listColours(painted: ReturnType<typeof paintFile>): Promise<readonly number[] | PictureFlaw> {
  const bitmap = await painted
  return typeof bitmap === 'string' ? bitmap : [...new Set(bitmap.indices)]
}

test('a PNG that the wall writes is read pixel for pixel by an independent decoder', async () => {
  const width = 61
  const indices = Uint8Array.from({ length: width * 17 }, (_, at) => (at * 7919) % PALETTE_SIZE)
  const file = await encodePng({ width, height: 17, indices })
  const plain = await new Bun.Image(file).png({ compressionLevel: 0 }).bytes()
  const { rgba, ...size } = readPlainPng(plain)
  expect(size).toEqual({ width, height: 17 })
  const read = Array.from(indices, (_, at) => `#${Buffer.from(rgba.subarray(at * 4, at * 4 + 3)).toString('hex')}`)
  expect(read).toEqual(Array.from(indices, (index) => PALETTE[index] ?? ''))
})

test.each([
  ['colours', buildPng(1, 1, RGB, Uint8Array.of(0, 0xd7, 0x5f, 0x00))],
  ['greys', buildPng(1, 1, GREY, Uint8Array.of(0, 0x76))],
  ['colours and opacity', buildPng(1, 1, RGBA, Uint8Array.of(0, 0xd7, 0x5f, 0x00, 255))],
  [
    'a palette of its own',
    buildPng(1, 1, INDEXED, Uint8Array.of(0, 1), [['PLTE', Uint8Array.of(1, 2, 3, 0xd7, 0x5f, 0)]]),
  ],
])('a PNG with %s is read', async (what, file) => {
  const colour = what === 'greys' ? '#767676' : '#d75f00'
  expect(await listColours(paintFile(file))).toEqual([PALETTE.indexOf(colour)])
})

test('baseline and progressive JPEGs are read', async () => {
  const jpeg = await new Bun.Image(createFlatPng(40, 40, '#5f87af')).jpeg({ quality: 100 }).bytes()
  const index = PALETTE.indexOf('#5f87af')
  expect(await listColours(paintFile(Uint8Array.from(jpeg)))).toEqual([index])
  expect(await listColours(paintFile(await createJpegOfScans(40, 40, 0)))).toEqual([index])
})

test('raw pixels of three or four bytes each are read, and data of any other length is rejected', async () => {
  const paintRaw = (bytes: Uint8Array<ArrayBuffer>) =>
    pictures.convertToPalette({ kind: 'raw', bytes, width: 2, height: 1 }, plan, CLIENT)
  const [red, blue] = [PALETTE.indexOf('#ff0000'), PALETTE.indexOf('#0000ff')]
  expect(await listColours(paintRaw(Uint8Array.of(255, 0, 0, 255, 0, 0)))).toEqual([red])
  expect(await listColours(paintRaw(Uint8Array.of(0, 0, 255, 255, 0, 0, 255, 255)))).toEqual([blue])
  for (const length of [0, 5, 7, 9]) expect(await paintRaw(new Uint8Array(length))).toBe('unreadable')
})

test('transparent parts of a picture show the background colour', async () => {
  const clear = buildPng(1, 1, RGBA, Uint8Array.of(0, 255, 255, 255, 0))
  expect(await listColours(paintFile(clear, { background: '#5faf00' }))).toEqual([PALETTE.indexOf('#5faf00')])
})

const HUGE = new Uint8Array(10)

const hostile: ReadonlyArray<readonly [what: string, file: Uint8Array<ArrayBuffer>, flaw: PictureFlaw]> = [
  ['that is empty', new Uint8Array(), 'unreadable'],
  ['that is text', new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'unreadable'],
  ['of an unsupported format', new TextEncoder().encode('GIF89a'), 'unreadable'],
  ['that claims 3.6 billion pixels', buildPng(60_000, 60_000, RGBA, HUGE), 'too-many-pixels'],
  ['with a side of fifteen million pixels', buildPng(15_000_000, 1, GREY, HUGE), 'too-many-pixels'],
  ['with a width of 0', buildPng(0, 5, RGB, HUGE), 'unreadable'],
  ['that is truncated', createFlatPng(100, 100, '#123456').slice(0, 60), 'unreadable'],
  ['whose rows use an unknown filter', buildPng(2, 1, GREY, Uint8Array.of(9, 1, 2)), 'unreadable'],
]

test.each(hostile)('a file %s is rejected', async (_, file, flaw) => {
  expect(await paintFile(file)).toBe(flaw)
})

test('data beyond the last row of a picture is ignored, even 50 MB of it', async () => {
  const bomb = buildPng(1, 1, RGB, new Uint8Array(50_000_000).fill(7, 4))
  expect(await listColours(paintFile(bomb))).toEqual([0])
})

test('a JPEG whose scans cost more to decode than its size suggests is rejected without being decoded', async () => {
  expect(await paintFile(await createJpegOfScans(40, 40, 60))).toBe('tangled')
})

test('a conversion that takes too long is aborted, and other pictures are still converted', async () => {
  const hasty = createWorkerPictures(1)
  const large: PaintPlan = { ...plan, width: 1600, height: 900, dither: 'floyd-steinberg' }
  const picture = { kind: 'file', bytes: createFlatPng(500, 500, '#123456') } as const
  expect(await hasty.convertToPalette(picture, large, CLIENT)).toBe('late')
  expect(await listColours(paintFile(createFlatPng(1, 1, '#000000')))).toEqual([0])
})

test('a picture is rejected immediately if too many other pictures are waiting', async () => {
  const one = createFlatPng(1, 1, '#000000')
  const painted = await Promise.all(Array.from({ length: 20 }, () => listColours(paintFile(one))))
  expect(painted.filter((result) => result === 'busy')).toHaveLength(3)
  expect(painted.filter((result) => typeof result !== 'string')).toHaveLength(17)
})

test('a picture for a paid purchase does not wait for all the free conversions that were requested before it', async () => {
  const picture = { kind: 'file', bytes: createFlatPng(500, 500, '#000000') } as const
  let free = 0
  const crowd = Array.from({ length: 16 }, () => pictures.convertToPalette(picture, plan, CLIENT).then(() => free++))
  expect(await pictures.convertToPalette(picture, plan, PAYER)).toBeObject()
  expect(free).toBeLessThan(16)
  await Promise.all(crowd)
})

test.each([
  ['a PNG', createFlatPng(2001, 2000, '#000000'), 5],
  ['a small PNG', createFlatPng(1, 1, '#000000'), 1],
  ['a PNG that claims more pixels than the limit', buildPng(60_000, 60_000, RGBA, HUGE), 9],
  ['a JPEG', await new Bun.Image(createFlatPng(1500, 1000, '#000000')).jpeg().bytes(), 2],
  [
    'a progressive JPEG',
    await new Bun.Image(createFlatPng(1001, 1000, '#000000')).jpeg({ progressive: true }).bytes(),
    2,
  ],
  ['a JPEG that ends before its size', Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff), 9],
  ['a file that is not a picture', new Uint8Array(3), 1],
])('the cost in megapixels of %s is known before it is decoded', (_, file, megapixels) => {
  expect(countMegapixels({ kind: 'file', bytes: Uint8Array.from(file) })).toBe(megapixels)
})
