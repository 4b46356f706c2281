/** Sends requests to a server as fast as it responds, over persistent connections. */

import type { Socket } from 'bun'

/** The result of one load run. */
export type Load = {
  readonly requests: number
  readonly seconds: number
  readonly bytes: number
  readonly latenciesMs: readonly number[] // in order of arrival
  readonly statuses: ReadonlyMap<number, number> // the number of responses per status
}

/**
 * The requests to send, and how long to send them. `getNextRequest` returns the bytes of one request, or nothing if no
 * requests are left.
 */
export type LoadOptions = {
  readonly port: number
  readonly getNextRequest: () => Uint8Array | undefined
  readonly connections: number
  readonly ms: number // after which no more requests are sent
}

/** One request, as bytes. */
export function encodeRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Uint8Array {
  const fields = {
    Host: '127.0.0.1',
    ...headers,
    ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return new TextEncoder().encode(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

/**
 * Sends requests until the time is up or no request is left, and waits for every response. Even if the time is already
 * up, sends one request per connection. Rejects if a connection breaks.
 */
export async function runLoad({ port, getNextRequest, connections, ms }: LoadOptions): Promise<Load> {
  const latenciesMs: number[] = []
  const statuses = new Map<number, number>()
  let bytes = 0
  const startedAt = performance.now()
  let asked = 0
  const takeRequest = () => (asked++ < connections || performance.now() - startedAt < ms ? getNextRequest() : undefined)
  const recordAnswer = (answer: Answer, tookMs: number) => {
    latenciesMs.push(tookMs)
    bytes += answer.length
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  }
  await Promise.all(Array.from({ length: connections }, () => runConnection(port, takeRequest, recordAnswer)))
  return { requests: latenciesMs.length, seconds: (performance.now() - startedAt) / 1000, bytes, latenciesMs, statuses }
}

/** Sends one request, and resolves to the status of its response. */
export async function sendOnce(port: number, request: Uint8Array): Promise<number> {
  const once = [request]
  const { statuses } = await runLoad({ port, getNextRequest: () => once.pop(), connections: 1, ms: 10_000 })
  return [...statuses.keys()][0] ?? 0
}

/** Repeats the same request in every round. */
export const repeatRequest = (request: Uint8Array) => () => () => request

type Answer = { readonly status: number; readonly length: number }

/** Sends requests over one connection, each after the response to the previous one. */
async function runConnection(
  port: number,
  ask: () => Uint8Array | undefined,
  heard: (answer: Answer, tookMs: number) => void,
): Promise<void> {
  const done = Promise.withResolvers<void>()
  let askedAt = 0
  let over = false
  const reader = createResponseParser()
  const sendNext = (socket: Socket<undefined>) => {
    const request = ask()
    if (request === undefined) {
      over = true
      socket.end()
      done.resolve()
      return
    }
    askedAt = performance.now()
    socket.write(request)
  }
  await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: sendNext,
      data(socket, chunk) {
        const answer = reader(chunk)
        if (answer === undefined) return
        heard(answer, performance.now() - askedAt)
        sendNext(socket)
      },
      close: () => (over ? undefined : done.reject(new Error('the server closed a connection'))),
      error: (_, error) => done.reject(error),
    },
  })
  await done.promise
}

const HEAD_END = '\r\n\r\n'

/** Makes a parser that returns each response once it is complete. Supports only responses with a `Content-Length`. */
function createResponseParser(): (chunk: Uint8Array) => Answer | undefined {
  let head = ''
  let answer: Answer | undefined
  let missing = 0
  return (chunk) => {
    let body = chunk.length
    if (answer === undefined) {
      const before = head.length
      head += Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, 16_384)).toString('latin1')
      const end = head.indexOf(HEAD_END)
      if (end < 0) return undefined
      const length = Number(/^content-length: *(\d+)/im.exec(head.slice(0, end))?.[1] ?? 0)
      const status = Number(head.slice(9, 12))
      answer = { status, length: status === 304 ? 0 : length }
      missing = answer.length
      body = before + chunk.length - end - HEAD_END.length
      head = ''
    }
    missing -= body
    if (missing > 0) return undefined
    const whole = answer
    answer = undefined
    return whole
  }
}
