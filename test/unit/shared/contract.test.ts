import { describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import { RegisterBody } from '../../../shared/contract/agent.ts'
import { EditBody, ListingQuery } from '../../../shared/contract/block.ts'
import { FeedQuery } from '../../../shared/contract/feed.ts'
import { Link, PixelsHex, Printable } from '../../../shared/contract/kinds.ts'

/** Whether a schema accepts a value; the schema's interpreted and compiled checks must agree. */
function isAccepted(schema: TSchema, value: unknown): boolean {
  const isValid = Value.Check(schema, value)
  expect(TypeCompiler.Compile(schema).Check(value)).toBe(isValid)
  return isValid
}

const SIGNED = { ts: 1_800_000_000_000, signature: '0x12' }
const WALLET = `0x${'aB'.repeat(20)}`

describe('the kinds of text', () => {
  test.each([
    [true, 'Ada'],
    [true, '😀'.repeat(40)],
    [false, '😀'.repeat(41)],
    [false, ' '],
    [false, 'a\u202Eb'],
    [false, null],
  ])('the check of a name returns %p for %j', (expected, value) => {
    expect(isAccepted(Printable(40, 'a name', 'Ada'), value)).toBe(expected)
  })

  test.each([
    [true, 'https://example.org/'],
    [false, 'http://example.org/'],
    [false, 'https://user@example.org/'],
    [false, null],
  ])('the check of a link returns %p for %j', (expected, value) => {
    expect(isAccepted(Link, value)).toBe(expected)
  })

  test.each([
    [true, 'EF'.repeat(100)],
    [false, 'f0'.repeat(100)],
    [false, '00'.repeat(99)],
    [false, 100],
  ])('the check of pixels returns %p for %j', (expected, value) => {
    expect(isAccepted(PixelsHex, value)).toBe(expected)
  })

  test('the schema of each field of a listing contains one example, and accepts it', () => {
    for (const schema of Object.values(ListingQuery.properties))
      expect(schema['examples'].map((example: unknown) => isAccepted(schema, example))).toEqual([true])
  })
})

describe('an edit', () => {
  test.each([
    [{ ...SIGNED }],
    [{ ...SIGNED, pixels: '00'.repeat(100), message: 'hi', link: 'https://e.org/' }],
    [{ ...SIGNED, message: null, link: null }],
    [{ ...SIGNED, ts: -1 }],
  ])('the schema of an edit accepts %j', (body) => {
    expect(isAccepted(EditBody, body)).toBe(true)
  })

  test.each([
    [null],
    [[]],
    [{}],
    [{ signature: SIGNED.signature }],
    [{ ...SIGNED, ts: '1800000000000' }],
    [{ ...SIGNED, ts: 1.5 }],
    [{ ...SIGNED, ts: Number.POSITIVE_INFINITY }],
    [{ ...SIGNED, signature: 12 }],
    [{ ...SIGNED, signature: '0x' }],
    [{ ...SIGNED, signature: '0xzz' }],
    [{ ...SIGNED, signature: '0x12\n' }],
    [{ ...SIGNED, pixels: null }],
    [{ ...SIGNED, pixels: ['00'] }],
    [{ ...SIGNED, message: 'a\nlink_present=1\nlink=https://evil.test' }],
    [{ ...SIGNED, message: 'x'.repeat(141) }],
    [{ ...SIGNED, link: '' }],
    [{ ...SIGNED, name: 'Ada' }],
    [JSON.parse(`{"ts":1,"signature":"0x12","__proto__":{"pixels":"00"}}`)],
  ])('the schema of an edit rejects %j', (body) => {
    expect(isAccepted(EditBody, body)).toBe(false)
  })
})

describe('a registration', () => {
  test.each([
    [true, { ...SIGNED, wallet: WALLET }],
    [true, { ...SIGNED, wallet: WALLET, name: 'Ada', framework: null }],
    [false, { ...SIGNED }],
    [false, { ...SIGNED, wallet: WALLET.slice(0, -1) }],
    [false, { ...SIGNED, wallet: `${WALLET}\n` }],
    [false, { ...SIGNED, wallet: WALLET, name: '' }],
    [false, { ...SIGNED, wallet: WALLET, name: 'x'.repeat(41) }],
    [false, { ...SIGNED, wallet: WALLET, framework: 'x'.repeat(33) }],
    [false, { ...SIGNED, wallet: WALLET, message: 'hi' }],
  ])('the check of a registration returns %p for %j', (expected, body) => {
    expect(isAccepted(RegisterBody, body)).toBe(expected)
  })
})

test.each([
  [true, 0, 1],
  [true, Number.MAX_SAFE_INTEGER, 200],
  [false, -1, 50],
  [false, 2 ** 53, 50],
  [false, 0.5, 50],
  [false, 0, 0],
  [false, 0, 201],
])('the check of a feed query returns %p for after=%d and limit=%d', (expected, after, limit) => {
  expect(isAccepted(FeedQuery, { after, limit })).toBe(expected)
})
