import { describe, expect } from 'bun:test'
import { createHash } from 'node:crypto'
import { openPostgres } from '../../../db/postgres/open.ts'
import type { Receipts } from '../../../shared/contract/wallet.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { testOver, type TestOver } from '../../support/engine.ts'
import { createPrng } from '../../support/prng.ts'
import { NOW, TERMS, createWalletAddress } from '../../support/samples.ts'
import { signEdit, createBodyInit } from '../../support/service/signed.ts'
import {
  readDemand,
  readSignInFields,
  createSignInHeader,
  createSignInInit,
  sendSignedIn,
  type SignInFields,
} from '../../support/service/signing-in.ts'
import { BASE_URL, readErrorCode, HOST, readJson, openWall, type Wall } from '../../support/service/wall.ts'
import { openPostgresWalls } from '../db/postgres/walls.ts'

// Goal: with a sign-in alone, a wallet can do everything that it is allowed to do, and nothing else. Method: the whole
// service with a real store; the x402 SDK parses each demand. The first wallet owns 3,4 and 4,4, the second 5,4.

type Store = NonNullable<Parameters<typeof openWall>[1]>

const [OWNER, STRANGER, PAINTER] = [createWalletAddress(1), createWalletAddress(2), createWalletAddress(9)]
const BLOCK = 'POST /blocks/3,4'

/** Opens two instances of a wall, on two connections to one store or on a single connection, and buys three blocks. */
async function openSoldWalls(first: Store, second: Store): Promise<Walls> {
  const wall = await openWall({}, first)
  await wall.buyBlock(`/blocks/3,4?message=old&painter=${PAINTER}`, 1, 1)
  await wall.buyBlock('/blocks/4,4', 1, 2)
  await wall.buyBlock('/blocks/5,4', 2, 3)
  return [wall, await openWall({}, second)]
}

type Walls = readonly [Wall, Wall]
type WallsTest = TestOver<Walls>

async function closeWalls([wall, other]: Walls): Promise<void> {
  await wall.waitUntilIdle()
  await wall.db.close()
  if (other.db !== wall.db) await other.db.close()
}

const readMessage = async (wall: Wall, coord = '3,4') =>
  (await readJson(await wall.sendRequest(`GET /blocks/${coord}`)))['message']

/** Signs a request as demanded, and sends it with some of the header's fields changed before or after signing. */
async function sendAlteredSignIn(
  wall: Wall,
  before: SignInFields,
  after: Record<string, unknown> = {},
): Promise<Response> {
  const demand = await wall.sendRequest(BLOCK, createSignInInit({ message: 'new' }))
  const header = createSignInHeader({ ...readSignInFields(demand, OWNER), ...before }, OWNER, after)
  return await wall.sendRequest(BLOCK, createSignInInit({ message: 'new' }, header))
}

const { createWall: newWall } = openPostgresWalls()

const testOnSqlite = testOver(async () => {
  // Only one process can open a SQLite file, so both walls use one store.
  const store = await openBlankWall()
  return await openSoldWalls(store, store)
}, closeWalls)

const testOnPostgres = testOver(async () => {
  const url = await newWall()
  return await openSoldWalls(await openPostgres(url, TERMS.network), await openPostgres(url, TERMS.network))
}, closeWalls)

describe('signing in on SQLite', () => {
  for (const promises of [testDemands, testOwners, testReceipts, testRefusals, testRepeats]) promises(testOnSqlite)
})

describe('signing in on PostgreSQL, with two instances', () => {
  testRepeats(testOnPostgres)
})

function testOwners(test: WallsTest): void {
  test('an owner who repaints a block with a sign-in gets the same response as with a signed PUT', async ([wall]) => {
    const { response } = await sendSignedIn(wall, BLOCK, { message: 'new', link: null }, OWNER)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const answer = await readJson(response)
    expect(answer).toMatchObject({ updated: true, deed: { message: 'new', link: null } })
    const put = await wall.sendRequest('PUT /blocks/3,4', createBodyInit(signEdit(1, '3,4', { message: 'new' })))
    expect(await readJson(put)).toEqual(answer)
  })

  test('with a sign-in, a wallet can repaint its area and set its name', async ([wall]) => {
    const area = await sendSignedIn(wall, 'POST /areas/3,4,2x1', { message: 'both' }, OWNER)
    expect(await readJson(area.response)).toEqual({ updated: true, area: '3,4,2x1', blocks: 2 })
    expect([await readMessage(wall), await readMessage(wall, '4,4')]).toEqual(['both', 'both'])
    const named = await sendSignedIn(wall, 'POST /api/agents/me', { name: 'Ada' }, OWNER)
    expect(await readJson(named.response)).toMatchObject({ updated: true, agent: { name: 'Ada', blocks: 2 } })
  })

  test('with a sign-in, a painter can repaint only the blocks it is named for, and nobody can repaint an area of two owners', async ([
    wall,
  ]) => {
    expect((await sendSignedIn(wall, BLOCK, { message: 'painted' }, PAINTER)).response.status).toBe(200)
    for (const [request, by] of [
      [BLOCK, STRANGER],
      ['POST /blocks/4,4', PAINTER],
      ['POST /areas/4,4,2x1', OWNER],
    ] as const) {
      const { response } = await sendSignedIn(wall, request, { message: 'mine' }, by)
      expect([response.status, await readErrorCode(response)]).toEqual([401, 'unauthorized'])
      expect(await readJson(response)).not.toHaveProperty('expected')
    }
    const nobody = await sendSignedIn(wall, 'POST /api/agents/me', { name: 'Bob' }, createWalletAddress(7))
    expect([nobody.response.status, await readErrorCode(nobody.response)]).toEqual([404, 'no_purchases'])
  })
}

