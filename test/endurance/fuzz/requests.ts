/** Requests of every kind: honest ones, honest ones with a corrupted part, and noise. */

import fc, { type Arbitrary } from 'fast-check'
import { TOOLS } from '../../../server/mcp/registry.ts'
import { NOW, createTestPayment, createWalletAddress } from '../../support/samples.ts'
import { OPERATIONS } from '../../support/service/operations.ts'
import { signEdit, signRegistration } from '../../support/service/signed.ts'
import { encodeHeader, toPayload } from '../../support/service/wall.ts'
import { OWNERS } from './fuzz-wall.ts'

/** The parts of a request that a client may get wrong. */
export type Wild = {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | undefined
}

const PIXELS = '07'.repeat(100)

/** Text that breaks parsers. */
const nasty = fc.constantFrom(
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  '9007199254740993',
  'NaN',
  'null',
  'next',
  '__proto__',
  'constructor',
  '../..',
  "' OR 1=1 --",
  '<script>',
  'a\u0000b',
  '\u202e',
  '\ud800',
  '\ufeff',
  '\n',
  '%',
  '%zz',
  '%00',
  '%ff',
  '%252C',
  '\u{1f600}'.repeat(41),
  'é'.normalize('NFD'),
  'x'.repeat(5000),
  `0x${'f'.repeat(64)}`,
  'https://example.org/',
  'javascript:alert(1)',
)

const text = fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 200 }))

const owner = fc.integer({ min: 1, max: OWNERS })

const coord = fc.oneof(
  { weight: 4, arbitrary: owner.map((n) => `${n},0`) },
  { weight: 4, arbitrary: fc.tuple(fc.nat(165), fc.nat(95)).map(([col, row]) => `${col},${row}`) },
  { weight: 2, arbitrary: fc.constantFrom('next', '000,001', '160,0', '0,90', '-1,0', '1', '1,2,3', '1;2', '%31,2') },
  { weight: 1, arbitrary: text.map(encodeURIComponentSafely) },
)

const address = fc.oneof(
  owner.map((n) => createWalletAddress(n)),
  text.map(encodeURIComponentSafely),
)

/** Every documented path, with values for its parameters. */
const documentedPath = fc
  .tuple(fc.constantFrom(...OPERATIONS.map((operation) => operation.path)), coord, address)
  .map(([template, at, of]) => template.replace('{coord}', () => at).replace('{wallet}', () => of))

const path = fc.oneof(
  { weight: 4, arbitrary: coord.map((at) => `/blocks/${at}`) },
  { weight: 5, arbitrary: documentedPath },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '/',
      '/openapi.json',
      '/llms.txt',
      '/robots.txt',
      '/favicon.ico',
      '/.well-known/security.txt',
      '/blocks/',
      '/blocks/.png',
      '//blocks/1,1',
      '/api/../blocks/1,1',
      '/%2e%2e/etc/passwd',
    ),
  },
  { weight: 1, arbitrary: text.map((word) => `/${encodeURIComponentSafely(word)}`) },
)

const parameterNames = OPERATIONS.flatMap(({ query: schema }) => Object.keys(schema?.properties ?? {}))

const parameter = fc.oneof(
  fc.tuple(
    fc.constantFrom(...parameterNames, 'Name', '__proto__', 'name[]', ''),
    fc.oneof(text.map(encodeURIComponentSafely), text.map(removeInvisible), fc.nat(200).map(String)),
  ),
  fc.constantFrom(['px', PIXELS], ['link', 'https://example.org/'], ['name', 'Ada'], ['after', '3'], ['limit', '20']),
)

