import { expect, test } from 'bun:test'
import type { TObject } from '@sinclair/typebox'
import { createReader, refuseField, Unreadable } from '../../server/read.ts'
import { EditFields, ListingQuery } from '../../shared/contract/block.ts'
import { FeedQuery } from '../../shared/contract/feed.ts'
import { PixelsQuery } from '../../shared/contract/picture.ts'

const read = (schema: TObject, value: unknown) => createReader(schema, refuseField('invalid_body'))(value)

test('a valid value is read with the defaults of its schema', () => {
  expect<unknown>(read(FeedQuery, { after: 7 })).toEqual({ after: 7, limit: 50 })
})

test.each<[string, TObject, object, string]>([
  [
    'a number out of its range',
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
  ['not one of its choices', PixelsQuery, { fit: 'best' }, 'fit must be one of cover, contain, fill.'],
  ['another pattern', PixelsQuery, { background: 'red' }, 'background must match ^#?[0-9a-fA-F]{6}$.'],
  ['a text that is a number', ListingQuery, { name: 5 }, 'name must be a string.'],
  [
    'a picture that is too short',
    ListingQuery,
    { px: '00' },
    'px: must be exactly 200 hex characters, two for each of 100 pixels.',
  ],
  ['a malformed address', ListingQuery, { painter: '0x1' }, 'painter must be 0x followed by 40 hex digits.'],
  [
    'a link without a host, though null would be allowed',
    EditFields,
    { link: 'https://' },
    'link must be an ASCII https:// URI of at most 200 characters, with a host and without user information.',
  ],
  [
    'an unreadable value',
    ListingQuery,
    { name: new Unreadable('must be given only once') },
    'name must be given only once.',
  ],
])('the error for a field that is %s states its rule', (_, schema, value, message) => {
  expect(read(schema, value)).toMatchObject({ message })
})

test('if there are several errors, the message names the first one in the order of the schema', () => {
  expect(read(ListingQuery, { painter: '0x1', message: '', name: '' })).toMatchObject({ code: 'invalid_name' })
})
