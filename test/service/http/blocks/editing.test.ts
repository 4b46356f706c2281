import { expect, test } from 'bun:test'
import { UNCHECKED } from '../../../support/fakes/wallets.ts'
import { NOW, createWalletAddress } from '../../../support/samples.ts'
import {
  signAreaEdit,
  signEdit,
  signPainterChoice,
  signRegistration,
  createBodyInit,
} from '../../../support/service/signed.ts'
import { readErrorCode, HOST, readJson, openWall } from '../../../support/service/wall.ts'

const px = '07'.repeat(100)

async function openSoldWall() {
  const wall = await openWall()
  await wall.buyBlock(`/blocks/3,4?message=old&link=https://old.example/`, 1)
  const putBlock = (body: unknown, coord = '3,4') => wall.sendRequest(`PUT /blocks/${coord}`, createBodyInit(body))
  return { ...wall, putBlock }
}

test('an owner repaints a block, and its deed and the canvas show the change', async () => {
  const wall = await openSoldWall()
  const response = await wall.putBlock(signEdit(1, '3,4', { pixels: px, message: 'new', link: null }))
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('no-store')
  const pixels = Buffer.alloc(100, 7).toString('base64')
  const { updated, deed } = await readJson(response)
  expect(updated).toBe(true)
  expect(deed).toMatchObject({ message: 'new', link: null, pixels })
  expect(await readJson(await wall.sendRequest('GET /blocks/3,4'))).toEqual(deed as Record<string, unknown>)
  expect(await readJson(await wall.sendRequest('GET /api/canvas'))).toMatchObject({
    blocks: [{ i: 643, m: 'new', px: pixels }],
  })
})

test('an owner may sign the coordinate as the path spells it, or in its canonical form', async () => {
  const wall = await openSoldWall()
  expect((await wall.putBlock(signEdit(1, '003,04', { message: 'a' }), '003,04')).status).toBe(200)
  expect((await wall.putBlock(signEdit(1, '3,4', { message: 'b' }), '003,4')).status).toBe(200)
  expect((await wall.putBlock(signEdit(1, '3,4', { message: 'c' }), '3%2C4')).status).toBe(200)
  expect((await wall.putBlock(signEdit(1, '003,04', { message: 'd' }), '3,4')).status).toBe(401)
})

test('the signed host may include its port, and must be the host of the wall', async () => {
  const wall = await openSoldWall()
  expect((await wall.putBlock(signEdit(1, '3,4', { message: 'a' }, { host: `${HOST}:8402` }))).status).toBe(200)
  const foreign = await wall.putBlock(signEdit(1, '3,4', { message: 'b' }, { host: 'other.test' }))
  expect(foreign.status).toBe(401)
  expect(await readJson(foreign)).toMatchObject({
    error: 'unauthorized',
    expected: `${HOST}\nset_pixels v2\nblock=3,4\nts=${NOW}\npixels_present=0\npixels=\nmessage_present=1\nmessage=b\nlink_present=0\nlink=`,
  })
})

test('a wallet that is neither the owner of a block nor its painter cannot edit the block', async () => {
  const wall = await openSoldWall()
  const response = await wall.putBlock(signEdit(2, '3,4', { message: 'mine' }))
  expect(response.status).toBe(401)
  expect(await readJson(await wall.sendRequest('GET /blocks/3,4'))).toHaveProperty('message', 'old')
})

const signedChanges: ReadonlyArray<readonly [what: string, address: string, body: object]> = [
  ['a repaint', 'PUT /blocks/3,4', signEdit(1, '3,4', { message: 'new' })],
  ['a repaint of an area', 'PUT /areas/3,4,1x1', signAreaEdit(1, '3,4,1x1', { message: 'new' })],
  ['another painter', 'PUT /api/agents/me/painter', signPainterChoice(1, createWalletAddress(8))],
  ['another name', 'PUT /api/agents/me', signRegistration(1, { name: 'Eve' })],
]

test.each(signedChanges)(
  'if a smart wallet cannot be queried, its request for %s gets 503 and changes nothing',
  async (_, address, body) => {
    const wall = await openSoldWall()
    const readStanding = async () => await readJson(await wall.sendRequest(`GET /api/agents/${createWalletAddress(1)}`))
    const before = await readStanding()
    for (const signature of [UNCHECKED.busy, UNCHECKED.silent]) {
      const response = await wall.sendRequest(address, createBodyInit({ ...body, signature }))
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
      expect(await readJson(response)).toMatchObject({
        error: 'server_busy',
        message: expect.stringContaining('Nothing was changed; send the same request again'),
      })
    }
    expect(await readStanding()).toEqual(before)
  },
)

test('a repeated edit is acknowledged again, unless a newer one has been applied', async () => {
  const wall = await openSoldWall()
  const edit = signEdit(1, '3,4', { message: 'a' })
  expect((await wall.putBlock(edit)).status).toBe(200)
  expect((await wall.putBlock(edit)).status).toBe(200)
  await wall.putBlock(signEdit(1, '3,4', { message: 'b' }))
  expect(await readErrorCode(await wall.putBlock(edit))).toBe('stale_signature')
})

test('a repaint reports errors in this order: body, coordinate, owner and signature', async () => {
  const wall = await openSoldWall()
  const late = signEdit(2, '160,0', { message: 'a' }, { ts: 1 })
  expect(await readErrorCode(await wall.putBlock({ ...late, message: '', x: 1 }, '160,0'))).toBe('invalid_body')
  expect(await readErrorCode(await wall.putBlock({ ...late, message: '' }, '160,0'))).toBe('invalid_message')
  expect(await readErrorCode(await wall.putBlock(late, '160,0'))).toBe('invalid_coordinate')
  expect(await readErrorCode(await wall.putBlock(late, '%zz'))).toBe('invalid_coordinate')
  expect(await readErrorCode(await wall.putBlock(late, 'next'))).toBe('invalid_coordinate')
  expect(await readErrorCode(await wall.putBlock(late, '5,5'))).toBe('no_owner')
  expect(await readErrorCode(await wall.putBlock(late))).toBe('stale_signature')
  expect(await readErrorCode(await wall.putBlock('x'.repeat(4097), '160,0'))).toBe('body_too_large')
})