function testReceipts(test: WallsTest): void {
  const LIST = 'POST /api/agents/me/receipts'
  const listReceipts = async (wall: Wall, body: object, by = OWNER) =>
    (await (await sendSignedIn(wall, LIST, body, by)).response.json()) as Receipts

  test('with a sign-in, a wallet can list its own purchases with their receipts, but not those of another wallet', async ([
    wall,
  ]) => {
    const bought = await wall.buyBlock('/blocks/6,4', 1, 4)
    const { purchases, nextAfter } = await listReceipts(wall, {})
    expect(purchases.map(({ target, state }) => [target, state])).toEqual([
      ['6,4', 'sold'],
      ['4,4', 'sold'],
      ['3,4', 'sold'],
    ])
    expect([purchases[0]?.receipt, nextAfter]).toEqual([(await bought.json()) as never, null])
    expect((await listReceipts(wall, {}, STRANGER)).purchases.map(({ target }) => target)).toEqual(['5,4'])
    const nobody = await sendSignedIn(wall, LIST, {}, createWalletAddress(7))
    expect([nobody.response.status, await readErrorCode(nobody.response)]).toEqual([404, 'no_purchases'])
    const forged = createSignInHeader(
      readSignInFields(await wall.sendRequest(LIST, createSignInInit({})), OWNER),
      STRANGER,
    )
    expect((await wall.sendRequest(LIST, createSignInInit({}, forged))).status).toBe(401)
  })

  test('more than fifty receipts are listed page by page', async ([wall]) => {
    for (let at = 0; at < 50; at += 1) await wall.buyBlock(`/blocks/${at},9`, 1, 100 + at)
    const first = await listReceipts(wall, {})
    expect(first.purchases.map(({ target }) => target)).toEqual(Array.from({ length: 50 }, (_, at) => `${49 - at},9`))
    const { purchases, nextAfter } = await listReceipts(wall, { after: first.nextAfter })
    expect([purchases.map(({ target }) => target), nextAfter]).toEqual([['4,4', '3,4'], null])
  })
}

