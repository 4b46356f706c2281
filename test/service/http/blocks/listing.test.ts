import { expect, test } from 'bun:test'
import { readListingQuery } from '../../../../server/http/blocks.ts'
import { SILENT } from '../../../support/samples.ts'
import { readErrorCode, readJson, openWall } from '../../../support/service/wall.ts'

const wall = await openWall()

const encode = encodeURIComponent
const smile = '\u{1F600}'

test('the parameters of a listing are decoded exactly once', () => {
  expect(
    readListingQuery(`https://wall.test/blocks/next?name=a+b%2B&message=${encode(smile)}&link=https://e/%2541#x`),
  ).toEqual({ ...SILENT, name: 'a b+', message: smile, link: 'https://e/%41' })
  expect(readListingQuery('/blocks/next')).toEqual(SILENT)
})

test.each([
  ['a name without a value', 'name', 'invalid_listing'],
  ['a broken escape', 'name=%zz', 'invalid_listing'],
  ['two names, one of them escaped', 'name=a&%6eame=b', 'invalid_listing'],
  ['a colour outside the palette', `px=${'00'.repeat(99)}f0`, 'invalid_pixels'],
  ['two pictures', `px=${'00'.repeat(100)}&px=${'00'.repeat(100)}`, 'invalid_pixels'],
])('a listing may not contain %s', async (_, query, code) => {
  expect(await readErrorCode(await wall.sendRequest(`GET /blocks/next?${query}`))).toBe(code)
})

const strangers: ReadonlyArray<readonly [query: string, meant: string]> = [
  ['nmae=Ada', 'Unknown parameter nmae; did you mean name?'],
  ['name=Ada&pixels=00', 'Unknown parameter pixels; did you mean px?'],
  ['Name=Ada', 'Unknown parameter Name; did you mean name?'],
  ['mesage=hi', 'Unknown parameter mesage; did you mean message?'],
  ['url=https://a.org/', 'Unknown parameter url; did you mean link?'],
  ['utm_source=x', 'Unknown parameter utm_source.'],
  ['constructor=y', 'Unknown parameter constructor.'],
  ['__proto__=x', 'The request has an unknown parameter.'],
  ['%zz=1', 'The request has an unknown parameter.'],
  ['name[]=a', 'The request has an unknown parameter.'],
  [`${encode('<script>')}=1`, 'The request has an unknown parameter.'],
  ['=', 'The request has an unknown parameter.'],
]

test.each(strangers)(
  'a request with the query %s is rejected, because its unknown parameter would be lost',
  async (query, meant) => {
    const response = await wall.sendRequest(`GET /blocks/3,4?${query}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: 'invalid_listing',
      message: `${meant} The parameters of a block are name, framework, message, link, px, painter. Nothing was charged.`,
    })
  },
)

test('a query that is longer than any valid listing is rejected', async () => {
  const query = `name=Ada&${'&'.repeat(4096)}`
  expect(await readErrorCode(await wall.sendRequest(`GET /blocks/3,4?${query}`))).toBe('invalid_listing')
})

test('an unknown parameter is rejected even with a payment, but not for a claimed block or a known payment', async () => {
  const own = await openWall()
  const refused = await own.buyBlock('/blocks/3,4?nmae=Ada', 1)
  expect(await readErrorCode(refused)).toBe('invalid_listing')
  expect(own.facilitator.settled).toEqual([])
  expect((await own.buyBlock('/blocks/3,4?name=Ada', 1)).status).toBe(200)
  const again = await own.buyBlock('/blocks/3,4?nmae=Ada', 1)
  expect([again.status, again.headers.has('payment-response')]).toEqual([200, true])
  expect((await own.sendRequest('GET /blocks/3,4?nmae=Ada')).status).toBe(200)
})

test('an error about a listing states the field and the rule, and does not repeat text that was sent', async () => {
  const response = await wall.sendRequest(`GET /blocks/3,4?message=${encode('evil\u202e')}`)
  expect(await readJson(response)).toEqual({
    error: 'invalid_listing',
    message:
      'message must be 1 to 140 printable characters, with no control or invisible characters and at most 8 combining marks per character.',
  })
  expect(await readJson(await wall.sendRequest(`GET /blocks/3,4?px=${'00'.repeat(7)}ff${'00'.repeat(92)}`))).toEqual({
    error: 'invalid_pixels',
    message: 'px: pixel 7 is 255; the palette ends at 239.',
  })
})
