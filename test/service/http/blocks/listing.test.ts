import { expect, test } from 'bun:test'
import { readListingQuery } from '../../../../server/http/blocks.ts'
import { codeOf, jsonOf, openWall } from '../../../support/service/wall.ts'

const wall = await openWall()

const encode = encodeURIComponent
const smile = '\u{1F600}'

const taken: ReadonlyArray<readonly [what: string, query: string]> = [
  ['nothing', ''],
  ['a name', 'name=Ada'],
  ['a name of 40 characters', `name=${'a'.repeat(40)}`],
  ['a name of 40 pictographs', `name=${encode(smile.repeat(40))}`],
  ['a framework of 32 characters', `framework=${'f'.repeat(32)}`],
  ['a message of 140 characters', `message=${encode('é'.repeat(140))}`],
  ['a family', `name=${encode('\u{1F468}\u200D\u{1F469}\u200D\u{1F467}')}`],
  ['a red heart', 'name=%E2%9D%A4%EF%B8%8F'],
  ['markup, as text', 'message=%3Cscript%3Ealert(1)%3C/script%3E'],
  ['a quote, as text', 'name=Robert%27);%20DROP%20TABLE%20blocks;--'],
  ['a plus that is a space', 'name=a+b'],
  ['a link', 'link=https://example.org/'],
  ['a link to this machine', 'link=https://127.0.0.1/'],
  ['a link with brackets', 'link=https://[::1]/'],
  ['a short link', 'link=https://e'],
  ['a link of 200 characters', `link=https://e.org/${'a'.repeat(186)}`],
  ['a link with a query', `link=${encode('https://example.org/?a=1&b=2#c')}`],
  ['a picture', `px=${'ef'.repeat(100)}`],
  ['a picture in capitals', `px=${'AB'.repeat(100)}`],
  ['nothing between separators', '&name=Ada&&'],
]

test.each(taken)('a listing may say %s', async (_, query) => {
  expect((await wall.ask(`GET /blocks/next?${query}`)).status).toBe(402)
})

test('a listing is kept as it was said', () => {
  expect(
    readListingQuery(`https://wall.test/blocks/next?name=a+b%2B&message=${encode(smile)}&link=https://e/%2541#x`),
  ).toEqual({
    name: 'a b+',
    framework: null,
    message: smile,
    link: 'https://e/%41',
    pixels: null,
    painter: null,
  })
  expect(readListingQuery('/blocks/next')).toEqual({
    name: null,
    framework: null,
    message: null,
    link: null,
    pixels: null,
    painter: null,
  })
})

const texts: ReadonlyArray<readonly [what: string, query: string]> = [
  ['an empty name', 'name='],
  ['a name without a value', 'name'],
  ['a name of 41 characters', `name=${'a'.repeat(41)}`],
  ['a name of 41 pictographs', `name=${encode(smile.repeat(41))}`],
  ['a framework of 33 characters', `framework=${'f'.repeat(33)}`],
  ['a message of 141 characters', `message=${'m'.repeat(141)}`],
  ['a blank name', 'name=+++'],
  ...[
    '%00',
    '%07',
    '%09',
    '%0A',
    '%0D',
    '%1B',
    '%7F',
    '%C2%85',
    '%C2%A0',
    '%E2%80%8B',
    '%E2%80%AE',
    '%E2%81%A6',
    '%D8%9C',
    '%E2%80%A8',
    '%E2%80%A9',
    '%EF%BB%BF',
    '%EE%80%80',
    '%F3%A0%81%81',
    '%E2%80%8D',
    '%EF%BF%BF',
  ].map((invisible) => [`the invisible ${invisible}`, `message=a${invisible}b`] as const),
  ['a filler', 'name=%E3%85%A4'],
  ['bytes that are no UTF-8', 'name=%ff%fe'],
  ['an overlong slash', 'name=%C0%AF'],
  ['half of a pair', 'name=%ED%A0%80'],
  ['a broken escape', 'name=%zz'],
  ['two names', 'name=a&name=b'],
  ['two names, one of them escaped', 'name=a&%6eame=b'],
  ...[
    'http://example.org/',
    'HTTPS://example.org/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//example.org',
    'https:example.org',
    'https://',
    'https:///path',
    'https://?x',
    'https://user:pw@example.org/',
    'https://example.org@evil.test/',
    'https://exa mple.org/',
    'https://example.org/\t',
    ' https://example.org/',
    'https://example.org/ ',
    'https://example.org/\\evil',
    'https://example.org:99999/',
    'https://bücher.example/',
    'https://\u0430pple.com/',
    'https://example.org/%zz',
    'https://example.org/"onmouseover=x',
    'https://example.org/<b>',
    'https://example.org/\u202e',
    'ftp://example.org/',
    '',
    `https://e.org/${'a'.repeat(187)}`,
  ].map((link) => [`the link ${link.slice(0, 40)}`, `link=${encode(link)}`] as const),
  ['two links', 'link=https://a.org/&link=https://b.org/'],
]