function testDemands(test: WallsTest): void {
  test('a request without a sign-in header gets a 402 response with the text to sign and no payment options', async ([
    wall,
  ]) => {
    const body = JSON.stringify({ link: null, pixels: '07'.repeat(100) })
    const demand = await wall.sendRequest('POST /blocks/003,4', createSignInInit(body))
    expect([demand.status, demand.headers.get('cache-control')]).toEqual([402, 'no-store'])
    expect(await readJson(demand)).toMatchObject({
      error: 'sign_in_required',
      accepts: [],
      docs: `${BASE_URL}/openapi.json`,
    })
    const statement = `Repaint block 3,4 (pixels, link) on ${HOST}`
    expect(readDemand(demand)).toMatchObject({
      x402Version: 2,
      error: 'sign_in_required',
      resource: { url: `${BASE_URL}/blocks/3,4`, mimeType: 'application/json' },
      accepts: [],
      extensions: {
        'sign-in-with-x': {
          info: {
            domain: HOST,
            uri: `${BASE_URL}/blocks/3,4`,
            version: '1',
            statement,
            nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
            issuedAt: new Date(NOW).toISOString(),
            expirationTime: new Date(NOW + 300_000).toISOString(),
            requestId: createHash('sha256').update(body).digest('hex'),
          },
          supportedChains: [{ chainId: 'eip155:8453', type: 'eip191' }],
        },
      },
    } as never)
  })

  const bad: ReadonlyArray<readonly [request: string, body: unknown, status: number, code: string]> = [
    [BLOCK, '', 400, 'invalid_body'],
    [BLOCK, {}, 400, 'empty_update'],
    [BLOCK, { message: 'a', ts: NOW }, 400, 'invalid_body'],
    [BLOCK, { message: '' }, 400, 'invalid_message'],
    [BLOCK, 'x'.repeat(4097), 413, 'body_too_large'],
    ['POST /blocks/160,0', { message: 'a' }, 400, 'invalid_coordinate'],
    ['POST /blocks/next', { message: 'a' }, 400, 'invalid_coordinate'],
    ['POST /blocks/3,4?x=1', { message: 'a' }, 400, 'invalid_option'],
    ['POST /blocks/9,9', { message: 'a' }, 404, 'no_owner'],
    ['POST /areas/3,4,3x3', { message: 'a' }, 404, 'no_owner'],
    ['POST /areas/3,4,1x1', { pixels: 'AAAA' }, 400, 'invalid_pixels'],
    ['POST /api/agents/me', { name: '' }, 400, 'invalid_name'],
    ['POST /api/agents/me', { name: 'a', wallet: OWNER }, 400, 'invalid_body'],
    ['POST /api/agents/me/receipts', { after: 0 }, 400, 'invalid_body'],
    ['POST /api/agents/me/receipts', '', 400, 'invalid_body'],
  ]
  test('a request that is invalid for every wallet gets the same error with and without a sign-in header', async ([
    wall,
  ]) => {
    const { header } = await sendSignedIn(wall, BLOCK, { message: 'a' }, OWNER)
    for (const [request, body, status, code] of bad)
      for (const sent of [undefined, header]) {
        const response = await wall.sendRequest(request, createSignInInit(body, sent))
        expect([request, response.status, await readErrorCode(response)]).toEqual([request, status, code])
      }
  })
}

