import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { limitUnreadData } from '../../../server/adapters/unread-limits.ts'
import { waitUntil } from '../../support/wait.ts'

// Goal: a client that does not read uses little memory, and not for long. Method: a real server, a client that never
// reads, and the counters of the kernel.

const onLinux = test.skipIf(process.platform !== 'linux')

const BODY_BYTES = 8_000_000
const LIMITS = { bufferBytes: 64 * 1024, timeoutMs: 1000 }

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 255,
  fetch: () => new Response(new Uint8Array(BODY_BYTES)),
})
const port = server.port ?? 0
afterAll(() => server.stop(true))

/** The number of sent but unacknowledged bytes, for each connection of the server. */
function readUnacknowledged(): readonly number[] {
  const ours = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/self/net/tcp', 'utf8').split('\n')
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, local, , state]) => local === ours && state !== LISTEN)
    .map(([, , , , queues = '']) => Number.parseInt(queues, 16))
}

const LISTEN = '0A'

/** Connects a client that requests the body and reads none of it. */
function connectIdleReader() {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: wall.test\r\n\r\n'))
  socket.pause()
  socket.on('error', () => {})
  return socket
}

onLinux('the kernel keeps few bytes for a client that does not read, and then resets its connection', async () => {
  limitUnreadData(expect.unreachable, LIMITS)
  const socket = connectIdleReader()
  await waitUntil(() => readUnacknowledged().some((bytes) => bytes > 0))
  expect(Math.max(...readUnacknowledged())).toBeLessThanOrEqual(2 * LIMITS.bufferBytes)
  await waitUntil(() => readUnacknowledged().every((bytes) => bytes === 0))
  socket.destroy()
})

onLinux('a client that reads gets the whole body', async () => {
  limitUnreadData(expect.unreachable, LIMITS)
  const body = await (await fetch(server.url)).arrayBuffer()
  expect(body.byteLength).toBe(BODY_BYTES)
})
