import { afterAll, expect, test } from 'bun:test'
import type { Outcome } from '../../../../server/domain/purchase/purchase.ts'
import { createSellerStub } from '../../../support/fakes/seller.ts'
import { createTestPayment } from '../../../support/samples.ts'
import { NEGOTIATED, buildStatelessRequest } from '../../../support/service/agent.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import { HOST, openWall, createPaidInit, toPayload } from '../../../support/service/wall.ts'

let [left, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]

const wall = await openWall({
  seller: createSellerStub((...[, , , client]) => {
    client?.addEventListener('abort', () => left.resolve())
    begun.resolve()
    return new Promise<Outcome>(() => {})
  }),
})
wall.app.listen({ hostname: '127.0.0.1', port: 0 })

afterAll(async () => {
  await wall.app.server?.stop(true)
  await wall.db.close()
})

const payment = createTestPayment(1, 1)

const createPost = (body: object, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  ...createBodyInit(body, { host: HOST, accept: 'application/json, text/event-stream', ...headers }),
})

const meta = { 'x402/payment': toPayload(payment) }

/** A paid tool call in the older revisions of MCP, and one in the revision with self-contained requests. */
const createCall = (name: string, args: object) => {
  const params = { name, arguments: args, _meta: meta }
  return createPost({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, NEGOTIATED)
}
const createStatelessCall = (name: string, args: object) => {
  const { message, headers } = buildStatelessRequest('tools/call', { name, arguments: args }, meta)
  return createPost({ jsonrpc: '2.0', id: 1, ...message }, headers)
}

test.each([
  ['a block', '/blocks/next', createPaidInit(payment)],
  ['an area', '/areas', createPost({ at: 'next', w: 2, h: 1 }, createPaidInit(payment).headers)],
  ['a block over MCP', '/mcp', createCall('buy_block', { coord: 'next' })],
  ['an area over MCP', '/mcp', createCall('buy_area', { w: 2, h: 1 })],
  ['a block over stateless MCP', '/mcp', createStatelessCall('buy_block', { coord: 'next' })],
])('the server notices a client that closes its connection while it buys %s', async (_, path, init) => {
  ;[left, begun] = [Promise.withResolvers(), Promise.withResolvers()]
  const client = new AbortController()
  const asked = fetch(`http://127.0.0.1:${wall.app.server?.port}${path}`, { ...init, signal: client.signal })
  await Promise.race([begun.promise, asked.then(async (answer) => Promise.reject(new Error(await answer.text())))])
  client.abort()
  await expect(asked).rejects.toThrow()
  await left.promise
})
