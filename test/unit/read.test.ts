import { expect, test } from 'bun:test'
import type { TObject } from '@sinclair/typebox'
import { createReader, refuseField, Unreadable } from '../../server/read.ts'
import { EditFields, ListingQuery } from '../../shared/contract/block.ts'
import { FeedQuery } from '../../shared/contract/feed.ts'
import { PixelsQuery } from '../../shared/contract/picture.ts'

const readFields = (schema: TObject, value: unknown) => createReader(schema, refuseField('invalid_body'))(value)

test('a valid value is read, and the defaults of its schema fill the missing fields', () => {
  expect<unknown>(readFields(FeedQuery, { after: 7 })).toEqual({ after: 7, limit: 50 })
})

test.each<[string, TObject, object, string]>([
  [
    'a number out of range',
    FeedQuery,
    { limit: 201 },
    'limit must be an integer from 1 to 200, in plain decimal digits.',
  ],
  [
    'a number in words',
    FeedQuery,
    { limit: 'ten' },
    'limit must be an integer from 1 to 200, in plain decimal digits.',
  ],
  ['a value that is not one of the choices', PixelsQuery, { fit: 'best' }, 'fit must be one of cover, contain, fill.'],
  [
    'a value that does not match the pattern',
    PixelsQuery,
    { background: 'red' },
    'background must match ^#?[0-9a-fA-F]{6}$.',
  ],
  ['a number instead of text', ListingQuery, { name: 5 }, 'name must be a string.'],
  [
    'a picture that is too short',
    ListingQuery,
    { px: '00' },
    'px: must be exactly 200 hex characters, two for each of 100 pixels.',
  ],
  ['a malformed address', ListingQuery, { painter: '0x1' }, 'painter must be 0x followed by 40 hex digits.'],
  [
    'a link without a host in a field that also allows null',
    EditFields,
    { link: 'https://' },
    'link must be an ASCII https:// URI of at most 200 characters, with a host and without user information.',
  ],
  [
    'a value that is given twice',
    ListingQuery,
    { name: new Unreadable('must be given only once') },
    'name must be given only once.',
  ],
])('the error for %s states the rule of the field', (_, schema, value, message) => {
  expect(readFields(schema, value)).toMatchObject({ message })
})

test('if several fields are invalid, the error is about the first one in the order of the schema', () => {
  expect(readFields(ListingQuery, { painter: '0x1', message: '', name: '' })).toMatchObject({ code: 'invalid_name' })
})
