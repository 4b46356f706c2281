import { afterAll, expect, test } from 'bun:test'
import { openWall } from '../../../support/service/wall.ts'

const told: string[] = []
const wall = await openWall({
  meter: (route, status, tookMs) => {
    expect(tookMs).toBeGreaterThanOrEqual(0)
    told.push(`${route} ${status}`)
  },
})
wall.app.listen({ hostname: '127.0.0.1', port: 0 })

afterAll(async () => {
  await wall.app.server?.stop(true)
  await wall.db.close()
})

test.each([
  ['/api/canvas', '/api/canvas 200'],
  ['/blocks/1,1', '/blocks/:name 402'],
  ['/blocks/next', '/blocks/:name 402'],
  ['/api/health', '/api/health 200'],
  ['/api/history?after=x', '/api/history 400'],
  ['/nothing', '/* 404'],
])('what is asked of %s is told once, as %s', async (path, line) => {
  told.length = 0
  await (await fetch(`http://127.0.0.1:${wall.app.server?.port}${path}`)).body?.cancel()
  // It is told after the answer went out.
  while (told.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(told).toEqual([line])
})
