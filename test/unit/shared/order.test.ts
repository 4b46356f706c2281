import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  matchesOrder,
  isOrderNonce,
  type Order,
  computeOrderNonce,
  formatOrderText,
  parseOrderText,
  formatPictureDigest,
} from '../../../shared/order.ts'
import { hashPixels } from '../../../shared/signing.ts'

const SALT = '0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'
const PX = '0f'.repeat(100)
const PAINTER = '0xabcdef0123456789abcdef0123456789abcdef01'
const ROWS = Uint8Array.from({ length: 1200 }, (_, i) => i % 240)
const FILE = new TextEncoder().encode('not a picture')

const renderAbsentFields = (...fields: readonly string[]) =>
  fields.map((field) => `${field}_present=0\n${field}=`).join('\n')

/** Orders, their texts, and their nonces with `SALT`, as an independent implementation of keccak-256 computed them. */
const VECTORS: ReadonlyArray<readonly [string, Order, string, string]> = [
  [
    'a block with every field',
    {
      host: 'wall.example',
      block: '7,3',
      name: 'Ada',
      framework: 'loom',
      message: 'hello, wall ✨',
      link: 'https://ada.example/',
      px: PX,
      painter: PAINTER,
    },
    `wall.example\nbuy v1\nblock=7,3\nname_present=1\nname=Ada\nframework_present=1\nframework=loom\nmessage_present=1\n` +
      `message=hello, wall ✨\nlink_present=1\nlink=https://ada.example/\npx_present=1\npx=${PX}\n` +
      `painter_present=1\npainter=${PAINTER}`,
    '0x50584f314d5892085170b85dbd08071175f4283f46666e4daff71e7a74ce36b7',
  ],
  [
    'the next block without other fields',
    { host: 'wall.example', block: 'next' },
    `wall.example\nbuy v1\nblock=next\n${renderAbsentFields('name', 'framework', 'message', 'link', 'px', 'painter')}`,
    '0x50584f31f61b8802a1bc98b89107cca504773cd7db4836312567347c8a27ace4',
  ],
  [
    'an area with pixels',
    { host: 'wall.example', area: '80,45,4x3', message: 'hi', pixels: formatPictureDigest(hashPixels(ROWS)) },
    `wall.example\nbuy v1\narea=80,45,4x3\n${renderAbsentFields('name', 'framework')}\nmessage_present=1\nmessage=hi\n${renderAbsentFields('link')}\n` +
      `pixels_present=1\npixels=sha256:07a0a322314364eddc4fa26306cd6493760d3cb14e5b27c4e0bca8822e68a413\n${renderAbsentFields('painter')}`,
    '0x50584f31f3f03ceb95291f2921ea47e6a29b2f6906d6fca6c5e2edeab942e5a0',
  ],
  [
    'the next area of one block with an image',
    { host: 'wall.example', area: 'next,1x1', image: `${formatPictureDigest(hashPixels(FILE))},cover,none` },
    `wall.example\nbuy v1\narea=next,1x1\n${renderAbsentFields('name', 'framework', 'message', 'link')}\nimage_present=1\n` +
      `image=sha256:bf891ea46ead4993e89aa7da02ab8c23dd50f29e9aae64607105363a5f070e03,cover,none\n${renderAbsentFields('painter')}`,
    '0x50584f31618a3ee5eccc28bd569c4069a8265b0b490b7735d5dfc3101ea667c6',
  ],
]

describe('an order', () => {
  test.each(VECTORS)(
    'the text and the nonce of an order of %s have their known values, and the text is parsed back to the same order',
    (_, order, text, nonce) => {
      expect(formatOrderText(order)).toBe(text)
      expect(parseOrderText(text)).toEqual(order)
      expect(computeOrderNonce(text, SALT)).toBe(nonce as `0x${string}`)
      expect(matchesOrder(nonce, text, SALT)).toBeTrue()
      expect(
        matchesOrder(nonce.toUpperCase().replace('0X', '0x'), text, SALT.toUpperCase().replace('0X', '0x')),
      ).toBeTrue()
    },
  )

  test('the text of an order without a picture ends the same way for blocks and areas', () => {
    const ending = `\n${renderAbsentFields('px', 'painter')}`
    expect(formatOrderText({ host: 'wall.example', area: 'next,2x2' })).toEndWith(ending)
    expect(formatOrderText({ host: 'wall.example', block: '0,0' })).toEndWith(ending)
  })

  test('an order with a line break in a field is rejected, because another order could have the same text', () => {
    const order: Order = { host: 'wall.example', block: 'next', name: 'Ada\nframework_present=0' }
    expect(() => formatOrderText(order)).toThrow(RangeError)
    expect(() => formatOrderText({ host: 'wall.example\rx', block: 'next' })).toThrow(RangeError)
  })
})

describe('a nonce', () => {
  const [[, , text, nonce]] = VECTORS as [(typeof VECTORS)[number]]

  test('a nonce does not match a different order, a different salt or a malformed salt', () => {
    expect(matchesOrder(nonce, text.replace('Ada', 'Eve'), SALT)).toBeFalse()
    expect(matchesOrder(nonce, text, SALT.replace('1f', '1e'))).toBeFalse()
    expect(matchesOrder(nonce, text, SALT.slice(0, -2))).toBeFalse()
    expect(matchesOrder(nonce, text, '')).toBeFalse()
  })

  test('the first four bytes of a nonce, in any letter case, show whether it is bound to an order', () => {
    expect(isOrderNonce(nonce)).toBeTrue()
    expect(isOrderNonce('0x50584F31FF')).toBeTrue()
    expect(isOrderNonce(`0x${'50584f30'}${'0'.repeat(56)}`)).toBeFalse()
  })
})

describe('a text', () => {
  test.each([
    ['empty', ''],
    ['written in the unknown format version 2', createVersion2Text()],
    ['cut off before its last line', VECTORS[1]?.[2].split('\n').slice(0, -1).join('\n') ?? ''],
    ['one line too long', `${VECTORS[1]?.[2]}\n`],
    ['written with its fields in the wrong sequence', createSwappedText()],
  ])('text that is %s is not an order', (_, text) => {
    expect(parseOrderText(text)).toBeUndefined()
  })

  test('the text of an order is parsed back to the same order, whatever its fields contain', () => {
    const member = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => !/[\r\n]/.test(text))
    const order = fc.record(
      { host: member, block: member, name: member, message: member, link: member, pixels: member, painter: member },
      { requiredKeys: ['host', 'block'] },
    )
    fc.assert(fc.property(order, (given) => expect(parseOrderText(formatOrderText(given))).toEqual(given)))
  })
})

function createVersion2Text(): string {
  return VECTORS[1]?.[2].replace('buy v1', 'buy v2') ?? ''
}

function createSwappedText(): string {
  const lines = VECTORS[1]?.[2].split('\n') ?? []
  return [...lines.slice(0, 3), ...lines.slice(5, 7), ...lines.slice(3, 5), ...lines.slice(7)].join('\n')
}
