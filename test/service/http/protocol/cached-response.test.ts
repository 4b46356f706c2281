import { describe, expect, test } from 'bun:test'
import { copyOf, held, release } from '../../../../server/http/answer/cached-response.ts'

const MB = 1_000_000

const answerOf = (byte: number) => held(new Response(new Uint8Array(8 * MB).fill(byte)))

const isAll = (byte: number, body: ArrayBuffer) => {
  const bytes = new Uint8Array(body)
  return bytes.length === 8 * MB && bytes.every((one) => one === byte)
}

describe('an answer that is held and released', () => {
  test('gives its memory back at once', () => {
    // Held here, they are out of the collector's reach.
    const answers: Response[] = []
    const body = new Uint8Array(8 * MB).fill(7)
    const before = process.memoryUsage().rss
    for (let made = 0; made < 40; made++) {
      const answer = held(new Response(body))
      answers.push(answer)
      release(answer)
    }
    expect(answers).toHaveLength(40)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB)
  })

  test('leaves its copies whole', async () => {
    const answer = answerOf(7)
    const copies = [copyOf(answer), copyOf(answer)]
    release(answer)
    // They would be laid in the memory that it has given back.
    const others = Array.from({ length: 4 }, () => answerOf(9))
    for (const copy of copies) expect(isAll(7, await copy.arrayBuffer())).toBe(true)
    expect(others).toHaveLength(4)
  })

  test('reaches whole whom it is being sent to', async () => {
    const answer = answerOf(7)
    await using server = Bun.serve({ port: 0, fetch: () => copyOf(answer) })
    const body = await slowly(server.port ?? 0, () => {
      release(answer)
      return Array.from({ length: 4 }, () => answerOf(9))
    })
    expect(isAll(7, body)).toBe(true)
  })
})

/** The body of an answer that is left standing after its first bytes, while something is done. */
async function slowly(port: number, meanwhile: () => unknown): Promise<ArrayBuffer> {
  const chunks: Buffer[] = []
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (opened) => void opened.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'),
      data(reading, chunk) {
        chunks.push(Buffer.from(chunk))
        if (chunks.length === 1) {
          reading.pause()
          begun.resolve()
        }
      },
      close: () => ended.resolve(),
    },
  })
  await begun.promise
  meanwhile()
  socket.resume()
  await ended.promise
  const whole = Buffer.concat(chunks)
  return new Uint8Array(whole.subarray(whole.indexOf('\r\n\r\n') + 4)).buffer
}
