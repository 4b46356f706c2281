import { expect, test } from 'bun:test'
import { emptyView } from '../../../../server/domain/wall/wall-view.ts'
import { viewCached } from '../../../../server/http/answer/cached-response.ts'
import { openWall } from '../../../support/service/wall.ts'

// Goal: what is remembered is never older than the view, and is remembered for few. Method: count what is made.

function counted(status = 200) {
  const view = emptyView()
  const made: string[] = []
  const read = viewCached(view, ({ url }) => {
    made.push(url)
    return new Response(`${view.number} ${url}`, { status })
  })
  const ask = async (query: string) => await read(new Request(`http://wall.test/api/feed${query}`)).text()
  return { view, made, ask }
}

test('a page is made once, and again after a change', async () => {
  const { view, made, ask } = counted()
  const first = await ask('?after=1')
  expect(await ask('?after=1')).toBe(first)
  expect(made.length).toBe(1)
  view.number += 1
  expect(await ask('?after=1')).not.toBe(first)
  expect(await ask('?after=2')).toContain('after=2')
  expect(made.length).toBe(3)
})

test('refusals, odd queries and too many of them are not kept', async () => {
  const refused = counted(400)
  for (const _ of [1, 2]) await refused.ask('?after=x')
  expect(refused.made.length).toBe(2)
  const odd = counted()
  for (const _ of [1, 2]) await odd.ask(`?after=${'0'.repeat(50)}1`)
  expect(odd.made.length).toBe(2)
  const many = counted()
  for (const _ of [1, 2]) for (let after = 0; after < 100; after++) await many.ask(`?after=${after}`)
  expect(many.made.length).toBe(100 + 100 - 64)
})

test('what a request says that makes no difference makes no other page', async () => {
  let made = 0
  const read = viewCached(
    emptyView(),
    () => new Response(`${(made += 1)}`),
    () => '',
  )
  for (const query of ['', '?a', '?b=1'])
    expect(await read(new Request(`http://wall.test/api/agents${query}`)).text()).toBe('1')
})

test('who holds a page is told that it is good, until the wall changes; a proxy may keep it for a moment', async () => {
  const wall = await openWall()
  await wall.buy('/blocks/3,4', 1)
  for (const path of ['/api/feed', '/api/feed?limit=5', '/api/agents']) {
    const first = await wall.ask(`GET ${path}`)
    expect(first.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=2')
    const held = { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } }
    const again = await wall.ask(`GET ${path}`, held)
    expect([again.status, again.headers.get('etag')]).toEqual([304, first.headers.get('etag')])
    await wall.buy('/blocks/next', 2, path.length)
    expect((await wall.ask(`GET ${path}`, held)).status).toBe(200)
  }
})
