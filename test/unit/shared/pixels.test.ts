import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parsePixels, trustPixels } from '../../../shared/pixels.ts'

const pictures = fc.uint8Array({ minLength: 100, maxLength: 100, max: 239 })

describe('a picture', () => {
  test('a picture in hex is read unchanged', () => {
    fc.assert(
      fc.property(pictures, (bytes) => {
        const pixels = parsePixels(bytes.toHex())
        if ('problem' in pixels) throw new Error(pixels.problem)
        expect(pixels).toEqual(trustPixels(bytes))
      }),
    )
  })

  test('a picture in hex may use either letter case', () => {
    expect(parsePixels('aB'.repeat(100))).toEqual(parsePixels('ab'.repeat(100)))
  })

  test('the error for an invalid picture identifies the pixel that is not a palette index', () => {
    fc.assert(
      fc.property(pictures, fc.nat(99), fc.integer({ min: 240, max: 255 }), (bytes, at, byte) => {
        bytes[at] = byte
        expect(parsePixels(bytes.toHex())).toEqual({ problem: `pixel ${at} is ${byte}; the palette ends at 239` })
      }),
    )
  })

  test.each([
    ['no digits', ''],
    ['one digit too few', '0'.repeat(199)],
    ['one digit too many', '0'.repeat(201)],
    ['a letter beyond f', 'g' + '0'.repeat(199)],
    ['a 0x prefix', '0x' + '0'.repeat(198)],
    ['a space', ' ' + '0'.repeat(199)],
    ['a line feed at the end', '0'.repeat(200) + '\n'],
    ['a line feed inside', '0'.repeat(198) + '\n0'],
    ['full-width digits', '０'.repeat(200)],
    ['a minus sign', '-' + '0'.repeat(199)],
  ])('hex text with %s is not a picture', (_, text) => {
    expect(parsePixels(text)).toEqual({ problem: 'must be exactly 200 hex characters, two for each of 100 pixels' })
  })

  test('reading stored pixels of the wrong length throws an error, because the database must be damaged', () => {
    expect(() => trustPixels(new Uint8Array(99))).toThrow(RangeError)
  })
})
