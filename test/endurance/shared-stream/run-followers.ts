/**
 * A process of clients that follow the shared stream as the page does. Arguments: the URL, the number of followers, and
 * the number of the last change that all followers already know. Prints `following` on a line once each follower has a
 * stream. Then it reads the number of a change from standard input, waits until all followers have received that
 * change, and prints their observations as JSON.
 */

import type { Socket } from 'bun'
import { encodeRequest } from '../../../bench/measure/load.ts'
import { computeMedian, computePercentile } from '../../../bench/measure/pair.ts'
import { type ChangeDto, type LogTail, type Mark, type Reset, SHARED_STREAM } from '../../../shared/contract/live.ts'
import { getOrMake, createLru } from '../../../shared/lru.ts'

/** The observations of all followers of a process. */
export type Seen = {
  /** Milliseconds from the commit of a change to its arrival at a follower. */
  readonly delays: { readonly median: number; readonly p99: number; readonly max: number }
  readonly received: number // changes, counted once per follower
  readonly lost: number // changes that are missing between two received ones
  readonly begun: number // streams
  readonly brokenOff: number // streams that ended without an `end` event
  readonly fromTail: number // changes that a follower took from the tail
}

type Event = ChangeDto | Mark | Reset

type Follower = {
  known: number // number of the newest change that it has
  hasBegun: boolean
  unread: string // the received part of an incomplete chunk
  hasEnded: boolean // whether the stream sent its `end` event
  waiting: ChangeDto[] | undefined // changes that arrive while it reads the tail
}

const [url = '', count = '0', known = '0'] = Bun.argv.slice(2)
const { hostname, port } = new URL(url)

const REQUEST = encodeRequest('GET', SHARED_STREAM)
const SPREAD_MS = 2000
// Connections are opened slowly, because a server's queue of connections to accept is short.
const OPENED_EACH_MS = 2

const followers: Follower[] = []
const delays: number[] = []
const seen = { received: 0, lost: 0, begun: 0, brokenOff: 0, fromTail: 0 }

/** Records a change, unless the follower already has it. */
function recordChange(follower: Follower, { number, t }: ChangeDto, now: number): void {
  const { known } = follower
  if (number <= known) return
  seen.received += 1
  seen.lost += number - known - 1
  follower.known = number
  delays.push(now - t)
}

function startStream(follower: Follower, number: number): void {
  seen.begun += 1
  follower.hasBegun = true
  follower.hasEnded = false
  if (number > follower.known) void catchUp(follower, number)
}

/** Reads the tail until the follower has the change `number`. */
async function catchUp(follower: Follower, number: number): Promise<void> {
  follower.waiting = []
  while (follower.known < number) {
    const { changes } = await readTail()
    const before = seen.received
    for (const change of changes) recordChange(follower, change, Date.now())
    seen.fromTail += seen.received - before
    if (follower.known < number) await Bun.sleep(1000)
  }
  for (const change of follower.waiting) recordChange(follower, change, Date.now())
  follower.waiting = undefined
}

// All followers of this process share one request for the tail, because the test measures the stream.
const tails = createLru<number, Promise<LogTail>>(1)
const readTail = () =>
  getOrMake(tails, Math.floor(Date.now() / 500), async () => {
    const response = await fetch(new URL('/api/tail', url))
    return (await response.json()) as LogTail
  })

// All followers get the same chunks, so each chunk is parsed only once.
const parsed = createLru<string, readonly Event[]>(64)

function parseEvents(chunk: string): readonly Event[] {
  const known = parsed.get(chunk)
  if (known !== undefined) return known
  const events = [...chunk.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Event)
  parsed.set(chunk, events)
  return events
}

function receiveChunk(follower: Follower, chunk: string, now: number): void {
  for (const event of parseEvents(chunk)) {
    if (event.kind === 'start') startStream(follower, event.number)
    else if (event.kind === 'end') follower.hasEnded = true
    else if (event.kind === 'reset') throw new Error('the shared stream sent a reset event')
    else if (follower.waiting !== undefined) follower.waiting.push(event)
    else recordChange(follower, event, now)
  }
}

/** Parses the chunks that have arrived; returns whether the response is complete. */
function parseText(follower: Follower, text: string): boolean {
  const now = Date.now()
  follower.unread += text
  for (;;) {
    const [line, size] = /^(?:HTTP[^]*?\r\n\r\n)?([0-9a-f]+)\r\n/.exec(follower.unread) ?? []
    if (line === undefined || size === undefined) return false
    const length = Number.parseInt(size, 16)
    if (follower.unread.length < line.length + length + 2) return false
    const chunk = follower.unread.slice(line.length, line.length + length)
    follower.unread = follower.unread.slice(line.length + length + 2)
    if (length === 0) return true
    receiveChunk(follower, chunk, now)
  }
}

const handlers = {
  open: (socket: Socket<Follower>) => void socket.write(REQUEST),
  data(socket: Socket<Follower>, bytes: Buffer) {
    const text = bytes.toString('latin1')
    if (/^HTTP\S+ (?!200)/.test(text)) socket.end()
    else if (parseText(socket.data, text)) setTimeout(() => socket.write(REQUEST), Math.random() * SPREAD_MS)
  },
  close({ data }: Socket<Follower>) {
    if (!data.hasEnded) seen.brokenOff += 1
    data.unread = ''
    setTimeout(() => connect(data), Math.random() * SPREAD_MS)
  },
}

const connect = (data: Follower) =>
  void Bun.connect({ hostname, port: Number(port), socket: handlers, data }).catch(() =>
    setTimeout(() => connect(data), Math.random() * SPREAD_MS),
  )

for (let at = 0; at < Number(count); at++) {
  const follower: Follower = {
    known: Number(known),
    hasBegun: false,
    unread: '',
    hasEnded: false,
    waiting: undefined,
  }
  followers.push(follower)
  connect(follower)
  if (at % 10 === 0) await Bun.sleep(OPENED_EACH_MS)
}
while (followers.some(({ hasBegun }) => !hasBegun)) await Bun.sleep(50)
console.log('following')
const last = Number((await Bun.stdin.text()).trim())
while (followers.some((follower) => follower.known < last)) await Bun.sleep(50)
const result: Seen = {
  delays: { median: computeMedian(delays), p99: computePercentile(delays, 0.99), max: computePercentile(delays, 1) },
  ...seen,
}
console.log(JSON.stringify(result))
process.exit(0)
