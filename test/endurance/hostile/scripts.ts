/** What raw cases do with a socket: bytes as they stand, dripping, hanging up, never ending. */

import type { Stage } from './stage.ts'
import { goodHeader, replaceTokens } from './tokens.ts'
import { bytesOf, chunkOf, converse, type Answer, type Line } from './wire.ts'

/** How a raw case went: its answer, and the payment that has to come true although its buyer was gone. */
export type Played = { readonly answer: Answer; readonly payment?: string }

const DRIP_EVERY_MS = 1000

const CHUNK = chunkOf(new Uint8Array(1024).fill(0x20))

const HEALTH = 'GET /api/health HTTP/1.1\r\nHost: wall.test\r\n'

type Script = (stage: Stage, ...words: string[]) => Promise<Played>

/** Scripts by the token that starts them; the words are what the pattern caught. */
const scripts: readonly (readonly [RegExp, Script])[] = [
  [/^\{\{hex:([0-9a-f]*)\}\}$/i, (stage, digits = '') => say(stage, Uint8Array.fromHex(digits))],
  [/^\{\{raw:([^]*)\}\}$/, (stage, text = '') => say(stage, text)],
  [/^\{\{headers:(\d+)\}\}$/, (stage, count) => say(stage, `${HEALTH}${manyHeaders(Number(count) - 1)}\r\n`)],
  [
    /^\{\{header:([^:]+):(\d+)\}\}$/,
    (stage, name, size) => say(stage, `${HEALTH}${name}: ${'a'.repeat(Number(size))}\r\n\r\n`),
  ],
  [/^\{\{drip(?::header)?\}\}$/, (stage) => drip(stage, `${HEALTH}X-Slow: `)],
  [
    /^\{\{drip:body\}\}$/,
    (stage) => drip(stage, 'PUT /blocks/0,0 HTTP/1.1\r\nHost: wall.test\r\nContent-Length: 1000\r\n\r\n'),
  ],
  [/^\{\{halfclose:(\w+) (\S+?)( paid)?\}\}$/, halfClose],
  [/^\{\{abort(?::.*)?\}\}$/, abort],
]

/** Plays a raw case; bytes without a script are sent as they stand. */
export async function play(stage: Stage, raw: string): Promise<Played> {
  for (const [pattern, script] of scripts) {
    const words = pattern.exec(raw)
    if (words !== null) return await script(stage, ...words.slice(1))
  }
  const text = await replaceTokens(raw, async (token) => {
    if (token === 'host') return stage.host
    if (token === 'open') return stage.open()
    if (token === 'owned' || token === 'claimed') return stage.owned
    if (token === 'pay:ok') return await goodHeader(stage)
    const header = /^header:([^:]+):(\d+)$/.exec(token)
    if (header !== null) return `${header[1]}: ${'a'.repeat(Number(header[2]))}`
    const many = /^headers:(\d+)$/.exec(token)
    if (many !== null) return manyHeaders(Number(many[1])).trimEnd()
    throw new Error(`an unknown token: {{${token}}}`)
  })
  return await say(stage, text)
}

/** Sends a body in chunks for as long as it is listened to. */
export function endlessChunks({ host }: Stage, method: string, target: string): Promise<Answer> {
  return converse(host, async (line) => {
    const head = bytesOf(host, { method, target, headers: {}, body: undefined, chunked: true })
    line.write(head)
    while (!line.ended()) {
      line.write(CHUNK)
      // A sender that never pauses to listen has its line reset before it hears the answer.
      await Bun.sleep(1)
    }
  })
}

const manyHeaders = (count: number) => Array.from({ length: Math.max(0, count) }, (_, at) => `X-${at}: a\r\n`).join('')

async function say({ host }: Stage, bytes: string | Uint8Array): Promise<Played> {
  return { answer: await converse(host, (line) => line.write(bytes)) }
}

/** One byte a second, after a beginning that comes at once. */
async function drip({ host }: Stage, beginning: string): Promise<Played> {
  const answer = await converse(host, async (line: Line) => {
    line.write(beginning)
    while (!line.ended()) {
      await Bun.sleep(DRIP_EVERY_MS)
      if (!line.ended()) line.write('a')
    }
  })
  return { answer }
}

async function halfClose(stage: Stage, method = 'GET', target = '/blocks/next', paid?: string): Promise<Played> {
  const payment = paid === undefined ? undefined : await goodHeader(stage)
  const headers: Record<string, string> = payment === undefined ? {} : { 'payment-signature': payment }
  const bytes = bytesOf(stage.host, { method, target, headers, body: undefined, chunked: false })
  const answer = await converse(stage.host, (line) => {
    line.write(bytes)
    line.finish()
  })
  return payment === undefined ? { answer } : { answer, payment }
}

/** Hangs up while the facilitator is settling. */
async function abort(stage: Stage): Promise<Played> {
  const payment = await goodHeader(stage)
  const { settle } = stage.world.facilitator
  const arrivals = settle.count()
  const request = { method: 'GET', target: '/blocks/next', headers: { 'payment-signature': payment } }
  const answer = await converse(stage.host, async (line) => {
    line.write(bytesOf(stage.host, { ...request, body: undefined, chunked: false }))
    await settle.arrived(arrivals + 1)
    line.drop()
  })
  return { answer, payment }
}
