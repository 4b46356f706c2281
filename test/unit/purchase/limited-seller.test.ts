import { expect, test } from 'bun:test'
import type { Outcome } from '../../../server/domain/purchase/purchase.ts'
import { createLimitedSeller } from '../../../server/purchase/limited-seller.ts'
import type { Seller } from '../../../server/purchase/seller.ts'
import { unlimited } from '../../support/fakes/limits.ts'
import { createSellerStub } from '../../support/fakes/seller.ts'
import { createTestPayment, SILENT } from '../../support/samples.ts'

/**
 * A limited seller over a stub; the stub finishes a purchase only when `finish` is called, and records the clients that
 * it serves.
 */
function createSlowSeller(timeoutMs?: number) {
  const { promise: outcome, resolve: finish } = Promise.withResolvers<Outcome>()
  const clients: (AbortSignal | undefined)[] = []
  const ended: Outcome[] = []
  const reached = Promise.withResolvers<void>()
  const buy: Seller['buy'] = async (...[, , , client]) => {
    clients.push(client)
    return await outcome
  }
  const sellTo = createLimitedSeller(
    {
      seller: createSellerStub(buy),
      limits: unlimited,
      onEnded(_, end) {
        ended.push(end)
        reached.resolve()
      },
    },
    timeoutMs,
  )
  const sellBlock = (signal = new AbortController().signal) =>
    sellTo({ address: 'here', signal }, { target: 'next', payment: createTestPayment(1, 1), listing: SILENT })
  return { sellBlock, clients, ended, reached: reached.promise, finish }
}

const taken: Outcome = { kind: 'failure', code: 'block_taken', message: 'sold' }

test('a buyer that waited too long is asked to retry, and counts as a client that hung up', async () => {
  const { sellBlock, clients, ended, reached, finish } = createSlowSeller(1)
  expect(await sellBlock()).toMatchObject({
    kind: 'failure',
    code: 'settlement_unknown',
    details: { retryAfter: 2 },
  })
  expect(clients.map((client) => client?.aborted)).toEqual([true])
  expect(ended).toEqual([])
  finish(taken)
  await reached
  expect(ended).toEqual([taken])
})

test('a purchase that ends in time returns its own outcome', async () => {
  const { sellBlock, clients, ended, finish } = createSlowSeller()
  const answer = sellBlock()
  finish(taken)
  expect(await answer).toEqual(taken)
  expect(clients.map((client) => client?.aborted)).toEqual([false])
  expect(ended).toEqual([taken])
})

test('the seller is notified that a client has hung up', async () => {
  const { sellBlock, clients, finish } = createSlowSeller()
  const client = new AbortController()
  const answer = sellBlock(client.signal)
  client.abort()
  finish(taken)
  await answer
  expect(clients.map((known) => known?.aborted)).toEqual([true])
})
