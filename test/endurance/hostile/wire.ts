/** HTTP/1.1 over a plain socket, so that a test can send any bytes, even invalid ones. */

import { connect } from 'node:net'

/** A response; its status is 0 if none came. */
export type Answer = { readonly status: number; readonly headers: Headers; readonly body: string }

/** A request in parts. */
export type WireRequest = {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
  readonly chunked: boolean
}

const TIMEOUT_MS = 30_000

const NO_ANSWER = { status: 0, headers: new Headers(), body: '' }

/** Sends bytes, and returns the first response, or status 0 if none came in time. */
export function exchangeBytes(
  host: string,
  bytes: string | Uint8Array,
  { isHead = false, timeoutMs = TIMEOUT_MS }: { isHead?: boolean; timeoutMs?: number } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(`http://${host}`)
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => socket.write(bytes))
  let got = Buffer.alloc(0)
  const finish = (answer: Answer) => {
    clearTimeout(timer)
    socket.destroy()
    resolve(answer)
  }
  const timer = setTimeout(() => finish(NO_ANSWER), timeoutMs)
  socket.on('data', (more: Uint8Array) => {
    got = Buffer.concat([got, more])
    const answer = parseAnswer(got, isHead, false)
    if (answer !== undefined) finish(answer)
  })
  const onHangUp = () => finish(parseAnswer(got, isHead, true) ?? NO_ANSWER)
  socket.on('end', onHangUp)
  socket.on('close', onHangUp)
  socket.on('error', onHangUp)
  return promise
}

/** A request as bytes, with a Host header added if it has none. */
export function encodeWireRequest(host: string, { method, target, headers, body, chunked }: WireRequest): Uint8Array {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const lines = [`${method} ${target} HTTP/1.1`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  if (!names.includes('host')) lines.push(`Host: ${host}`)
  if (chunked) lines.push('Transfer-Encoding: chunked')
  else if (body !== undefined) lines.push(`Content-Length: ${body.byteLength}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  if (body === undefined) return head
  return Buffer.concat(chunked ? [head, encodeChunk(body), Buffer.from('0\r\n\r\n')] : [head, body])
}

const encodeChunk = (body: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(`${body.byteLength.toString(16)}\r\n`), body, Buffer.from('\r\n')])

/** The first response in `got`; `undefined` while it is incomplete. */
function parseAnswer(got: Buffer, isHead: boolean, atEnd: boolean): Answer | undefined {
  const split = got.indexOf('\r\n\r\n')
  if (split < 0) return undefined
  const [line = '', ...fields] = got.subarray(0, split).toString('latin1').split('\r\n')
  const status = Number(line.split(' ')[1])
  const headers = new Headers()
  for (const field of fields) headers.append(field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1))
  const rest = got.subarray(split + 4)
  if (isHead || status === 204 || status === 304) return { status, headers, body: '' }
  const body = headers.get('transfer-encoding') === 'chunked' ? decodeChunks(rest) : cutBodyToSize(rest, headers, atEnd)
  return body === undefined ? undefined : { status, headers, body: body.toString() }
}

function cutBodyToSize(rest: Buffer, headers: Headers, atEnd: boolean): Buffer | undefined {
  const length = headers.get('content-length')
  if (length === null || atEnd) return atEnd ? rest : undefined
  return rest.byteLength >= Number(length) ? rest.subarray(0, Number(length)) : undefined
}

function decodeChunks(rest: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString(), 16)
    if (size === 0) return Buffer.concat(parts)
    if (rest.byteLength < lineEnd + 2 + size) return undefined
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}
