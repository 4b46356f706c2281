import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { placeArea, AREA_BLOCKS_MAX } from '../../../../shared/area.ts'
import { PALETTE_SIZE } from '../../../../shared/palette.ts'
import { LINK_MAX, readPlan, writePlan, type Plan } from '../../../../viewer/studio/plan.ts'
import { requireBlockAt } from '../../../support/page/sample-wall.ts'
import { createPrng } from '../../../support/prng.ts'

// Goal: the link of a plan opens the same plan; other text opens nothing, and costs no more to read than a plan.

function createPlan(w: number, h: number, indexAt: (pixel: number) => number, message = ''): Plan {
  const area = placeArea(requireBlockAt(3, 4), { w, h })
  if (area === undefined) throw new RangeError(`no area is ${w} by ${h} blocks`)
  const indices = Uint8Array.from({ length: w * h * 100 }, (_, pixel) => indexAt(pixel) % PALETTE_SIZE)
  return { area, words: { name: 'Ada', message, link: 'https://example.com/a' }, indices }
}

async function packContent(content: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  return `#plan=${(await new Response(stream).bytes()).toBase64({ alphabet: 'base64url', omitPadding: true })}`
}

const createNoise = (seed: number) => {
  const prng = createPrng(seed)
  return () => prng.nextInt(PALETTE_SIZE)
}

test('a plan stays the same when it is written as a link and read again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 0, max: 999 }),
      fc.string({ maxLength: 280, unit: 'binary' }),
      async (w, h, seed, message) => {
        const plan = createPlan(w, h, createNoise(seed), message.toWellFormed())
        const link = await writePlan(plan)
        expect(link).toMatch(/^#plan=[\w-]+$/)
        expect(await readPlan(link ?? '')).toEqual(plan)
      },
    ),
    { numRuns: 40 },
  )
})

test('the largest area fits in a link if its picture is plain, but not if its picture is noise', async () => {
  expect(AREA_BLOCKS_MAX).toBe(20 * 20)
  expect((await writePlan(createPlan(20, 20, () => 7)))?.length).toBeLessThan(LINK_MAX)
  expect(typeof (await writePlan(createPlan(20, 20, createNoise(7))))).toBe('undefined')
})

test('a plan that is malformed or truncated, or has an invalid size, colour or position, opens nothing', async () => {
  const whole = (await writePlan(createPlan(2, 2, createNoise(7)))) ?? ''
  const texts = [
    '#plan=',
    '#plan=%%%',
    whole.slice(0, -20),
    await packContent(new TextEncoder().encode('["3,4,2x2",{}]\nshort')),
    await packContent(new TextEncoder().encode(`["159,89,2x2",{}]\n${'a'.repeat(400)}`)),
    await packContent(new TextEncoder().encode(`["3,4,30x30",{}]\n${'a'.repeat(90_000)}`)),
    await packContent(
      Uint8Array.from([...new TextEncoder().encode('["3,4,1x1",{}]\n'), ...new Uint8Array(100).fill(255)]),
    ),
    await packContent(new TextEncoder().encode(`[null]\n${'a'.repeat(100)}`)),
  ]
  for (const text of texts) expect([text.slice(0, 40), await readPlan(text)]).toEqual([text.slice(0, 40), undefined])
})

test('a link opens nothing if it is too long, or would unpack to more bytes than any plan', async () => {
  const bomb = await packContent(new Uint8Array(5_000_000))
  expect(bomb.length).toBeLessThan(LINK_MAX)
  expect(await readPlan(bomb)).toBeUndefined()
  expect(await readPlan(`#plan=${'A'.repeat(LINK_MAX)}`)).toBeUndefined()
})
