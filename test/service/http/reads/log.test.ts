import { expect, test } from 'bun:test'
import type { HistoryPage } from '../../../../shared/contract/live.ts'
import { CLAIM_ORDER } from '../../../../shared/wall.ts'
import { openNearlySoldWall } from '../../../support/nearly-sold.ts'
import { readBody } from '../../../support/service/client.ts'
import { signEdit, createBodyInit } from '../../../support/service/signed.ts'
import { openWall, type Wall } from '../../../support/service/wall.ts'

test('the history lists every change once, page by page, in the order of the log', async () => {
  const wall = await openWall()
  await wall.buyBlock('/blocks/1,0?name=Ada', 1)
  await wall.buyBlock('/blocks/2,0?message=two', 2)
  await wall.sendRequest('PUT /blocks/1,0', createBodyInit(signEdit(1, '1,0', { message: 'painted' })))

  const changes: HistoryPage['changes'] = []
  for (let after = 0, hasMore = true; hasMore;) {
    const page = await readBody(wall.client.api.history.get({ query: { after, limit: 2 } }))
    changes.push(...page.changes)
    after = page.nextAfter
    hasMore = page.hasMore
  }
  expect(changes).toMatchObject([
    { number: 1, kind: 'sale', coord: '1,0', agent: { id: 1, name: 'Ada' } },
    { number: 2, kind: 'sale', coord: '2,0', m: 'two' },
    { number: 3, kind: 'repaint', coord: '1,0', m: 'painted' },
  ])
})

const readTail = ({ client }: Wall) => readBody(client.api.tail.get())

test('the end of the log may be cached for two seconds, and a request with its ETag gets 304', async () => {
  const wall = await openWall()
  expect(await readTail(wall)).toEqual({ after: 0, nextAfter: 0, askAgainMs: 4000, changes: [] })
  await wall.buyBlock('/blocks/1,0?name=Ada', 1)
  await wall.sendRequest('PUT /blocks/1,0', createBodyInit(signEdit(1, '1,0', { message: 'painted' })))
  const response = await wall.sendRequest('GET /api/tail')
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
  expect((await wall.sendRequest('GET /api/tail', held)).status).toBe(304)
})

test('the end of the log has the last hundred changes, and the number of the change before them', async () => {
  const wall = await openWall({}, await openNearlySoldWall(CLAIM_ORDER.length - 103))
  const { after, nextAfter, changes } = await readTail(wall)
  expect([after, nextAfter, changes.length]).toEqual([3, 103, 100])
  expect(changes[0]?.number).toBe(4)
})
