import { afterAll, expect, test } from 'bun:test'
import { computeSignature, openWebhook } from '../../../server/adapters/webhook.ts'
import type { Notice } from '../../../server/operator-ports.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { NOW } from '../../support/samples.ts'

// Goal: a receiver that follows Standard Webhooks can verify a notice, and only a success response counts as a
// delivery. Method: the example of Standard Webhooks, and a real server with the response that each test needs.

const key = new Uint8Array(Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64'))
const notice: Notice = { id: 'log-7-1', type: 'sale', at: NOW, data: { number: 7, place: '80,45' } }
const never = new AbortController().signal

let answer: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 204 })
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => answer(request) })
afterAll(() => server.stop(true))
const openReceiver = (url = server.url.href) => openWebhook({ url, key }, createFakeClock(NOW))

test('the signature matches the example of Standard Webhooks', () => {
  expect(computeSignature(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}')).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

test('a notice is sent as JSON, and its headers contain its ID, its time and a signature of the sent bytes', async () => {
  const seen = Promise.withResolvers<[Headers, string]>()
  answer = async (request) => {
    seen.resolve([request.headers, await request.text()])
    return new Response('thanks', { status: 202 })
  }
  const { host, send } = openReceiver(server.url.href.replace('://', '://ops:hush@'))
  expect([host, await send(notice, never)]).toEqual([server.url.host, null])
  const [headers, body] = await seen.promise
  expect(JSON.parse(body)).toEqual({ type: 'sale', timestamp: new Date(NOW).toISOString(), data: notice.data })
  expect(headers.get('webhook-id')).toBe('log-7-1')
  expect(headers.get('webhook-timestamp')).toBe(String(NOW / 1000))
  expect(headers.get('webhook-signature')).toBe(computeSignature(key, 'log-7-1', NOW / 1000, body))
  expect(headers.get('authorization')).toBe(`Basic ${btoa('ops:hush')}`)
})

test.each([
  ['an error response', () => new Response('secret', { status: 500 }), 'it returned status 500'],
  ['a redirect', () => Response.redirect('http://127.0.0.1:1/', 302), 'it returned status 302'],
])('%s does not count as a delivery', async (_, response, trouble) => {
  answer = response
  expect(await openReceiver().send(notice, never)).toBe(trouble)
})

test('a receiver that cannot be reached is reported as unreachable', async () => {
  expect(await openReceiver('http://127.0.0.1:1/').send(notice, never)).toBe('cannot be reached')
})

test('a delivery to a hanging receiver is aborted when the wall stops', async () => {
  const hanging = Promise.withResolvers<Response>()
  const stopping = new AbortController()
  answer = () => {
    stopping.abort()
    return hanging.promise
  }
  expect(await openReceiver().send(notice, stopping.signal)).toBe('it did not respond in time')
  hanging.resolve(new Response())
})
