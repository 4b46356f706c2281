import { expect, test } from 'bun:test'
import { reserveTarget } from '../../../support/engine.ts'
import { parseBlockOrThrow, createTestPayment } from '../../../support/samples.ts'
import { readErrorCode, readJson, openWall } from '../../../support/service/wall.ts'

const wall = await openWall()

test('each space is listed with its price, and with the order that buys it with one payment', async () => {
  expect(await readJson(await wall.sendRequest('GET /api/space?w=2&h=2&near=0,0&limit=2'))).toEqual({
    w: 2,
    h: 2,
    asset: 'USDC',
    spaces: [
      { coord: '0,0', order: { at: '0,0', w: 2, h: 2 }, price: '4.00' },
      { coord: '2,0', order: { at: '2,0', w: 2, h: 2 }, price: '4.00' },
    ],
  })
})

test('a search for space without parameters returns the five open blocks nearest the centre', async () => {
  const { spaces } = await readJson(await wall.sendRequest('GET /api/space'))
  expect((spaces as { coord: string }[]).map(({ coord }) => coord)).toEqual([
    '79,44',
    '80,44',
    '79,45',
    '80,45',
    '79,43',
  ])
})

test('sold and held blocks do not count as space', async () => {
  const { buyBlock, db, sendRequest: ask } = await openWall()
  await buyBlock('/blocks/1,1', 1)
  await reserveTarget(db, parseBlockOrThrow('3,0'), createTestPayment(2, 2))
  const { spaces } = await readJson(await ask('GET /api/space?w=2&h=2&near=0,0&limit=1'))
  expect(spaces).toMatchObject([{ coord: '0,2' }])
})

test('a search returns an empty list if no space of the requested size is open', async () => {
  const { buyBlock, sendRequest: ask } = await openWall()
  await buyBlock('/blocks/0,0', 1)
  expect((await readJson(await ask('GET /api/space?w=160&h=90')))['spaces']).toEqual([])
})

test.each([
  ['w=0', 'invalid_size'],
  ['w=161', 'invalid_size'],
  ['h=91', 'invalid_size'],
  ['h=1.5', 'invalid_size'],
  ['w=2&w=3', 'invalid_size'],
  ['limit=0', 'invalid_limit'],
  ['limit=21', 'invalid_limit'],
  ['limit=', 'invalid_limit'],
  ['near=160,0', 'invalid_coordinate'],
  ['near=here', 'invalid_coordinate'],
  ['near=%zz', 'invalid_coordinate'],
])('a search for space with %s is rejected', async (query, code) => {
  expect(await readErrorCode(await wall.sendRequest(`GET /api/space?${query}`))).toBe(code)
})

test('a search for space ignores unknown parameters, whatever their names', async () => {
  const response = await wall.sendRequest(
    'GET /api/space?kind=refused&code=no_room&message=no&__proto__=1&constructor=2',
  )
  expect(response.status).toBe(200)
})
