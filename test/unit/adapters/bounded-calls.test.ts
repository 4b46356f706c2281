import { expect, test } from 'bun:test'
import type { SocketHandler } from 'bun'
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

/** Calls a server that handles its connections like this, and returns the description of the error. */
async function describeFailedCall(scheme: 'http' | 'https', handler: SocketHandler) {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {}, ...handler } })
  const error = await fetch(`${scheme}://127.0.0.1:${server.port}`).catch((thrown: unknown) => thrown)
  server.stop(true)
  return describeConnectionError(error)
}

const CLOSING_AT_ONCE: SocketHandler = { open: (client) => void client.end() }

test.each<[string, SocketHandler]>([
  ['without reading the request', CLOSING_AT_ONCE],
  ['without reading the request, as a server that has stopped does', { open: (client) => client.terminate() }],
  ['after the request', { data: (client) => void client.end() }],
  ['within the response', { data: (client) => void client.end('HTTP/1.1 200 OK\r\nContent-') }],
])('if a server closes its connections %s, this is described as such', async (_, handler) => {
  expect(await describeFailedCall('http', handler)).toBe('closes connections before it has responded')
})

test('a server that closes its connections during the TLS handshake is not described as one without TLS', async () => {
  expect(await describeFailedCall('https', CLOSING_AT_ONCE)).toBe('closes connections before it has responded')
})