const query = fc.oneof(
  fc.constant(''),
  fc
    .array(parameter, { maxLength: 5 })
    .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`),
  text.map((noise) => `?${removeInvisible(noise)}`),
)

/** A JSON value as given, the value with at most two parts replaced or removed, or any JSON value. */
const spoilValue = (honest: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.oneof(
    honest,
    fc
      .tuple(
        honest,
        fc.array(fc.tuple(fc.nat(), fc.oneof(text, fc.jsonValue(), fc.constant(undefined))), { maxLength: 2 }),
      )
      .map(([value, changes]) => changes.reduce<unknown>((spoiling, [at, by]) => replacePart(spoiling, at, by), value)),
    fc.jsonValue(),
  )

/** Replaces the `at`th part of a value, or removes it if `by` is undefined; nested parts count, too. */
function replacePart(value: unknown, at: number, by: unknown): unknown {
  const copy: unknown = structuredClone(value)
  const places: (() => void)[] = []
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const record = part as Record<string, unknown>
    for (const key of Object.keys(record)) {
      places.push(() => {
        if (by === undefined) delete record[key]
        else record[key] = by
      })
      walk(record[key])
    }
  }
  walk(copy)
  places[at % Math.max(1, places.length)]?.()
  return copy
}

/** Text as given, the text with noise in place of at most three characters, or any text. */
const garbleText = (honest: Arbitrary<string>): Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: honest },
    {
      weight: 2,
      arbitrary: fc.tuple(honest, fc.nat(), text, fc.nat(3)).map(([whole, at, noise, cut]) => {
        const place = at % (whole.length + 1)
        return whole.slice(0, place) + noise + whole.slice(place + cut)
      }),
    },
    { weight: 1, arbitrary: text },
  )

const payload = fc
  .tuple(fc.integer({ min: 1, max: 60 }), fc.nat(100_000))
  .map(([payer, nonce]) => toPayload(createTestPayment(payer, nonce)))

const paymentHeader = garbleText(spoilValue(payload).map(encodeHeader)).map(removeInvisible)

const fields = fc.record(
  {
    pixels: fc.oneof(fc.constant(PIXELS), text),
    message: fc.oneof(fc.constant('hello'), fc.constant(null), text),
    link: fc.oneof(fc.constant('https://example.org/'), fc.constant(null), text),
  },
  { requiredKeys: [] },
)

const ts = fc.oneof(fc.constant(NOW), fc.integer({ min: NOW - 400_000, max: NOW + 400_000 }))

const edit = fc
  .tuple(owner, owner, fields, ts)
  .map(([payer, block, said, at]) => signEdit(payer, `${block},0`, said, { ts: at }))

const registration = fc
  .tuple(owner, fc.record({ name: fc.oneof(fc.constant('Ada'), text), framework: text }, { requiredKeys: [] }), ts)
  .map(([payer, said, at]) => signRegistration(payer, said, at))

const preview = fc.record(
  { coord: fc.oneof(coord, text), px: fc.constant(PIXELS), name: text, message: text, link: text },
  { requiredKeys: ['coord'] },
)

// One grey pixel.
const PICTURE = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB4iG8MwAAAABJRU5ErkJggg==',
)

const spoiltPicture = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }).map((changes) => {
  const bytes = Uint8Array.from(PICTURE)
  for (const [at, byte] of changes) bytes[at % bytes.byteLength] = byte
  return bytes
})

const toolArguments = fc.oneof(
  fc.record(
    {
      coord: fc.oneof(coord, text),
      px: fc.constant(PIXELS),
      name: text,
      limit: fc.nat(300),
      near: coord,
      message: text,
    },
    { requiredKeys: [] },
  ),
  fc.tuple(edit, coord).map(([said, at]) => ({ ...said, coord: at })),
  fc.jsonValue(),
)

const call = fc
  .record({
    name: fc.oneof(fc.constantFrom(...TOOLS.map(({ name }) => name)), text),
    arguments: toolArguments,
    _meta: fc.oneof(
      fc.constant({}),
      spoilValue(payload).map((payment) => ({ 'x402/payment': payment })),
    ),
  })
  .map((params) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))

const message = fc.oneof(
  { weight: 6, arbitrary: call },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom('initialize', 'ping', 'tools/list', 'notifications/initialized', 'toString'),
        fc.jsonValue(),
      )
      .map(([method, params]) => ({ jsonrpc: '2.0', id: 'a', method, params })),
  },
)

const garbleJson = (value: Arbitrary<unknown>) =>
  garbleText(spoilValue(value).map((said) => JSON.stringify(said) ?? ''))

const noise = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Uint8Array.from(bytes)),
  fc.integer({ min: 4000, max: 70_000 }).map((size) => `{"message":"${'a'.repeat(size)}"}`),
  fc.integer({ min: 1, max: 30_000 }).map((depth) => '['.repeat(depth)),
)

const header = fc.oneof(
  fc.constantFrom<[string, string]>(
    ['accept', 'text/html'],
    ['accept', '*/*'],
    ['accept-encoding', 'gzip, br;q=0'],
    ['if-none-match', '*'],
    ['origin', 'https://evil.test'],
    ['host', 'evil.test'],
    ['mcp-protocol-version', '2025-11-25'],
    ['content-type', 'text/plain'],
    ['content-length', '99999999999'],
    ['range', 'bytes=0-1'],
  ),
  fc.tuple(
    fc.constantFrom(
      'accept',
      'accept-encoding',
      'if-none-match',
      'content-type',
      'origin',
      'cookie',
      'x-forwarded-host',
    ),
    text.map(removeInvisible),
  ),
)

const headers = fc
  .tuple(fc.array(header, { maxLength: 3 }), fc.option(paymentHeader, { nil: undefined }))
  .map(([pairs, payment]) => ({
    ...(payment === undefined ? {} : { 'payment-signature': payment }),
    ...Object.fromEntries(pairs),
  }))

const asJson = headers.map((others) => ({ 'content-type': 'application/json', ...others }))

const target = fc.tuple(path, query).map(([where, what]) => where + what)

const anyMethod = fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'get', 'X')

/** Requests with a body, to one path or to generated paths. */
const createRequestArbitrary = (
  weight: number,
  method: string,
  where: string | Arbitrary<string>,
  body: Arbitrary<Wild['body']>,
  fieldsOf: Arbitrary<Wild['headers']> = asJson,
) => ({
  weight,
  arbitrary: fc.record({
    method: fc.constant(method),
    target: typeof where === 'string' ? fc.constant(where) : where,
    headers: fieldsOf,
    body,
  }),
})

const createAnyRequest = (methods: Arbitrary<string>, body: Arbitrary<Wild['body']>) =>
  fc.record({ method: methods, target, headers, body })

/** Every kind of request; most are valid except for a small change. */
export const wild: Arbitrary<Wild> = fc.oneof(
  { weight: 50, arbitrary: createAnyRequest(fc.constantFrom('GET', 'HEAD'), fc.constant(undefined)) },
  createRequestArbitrary(
    30,
    'PUT',
    coord.map((at) => `/blocks/${at}`),
    garbleJson(edit),
  ),
  createRequestArbitrary(20, 'PUT', '/api/agents/me', garbleJson(registration)),
  createRequestArbitrary(40, 'POST', '/mcp', garbleJson(message)),
  createRequestArbitrary(10, 'POST', '/api/preview', garbleJson(preview)),
  // Each of these pictures is decoded in a separate worker, which takes time.
  createRequestArbitrary(
    1,
    'POST',
    query.map((asked) => `/api/pixels${asked}`),
    fc.oneof(spoiltPicture, noise),
    headers.map((others) => ({ 'content-type': 'image/png', ...others })),
  ),
  { weight: 10, arbitrary: createAnyRequest(anyMethod, fc.option(noise, { nil: undefined })) },
)

/** The bytes of a request on the wire, with at most three of the bytes changed. */
export const wildBytes: Arbitrary<Uint8Array> = fc
  .tuple(wild, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }))
  .map(([{ method, target: where, headers: fieldsOf, body }, changes]) => {
    const content = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body ?? [])
    const lines = Object.entries({ host: 'wall.test', 'content-length': String(content.byteLength), ...fieldsOf })
    const head = `${method} ${where} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
    const bytes = Buffer.concat([Buffer.from(head), content])
    for (const [at, byte] of changes) bytes[at % bytes.byteLength] = byte
    return bytes
  })

function encodeURIComponentSafely(word: string): string {
  return encodeURIComponent(word.toWellFormed())
}

/** Removes the characters that a header or a URL cannot contain. */
function removeInvisible(word: string): string {
  return word.replaceAll(/[^\u0021-\u007e]/g, '')
}
