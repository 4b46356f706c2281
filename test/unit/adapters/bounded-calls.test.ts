import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createBoundedCalls, describeConnectionError } from '../../../server/adapters/bounded-calls.ts'
import { runWhileTimePasses } from '../../support/fakes/timers.ts'

test('eight calls run at the same time, 64 wait, and the next one is rejected', async () => {
  const calls = createBoundedCalls()
  const gate = Promise.withResolvers<void>()
  let [made, running, most] = [0, 0, 0]
  const makeCall = async () => {
    made += 1
    running += 1
    most = Math.max(most, running)
    await gate.promise
    running -= 1
    return 'answer' as const
  }
  const waiting = Array.from({ length: 8 + 63 }, () => calls.make(makeCall))
  // A call starts a moment after it is requested.
  await Promise.resolve()
  expect(calls.areFull()).toBe(false)
  waiting.push(calls.make(makeCall))
  expect(calls.areFull()).toBe(true)
  expect(await calls.make(makeCall)).toBe('busy')
  gate.resolve()
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['answer']))
  expect([made, most]).toEqual([72, 8])
})

test('a call that fails has the result “silent”, like a call that gets no response', async () => {
  expect(await createBoundedCalls().make(() => Promise.reject(new Error('no')))).toBe('silent')
})

test('hanging calls are abandoned after the deadline, and a call that waits behind them is not made', async () => {
  const calls = createBoundedCalls()
  let made = 0
  const hangForever = () => {
    made += 1
    return new Promise<never>(() => {})
  }
  const answers = await runWhileTimePasses(3000, () =>
    Promise.all(Array.from({ length: 9 }, () => calls.make(hangForever))),
  )
  expect(new Set(answers)).toEqual(new Set(['silent']))
  expect(made).toBe(8)
})

/** Calls a server that does this with each connection, and returns the description of the error. */
async function describeFailedCall(scheme: 'http' | 'https', handle: (client: Socket) => void) {
  const server = createServer((client) => handle(client.on('error', () => {})))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const error = await fetch(`${scheme}://127.0.0.1:${address.port}`).catch((thrown: unknown) => thrown)
  server.close()
  return describeConnectionError(error)
}

test.each([
  ['without reading the request', (client: Socket) => client.end()],
  ['without reading the request, as a server that has stopped does', (client: Socket) => client.resetAndDestroy()],
  ['after the request', (client: Socket) => client.once('data', () => client.end())],
  ['within the response', (client: Socket) => client.once('data', () => client.end('HTTP/1.1 200 OK\r\nContent-'))],
] as const)('if a server closes its connections %s, this is described as such', async (_, handle) => {
  expect(await describeFailedCall('http', handle)).toBe('closes connections before it has responded')
})

test('a server that closes its connections during the TLS handshake is not described as one without TLS', async () => {
  expect(await describeFailedCall('https', (client) => client.end())).toBe('closes connections before it has responded')
})
