import { expect, test } from 'bun:test'
import type { HistoryPage } from '../../../../shared/contract/live.ts'
import { bodyOf } from '../../../support/service/client.ts'
import { editOf, sending } from '../../../support/service/signed.ts'
import { openWall } from '../../../support/service/wall.ts'

test('the history is every change once, page by page, as followers were told', async () => {
  const wall = await openWall()
  await wall.buy('/blocks/1,0?name=Ada', 1)
  await wall.buy('/blocks/2,0?message=two', 2)
  await wall.ask('PUT /blocks/1,0', sending(editOf(1, '1,0', { message: 'painted' })))

  const changes: HistoryPage['changes'] = []
  for (let after = 0, hasMore = true; hasMore;) {
    const page = await bodyOf(wall.client.api.history.get({ query: { after, limit: 2 } }))
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
