import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseStrictJson, UnsafeJson } from '../../../shared/json.ts'

describe('strict JSON', () => {
  test('is read as JSON is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseStrictJson(text)).toEqual(JSON.parse(text))
        const spaced = JSON.stringify(JSON.parse(text), null, 1)
        expect(parseStrictJson(spaced)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('refuses a key given twice, wherever it stands and however it is written', () => {
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

  test('lets different objects hold the same key', () => {
    expect(parseStrictJson('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":{}}')).toEqual({
      a: { a: 1 },
      b: [{ a: 1 }, { a: 2 }],
      c: {},
    })
  })

  test.each([
    ['after an object of its own', '{"a":{"b":1},"a":2}'],
    ['spelt with an escape', '{"a":1,"\\u0061":2}'],
    ['that is empty', '{"":1,"":2}'],
    ['that is a prototype', '{"__proto__":1,"__proto__":2}'],
  ])('refuses a key given twice %s', (_, text) => {
    expect(() => parseStrictJson(text)).toThrow(UnsafeJson)
  })

  test.each(['', ' ', '{', '{"a":1,}', '[1,]', "{'a':1}", '// x\n{}', '{}{}', 'NaN', '01', '\uFEFF{}', '"\n"'])(
    'refuses %j, which is no JSON',
    (text) => {
      expect(() => parseStrictJson(text)).toThrow(SyntaxError)
      expect(() => parseStrictJson(text)).not.toThrow(UnsafeJson)
    },
  )

  test('nests to a depth of 64, and no deeper', () => {
    const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const objects = (depth: number) => '{"a":'.repeat(depth) + '0' + '}'.repeat(depth)
    expect(() => parseStrictJson(lists(64))).not.toThrow()
    expect(() => parseStrictJson(objects(64))).not.toThrow()
    expect(() => parseStrictJson(`[${lists(63)},${lists(63)},${objects(63)}]`)).not.toThrow()
    for (const depth of [65, 30_000]) {
      expect(() => parseStrictJson(lists(depth))).toThrow(UnsafeJson)
      expect(() => parseStrictJson(objects(depth))).toThrow(UnsafeJson)
    }
  })

  test.each([
    ['many values', `[${'0,'.repeat(40_000)}0]`],
    ['many objects', JSON.stringify(Array.from({ length: 30_000 }, () => ({})))],
    ['many keys', JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [at, at])))],
    ['many quotation marks in a string', JSON.stringify('"'.repeat(5000))],
  ])('refuses %s, which are never meant and take long to read', (_, text) => {
    expect(() => parseStrictJson(text)).toThrow(UnsafeJson)
  })

  test('reads a long string, whatever is in it', () => {
    const long = `{"\\\\]}:${'x'.repeat(1_000_000)}`
    expect(parseStrictJson(JSON.stringify({ a: long, b: [long] }))).toEqual({ a: long, b: [long] })
  })
})
