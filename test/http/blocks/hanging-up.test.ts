import { afterAll, expect, test } from 'bun:test'
import type { Outcome } from '../../../server/domain/purchase/purchase.ts'
import { paymentOf } from '../../ports/samples.ts'
import { openWall, paidBy } from '../wall.ts'

// Goal: the seller learns that a client hung up, which only a real connection can show.

const left = Promise.withResolvers<void>()
const begun = Promise.withResolvers<void>()

const wall = await openWall({
  seller: {
    buy: (...[, , , client]) => {
      client?.addEventListener('abort', () => left.resolve())
      begun.resolve()
      return new Promise<Outcome>(() => {})
    },
    offered: async () => 'open',
    reconcile: async () => true,
    idle: async () => {},
  },
})
wall.app.listen({ hostname: '127.0.0.1', port: 0 })

afterAll(async () => {
  await wall.app.server?.stop(true)
  await wall.db.close()
})

test('a client that closes its connection in mid-purchase is known to have left', async () => {
  const client = new AbortController()
  const url = `http://127.0.0.1:${wall.app.server?.port}/blocks/next`
  const asked = fetch(url, { ...paidBy(paymentOf(1, 1)), signal: client.signal })
  await begun.promise
  client.abort()
  await expect(asked).rejects.toThrow()
  await left.promise
})
