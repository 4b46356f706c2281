import { expect, test } from 'bun:test'
import { bodyOf } from '../../../support/service/client.ts'
import { editOf, sending } from '../../../support/service/signed.ts'
import { openWall, type Wall } from '../../../support/service/wall.ts'

const tailOf = ({ client }: Wall) => bodyOf(client.api.tail.get())

test('the end of the log is the same for everyone, and kept by proxies for a moment', async () => {
  const wall = await openWall()
  expect(await tailOf(wall)).toEqual({ after: 0, nextAfter: 0, changes: [] })
  await wall.buy('/blocks/1,0?name=Ada', 1)
  await wall.ask('PUT /blocks/1,0', sending(editOf(1, '1,0', { message: 'painted' })))
  const response = await wall.ask('GET /api/tail')
  expect(response.headers.get('cache-control')).toBe('public, max-age=2, stale-while-revalidate=10')
  expect(await response.json()).toMatchObject({
    after: 0,
    nextAfter: 2,
    changes: [
      { number: 1, kind: 'sale', coord: '1,0' },
      { number: 2, kind: 'repaint', m: 'painted' },
    ],
  })
  const held = { headers: { 'if-none-match': response.headers.get('etag') ?? '' } }
  expect((await wall.ask('GET /api/tail', held)).status).toBe(304)
})

test('it holds the last hundred changes, and says from where on', async () => {
  const wall = await openWall()
  for (let owner = 1; owner <= 103; owner++) await wall.buy(`/blocks/${owner},0`, owner)
  const { after, nextAfter, changes } = await tailOf(wall)
  expect([after, nextAfter, changes.length]).toEqual([3, 103, 100])
  expect(changes[0]?.number).toBe(4)
})
