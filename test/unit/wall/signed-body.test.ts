import { expect, test } from 'bun:test'
import { readEdit } from '../../../server/wall/signed-body.ts'

// Goal: rejecting a body costs little. Method: count how often its fields are read.

/** A body with this many unknown fields, and the number of reads of its fields. */
function createCountedBody(fields: number) {
  let reads = 0
  const body = new Proxy(Object.fromEntries(Array.from({ length: fields }, (_, at) => [`field ${at}`, 1])), {
    get(target, name) {
      reads += 1
      return Reflect.get(target, name)
    },
  })
  return { body, reads: () => reads }
}

test('a body with four thousand unknown fields is rejected at the first one', () => {
  const [few, many] = [createCountedBody(1), createCountedBody(4000)]
  expect(readEdit(many.body)).toEqual(readEdit(few.body))
  expect(readEdit(many.body)).toMatchObject({ code: 'invalid_body' })
  readEdit(few.body)
  expect(many.reads()).toBe(few.reads())
})

test.each([
  [{ message: '\0' }, 'invalid_message'],
  [{ link: 'http://example.org/', message: '\0' }, 'invalid_message'],
  [{ message: '\0', extra: 1 }, 'invalid_body'],
  [{ message: 1 }, 'invalid_body'],
] as const)('an edit with the fields %j is refused with %s', (fields, code) => {
  expect(readEdit({ ts: 1, signature: '0x00', ...fields })).toMatchObject({ code })
})