test.each(texts)('a listing may not say %s', async (_, query) => {
  const response = await wall.ask(`GET /blocks/next?${query}`)
  expect(response.status).toBe(400)
  expect(await codeOf(response)).toBe('invalid_listing')
})

const pictures: ReadonlyArray<readonly [what: string, query: string]> = [
  ['199 digits', `px=${'0'.repeat(199)}`],
  ['201 digits', `px=${'0'.repeat(201)}`],
  ['no digits', 'px='],
  ['letters beyond hex', `px=${'0g'.repeat(100)}`],
  ['a prefix', `px=0x${'0'.repeat(198)}`],
  ['a line feed at the end', `px=${'0'.repeat(200)}%0A`],
  ['full-width digits', `px=${encode('０').repeat(200)}`],
  ['a colour that is none', `px=${'00'.repeat(99)}f0`],
  ['two pictures', `px=${'00'.repeat(100)}&px=${'00'.repeat(100)}`],
]

test.each(pictures)('a picture is refused for %s', async (_, query) => {
  const response = await wall.ask(`GET /blocks/next?${query}`)
  expect(response.status).toBe(400)
  expect(await codeOf(response)).toBe('invalid_pixels')
})

const strangers: ReadonlyArray<readonly [query: string, meant: string]> = [
  ['nmae=Ada', 'There is no parameter nmae; did you mean name?'],
  ['name=Ada&pixels=00', 'There is no parameter pixels; did you mean px?'],
  ['Name=Ada', 'There is no parameter Name; did you mean name?'],
  ['mesage=hi', 'There is no parameter mesage; did you mean message?'],
  ['url=https://a.org/', 'There is no parameter url; did you mean link?'],
  ['utm_source=x', 'There is no parameter utm_source.'],
  ['constructor=y', 'There is no parameter constructor.'],
  ['__proto__=x', 'There is a parameter that a block does not take.'],
  ['%zz=1', 'There is a parameter that a block does not take.'],
  ['name[]=a', 'There is a parameter that a block does not take.'],
  [`${encode('<script>')}=1`, 'There is a parameter that a block does not take.'],
  ['=', 'There is a parameter that a block does not take.'],
]

test.each(strangers)('a block is not sold for %s, which would be lost', async (query, meant) => {
  const response = await wall.ask(`GET /blocks/3,4?${query}`)
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    error: 'invalid_listing',
    message: `${meant} A block takes name, framework, message, link, px, painter. Nothing was charged.`,
  })
})

test('a query that is longer than any listing is refused', async () => {
  const query = `name=Ada&${'&'.repeat(4096)}`
  const response = await wall.ask(`GET /blocks/3,4?${query}`)
  expect([response.status, await codeOf(response)]).toEqual([400, 'invalid_listing'])
})

test('an unknown parameter is refused with a payment too, and stops neither a deed nor a payment that is known', async () => {
  const own = await openWall()
  const refused = await own.buy('/blocks/3,4?nmae=Ada', 1)
  expect([refused.status, await codeOf(refused)]).toEqual([400, 'invalid_listing'])
  expect(own.facilitator.settled).toEqual([])
  expect((await own.buy('/blocks/3,4?name=Ada', 1)).status).toBe(200)
  const again = await own.buy('/blocks/3,4?nmae=Ada', 1)
  expect([again.status, again.headers.has('payment-response')]).toEqual([200, true])
  expect((await own.ask('GET /blocks/3,4?nmae=Ada')).status).toBe(200)
})

test('a refusal names field and rule, and repeats nothing that was sent', async () => {
  const response = await wall.ask(`GET /blocks/3,4?message=${encode('evil\u202e')}`)
  expect(await jsonOf(response)).toEqual({
    error: 'invalid_listing',
    message:
      'message must be 1 to 140 printable characters, without control or invisible ones, and with at most 8 combining marks on each.',
  })
  expect(await jsonOf(await wall.ask(`GET /blocks/3,4?px=${'00'.repeat(7)}ff${'00'.repeat(92)}`))).toEqual({
    error: 'invalid_pixels',
    message: 'px: pixel 7 is 255; the palette ends at 239.',
  })
})
