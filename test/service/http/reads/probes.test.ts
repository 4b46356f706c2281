import { expect, test } from 'bun:test'
import { jsonOf, openWall } from '../../../support/service/wall.ts'

test('supervisors and balancers are told whether the process lives, sells and answers readers', async () => {
  const { ask } = await openWall()
  expect([(await ask('GET /livez')).status, await jsonOf(await ask('GET /livez'))]).toEqual([200, { alive: true }])
  for (const path of ['/readyz', '/readyz/reads']) {
    const answer = await ask(`GET ${path}`)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await jsonOf(answer)).toMatchObject({ ready: true, reasons: [] })
    expect((await ask(`HEAD ${path}`)).status).toBe(200)
  }
})

test('a wall that cannot sell names what keeps it from that, since when and why, and still serves readers', async () => {
  const { ask, outages, clock } = await openWall()
  const reason = 'the database failed: the disk is full (SQLITE_FULL)'
  outages.saw({ kind: 'store-write', name: 'sqlite' }, reason)
  const answer = await ask('GET /readyz')
  expect(answer.status).toBe(503)
  expect(await jsonOf(answer)).toEqual({
    ready: false,
    reasons: [reason],
    dependencies: [
      { kind: 'store-write', name: 'sqlite', state: 'down', reason, since: new Date(clock.now()).toISOString() },
    ],
  })
  expect((await ask('GET /readyz/reads')).status).toBe(200)
  expect(await jsonOf(await ask('GET /api/health'))).toMatchObject({ ok: false, rail: 'armed', railError: reason })
})
