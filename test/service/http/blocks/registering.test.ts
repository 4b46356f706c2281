import { expect, test } from 'bun:test'
import { NOW, createWalletAddress } from '../../../support/samples.ts'
import { signRegistration, createBodyInit } from '../../../support/service/signed.ts'
import { readErrorCode, readJson, openWall } from '../../../support/service/wall.ts'

async function openSoldWall() {
  const wall = await openWall()
  await wall.buyBlock('/blocks/3,4?name=Ada&link=https://ada.example/', 0xab)
  return { ...wall, put: (body: unknown) => wall.sendRequest('PUT /api/agents/me', createBodyInit(body)) }
}

const wall = await openSoldWall()

test('a wallet that bought a block can set its own name, and all its blocks then show that name', async () => {
  const { put, sendRequest: ask, clock } = await openSoldWall()
  const response = await put(signRegistration(0xab, { name: 'Lovelace', framework: 'engine' }))
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await readJson(response)).toEqual({
    updated: true,
    agent: {
      rank: 1,
      name: 'Lovelace',
      wallet: '0x0000…00AB',
      framework: 'engine',
      blocks: 1,
      firstSeenAt: clock.now(),
      link: 'https://ada.example/',
    },
  })
  expect(await readJson(await ask('GET /blocks/3,4'))).toMatchObject({
    owner: { name: 'Lovelace', framework: 'engine' },
  })
  expect(await readJson(await ask('GET /api/feed'))).toMatchObject({
    sales: [{ agent: { name: 'Ada', framework: null } }],
  })
})

test('a repeated registration changes nothing, and its response says so', async () => {
  const { put } = await openSoldWall()
  const word = signRegistration(0xab, { name: 'Lovelace' })
  expect(await readJson(await put(word))).toHaveProperty('updated', true)
  expect(await readJson(await put(word))).toHaveProperty('updated', false)
  await put(signRegistration(0xab, { name: null }))
  expect(await readErrorCode(await put(word))).toBe('stale_signature')
})

test('the wallet in a registration may be written in any letter case', async () => {
  const { put } = await openSoldWall()
  const upper = `0x${createWalletAddress(0xab).slice(2).toUpperCase()}`
  expect((await put({ ...signRegistration(0xab, { name: null, framework: null }), wallet: upper })).status).toBe(200)
})

test('a wallet cannot set the name of another wallet', async () => {
  const stranger = signRegistration(2, { name: 'Eve' })
  const response = await wall.put({ ...stranger, wallet: createWalletAddress(0xab) })
  expect(response.status).toBe(401)
  expect(await readJson(response)).toMatchObject({
    error: 'unauthorized',
    expected: expect.stringContaining('register v2'),
  })
})

test.each([
  ['a wallet address that is too short', { name: 'x', wallet: '0x123' }, 'invalid_wallet'],
  ['a name of 41 characters', { name: 'a'.repeat(41) }, 'invalid_name'],
  ['a framework of 33 characters', { framework: 'a'.repeat(33) }, 'invalid_framework'],
])('a registration with %s is rejected', async (_, given, code) => {
  expect(
    await readErrorCode(await wall.put({ wallet: createWalletAddress(0xab), ts: NOW, signature: '0x12', ...given })),
  ).toBe(code)
})