function testRefusals(test: WallsTest): void {
  test('a sign-in is valid only for the body, URL and service that it was signed for, and any other use gets 401', async ([
    wall,
  ]) => {
    const { header } = await sendSignedIn(wall, BLOCK, { message: 'new' }, OWNER)
    const others: ReadonlyArray<readonly [request: string, body: unknown]> = [
      [BLOCK, { message: 'other' }],
      [BLOCK, '{ "message": "new" }'],
      ['POST /blocks/4,4', { message: 'new' }],
      ['POST /areas/3,4,1x1', { message: 'new' }],
      ['POST /api/agents/me', { name: 'new' }],
      ['POST /api/agents/me/receipts', {}],
    ]
    for (const [request, body] of others) {
      const response = await wall.sendRequest(request, createSignInInit(body, header))
      expect([request, response.status, await readErrorCode(response)]).toEqual([request, 401, 'unauthorized'])
    }
    for (const field of ['domain', 'uri', 'statement', 'requestId']) {
      const response = await sendAlteredSignIn(wall, { [field]: field === 'uri' ? 'https://evil.test/' : 'evil.test' })
      expect([response.status, await readErrorCode(response)]).toEqual([401, 'unauthorized'])
      expect((await readJson(response))['message']).toContain(field)
    }
    expect([await readMessage(wall, '4,4'), await readMessage(wall)]).toEqual([null, 'new'])
  })

  test('a sign-in is valid for five minutes before and after its issue time, but not before its notBefore, nor at or after its expirationTime', async ([
    wall,
  ]) => {
    const formatTime = (ms: number) => new Date(NOW + ms).toISOString()
    const timely: readonly SignInFields[] = [
      { issuedAt: formatTime(-300_000), expirationTime: undefined },
      { issuedAt: formatTime(-1), expirationTime: formatTime(1), notBefore: formatTime(0) },
      { issuedAt: '2027-01-15T09:00:00+01:00' },
      { issuedAt: formatTime(300_000), expirationTime: undefined },
    ]
    for (const fields of timely) expect((await sendAlteredSignIn(wall, fields)).status).toBe(200)
    const untimely: readonly SignInFields[] = [
      { issuedAt: formatTime(-300_001), expirationTime: undefined },
      { issuedAt: formatTime(300_001), expirationTime: undefined },
      { expirationTime: formatTime(0) },
      { notBefore: formatTime(1) },
    ]
    for (const fields of untimely) {
      const response = await sendAlteredSignIn(wall, fields)
      expect([response.status, await readErrorCode(response)]).toEqual([400, 'stale_signature'])
    }
  })

  const unreadable: ReadonlyArray<readonly [what: string, changes: Record<string, unknown>]> = [
    ['another version', { version: '2' }],
    ['another type', { type: 'ed25519' }],
    ['another chain', { chainId: 'eip155:1' }],
    ['resources', { resources: ['https://wall.test/'] }],
    ['a text of two lines', { nonce: 'abc\ndef' }],
    ['letters that are not ASCII', { nonce: 'ä' }],
    ['a text of 501 characters', { nonce: 'a'.repeat(501) }],
    ['a field that is not text', { nonce: 5 }],
    ['no nonce', { nonce: undefined }],
    ['no domain', { domain: undefined }],
    ['an invalid address', { address: '0x12' }],
    ['an invalid time', { issuedAt: 'now' }],
    ['an expiry that is not a time', { expirationTime: '2027-02-31' }],
    ['a signature that is not hex', { signature: '0xzz' }],
    ['a list as the signature', { signature: ['0x12'] }],
    ['more than 8 kB', { signature: `0x${'ab'.repeat(4000)}` }],
  ]
  test('a header that is not a sign-in for this chain is rejected as invalid_sign_in', async ([wall]) => {
    for (const [what, changes] of unreadable) {
      const response = await sendAlteredSignIn(wall, {}, changes)
      expect([what, response.status, await readErrorCode(response)]).toEqual([what, 400, 'invalid_sign_in'])
    }
    for (const header of ['', '%', 'e30', btoa('null'), btoa('[]'), btoa('{"a":1,"a":2}'), btoa('{'), 'A'.repeat(9000)])
      expect(await readErrorCode(await wall.sendRequest(BLOCK, createSignInInit({ message: 'a' }, header)))).toBe(
        'invalid_sign_in',
      )
    expect(await readMessage(wall)).toBe('old')
  })

  test('each of 3,000 altered sign-in headers gets a 400 or 401 response', async ([wall]) => {
    const demand = await wall.sendRequest(BLOCK, createSignInInit({ message: 'new' }))
    const fields = { ...readSignInFields(demand, OWNER) }
    const honest = JSON.stringify({ ...fields, signature: `0x${'5a'.repeat(65)}` })
    const prng = createPrng(27)
    const texts = ['', '0x', 'null', '\\u0000', '\\n', '999999', '{', '"', 'Z', 'ä', 'eip155:8453', OWNER]
    const statuses = new Set<number>()
    for (let count = 0; count < 3000; count += 1) {
      let text = honest
      for (let times = prng.nextInt(3); times >= 0; times -= 1) {
        const at = prng.nextInt(text.length)
        text = text.slice(0, at) + prng.pick(texts) + text.slice(at + prng.nextInt(20))
      }
      const header = prng.nextBoolean(0.1) ? text.replaceAll(/[^\x20-\x7e]/g, '') : Buffer.from(text).toString('base64')
      const request = new Request(`${BASE_URL}/blocks/3,4`, {
        method: 'POST',
        ...createSignInInit({ message: 'new' }, header),
      })
      statuses.add((await wall.app.handle(request)).status)
    }
    expect([...statuses].toSorted((a, b) => a - b)).toEqual([400, 401])
  })
}

function testRepeats(test: WallsTest): void {
  test('a repeated sign-in changes nothing, even at another instance, and one older than the last repaint is rejected as stale', async ([
    wall,
    other,
  ]) => {
    const { header, response } = await sendSignedIn(wall, BLOCK, { message: 'first' }, OWNER)
    expect(response.status).toBe(200)
    const again = await Promise.all(
      [wall, other, wall, other].map((each) => each.sendRequest(BLOCK, createSignInInit({ message: 'first' }, header))),
    )
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(await wall.db.log.readAfter(3, 9)).toHaveLength(1)
    const later = await other.sendRequest('PUT /blocks/3,4', createBodyInit(signEdit(1, '3,4', { message: 'second' })))
    expect(later.status).toBe(200)
    const replayed = await wall.sendRequest(BLOCK, createSignInInit({ message: 'first' }, header))
    expect([replayed.status, await readErrorCode(replayed)]).toEqual([400, 'stale_signature'])
    const older = await sendAlteredSignIn(wall, { issuedAt: new Date(NOW - 1).toISOString() })
    expect([older.status, await readErrorCode(older)]).toEqual([400, 'stale_signature'])
    expect(await readMessage(wall)).toBe('second')
  })

  test('one sign-in sent to two instances at the same time repaints the block once', async ([wall, other]) => {
    const demand = await wall.sendRequest(BLOCK, createSignInInit({ message: 'once' }))
    const header = createSignInHeader(readSignInFields(demand, OWNER), OWNER)
    const sent = [wall, other].map((each) => each.sendRequest(BLOCK, createSignInInit({ message: 'once' }, header)))
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200])
    expect(await wall.db.log.readAfter(3, 9)).toHaveLength(1)
  })
}
