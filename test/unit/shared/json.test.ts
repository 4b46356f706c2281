import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseStrictJson, UnsafeJson } from '../../../shared/json.ts'

describe('strict JSON', () => {
  test('the strict parser returns the same value as JSON.parse for valid JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseStrictJson(text)).toEqual(JSON.parse(text))
        const spaced = JSON.stringify(JSON.parse(text), null, 1)
        expect(parseStrictJson(spaced)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('the strict parser rejects a duplicate key, whatever its name, even in a nested object', () => {
    const key = fc.string()
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.jsonValue(), { minKeys: 1 }),
        fc.jsonValue(),
        fc.boolean(),
        (object, value, isWide) => {
          const [first = ''] = Object.keys(object)
          const text = `${JSON.stringify(object).slice(0, -1)},${JSON.stringify(first)}:${JSON.stringify(value)}}`
          expect(() => parseStrictJson(isWide ? `{"in": [${text}]}` : text)).toThrow(UnsafeJson)
        },
      ),
    )
  })

  test('the strict parser accepts the same key in different objects', () => {
    expect(parseStrictJson('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":{}}')).toEqual({
      a: { a: 1 },
      b: [{ a: 1 }, { a: 2 }],
      c: {},
    })
  })

  test.each([
    ['whose first value is an object', '{"a":{"b":1},"a":2}'],
    ['spelt with an escape', '{"a":1,"\\u0061":2}'],
    ['that is empty', '{"":1,"":2}'],
    ['that is __proto__', '{"__proto__":1,"__proto__":2}'],
  ])('the strict parser rejects a duplicate key %s', (_, text) => {
    expect(() => parseStrictJson(text)).toThrow(UnsafeJson)
  })

  test.each(['', ' ', '{', '{"a":1,}', '[1,]', "{'a':1}", '// x\n{}', '{}{}', 'NaN', '01', '\uFEFF{}', '"\n"'])(
    'the strict parser rejects %j, which is not JSON',
    (text) => {
      expect(() => parseStrictJson(text)).toThrow(SyntaxError)
      expect(() => parseStrictJson(text)).not.toThrow(UnsafeJson)
    },
  )

  test('the strict parser accepts 64 levels of nesting, but no more', () => {
    const nestLists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const nestObjects = (depth: number) => '{"a":'.repeat(depth) + '0' + '}'.repeat(depth)
    expect(() => parseStrictJson(nestLists(64))).not.toThrow()
    expect(() => parseStrictJson(nestObjects(64))).not.toThrow()
    expect(() => parseStrictJson(`[${nestLists(63)},${nestLists(63)},${nestObjects(63)}]`)).not.toThrow()
    for (const depth of [65, 30_000]) {
      expect(() => parseStrictJson(nestLists(depth))).toThrow(UnsafeJson)
      expect(() => parseStrictJson(nestObjects(depth))).toThrow(UnsafeJson)
    }
  })

  test.each([
    ['JSON with many values', `[${'0,'.repeat(40_000)}0]`],
    ['JSON with many objects', JSON.stringify(Array.from({ length: 30_000 }, () => ({})))],
    ['JSON with many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [at, at])))],
    ['JSON with many quotation marks in a string', JSON.stringify('"'.repeat(5000))],
  ])('the strict parser rejects %s, because it is slow to parse and no honest client sends it', (_, text) => {
    expect(() => parseStrictJson(text)).toThrow(UnsafeJson)
  })

  test('the strict parser reads a string of a million characters, even with quotation marks and brackets in it', () => {
    const long = `{"\\\\]}:${'x'.repeat(1_000_000)}`
    expect(parseStrictJson(JSON.stringify({ a: long, b: [long] }))).toEqual({ a: long, b: [long] })
  })
})
