import { expect, test } from 'bun:test'
import type { Outcome } from '../../../server/domain/purchase/purchase.ts'
import { inTime } from '../../../server/http/answer/request-timeout.ts'
import type { Seller } from '../../../server/purchase/seller.ts'
import { paymentOf, SILENT } from '../../support/samples.ts'

const idle = async () => {}

/** A seller that takes until it is told, and remembers the client it serves. */
function slowSeller() {
  const { promise: outcome, resolve: finish } = Promise.withResolvers<Outcome>()
  const clients: (AbortSignal | undefined)[] = []
  const buy: Seller['buy'] = async (...[, , , client]) => {
    clients.push(client)
    return await outcome
  }
  return { seller: { buy, offered: async () => 'open' as const, reconcile: async () => true, idle }, clients, finish }
}

const taken: Outcome = { kind: 'refused', failure: { code: 'block_taken', message: 'sold' } }

test('a buyer who has waited long enough is told to ask again, and counts as one without an answer', async () => {
  const { seller, clients } = slowSeller()
  expect(await inTime(seller, 1).buy('next', paymentOf(1, 1), SILENT)).toMatchObject({
    kind: 'refused',
    failure: { code: 'settlement_unknown', details: { retryAfter: 2 } },
  })
  expect(clients.map((client) => client?.aborted)).toEqual([true])
})

test('a purchase that ends in time is answered as it ends', async () => {
  const { seller, clients, finish } = slowSeller()
  const answer = inTime(seller).buy('next', paymentOf(1, 1), SILENT)
  finish(taken)
  expect(await answer).toEqual(taken)
  expect(clients.map((client) => client?.aborted)).toEqual([false])
})

test('a client that hangs up is still known to have hung up', async () => {
  const { seller, clients, finish } = slowSeller()
  const client = new AbortController()
  const answer = inTime(seller).buy('next', paymentOf(1, 1), SILENT, client.signal)
  client.abort()
  expect(clients.map((known) => known?.aborted)).toEqual([true])
  finish(taken)
  await answer
})
