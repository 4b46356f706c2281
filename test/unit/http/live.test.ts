import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../../server/adapters/clock.ts'
import type { Change } from '../../../server/domain/wall/log.ts'
import { createLiveStream, type Live } from '../../../server/http/live.ts'
import type { Clock } from '../../../server/ports.ts'
import { BARE, parseBlockOrThrow, createIdentityChange, NOBODY, NOW, createTestSale } from '../../support/samples.ts'

/** An in-memory log and its live stream; `everyMs` is the shortest time between two batches of events. */
function createLoggedStream(everyMs = 0, clock: Clock = systemClock) {
  const changes: Change[] = []
  const reads: number[] = []
  const log = {
    readAfter: async (after: number, limit: number) => {
      reads.push(after)
      return changes.slice(after, after + limit)
    },
    readCompacted: async () => changes,
  }
  // The number of changes that another process has made and this process has not read yet.
  const others = { unseen: 0 }
  const advance = async () => void (others.unseen = 0)
  const readNumber = () => changes.length - others.unseen
  // The canvas read is three changes behind the view.
  const readCanvasNumber = () => Math.max(0, readNumber() - 3)
  const openStream = () =>
    createLiveStream({ log, clock, readNumber, readCanvasNumber, applyNewEntries: advance, everyMs })
  return { changes, reads, others, stream: openStream(), openStream }
}

const createIdentity = (number: number) => createIdentityChange(number, { ...NOBODY, name: `name ${number}` })

/** Adds a change to the log, and announces it to the stream. */
function addChange(
  { changes, stream }: { changes: Change[]; stream: Live },
  change = createIdentity(changes.length + 1),
): void {
  changes.push(change)
  stream.announceChange(change)
}

const HIDDEN = { pixels: false, message: true, link: false }

const LIVE = 'http://wall.test/api/live'

/** Returns the ids of the events that a client has received once there are `count` of them. */
async function readIds(stream: Live, count: number, lastEventId?: number, url = LIVE): Promise<number[]> {
  const text = await readText(stream, (read) => read.split('\nevent: ').length > count, lastEventId, url)
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
}

async function readText(
  stream: Live,
  enough: (text: string) => boolean,
  lastEventId?: number,
  url = LIVE,
): Promise<string> {
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId.toString() }
  const response = await stream.answer(new Request(url, { headers }), '')
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  let text = ''
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (enough(text)) break
  }
  return text
}

test('a sale is sent to clients with its number, block and agent', async () => {
  const world = createLoggedStream()
  const reading = readText(world.stream, (text) => text.includes('data'))
  const content = { ...BARE, message: 'two\nlines never happen' }
  addChange(world, createTestSale(1, parseBlockOrThrow('3,4'), { profile: { ...NOBODY, name: 'Ada' }, content }))
  const data = /data: (.*)\n\n/.exec(await reading)?.[1] ?? ''
  expect(JSON.parse(data)).toMatchObject({
    number: 1,
    kind: 'sale',
    seq: 1,
    coord: '3,4',
    agent: { id: 1, name: 'Ada' },
  })
})

test('once the message of a block is hidden, no event contains the message, not even the repaint that added it', async () => {
  const world = createLoggedStream()
  const block = parseBlockOrThrow('3,4')
  const [content, bare] = [
    { pixels: null, message: 'bad word', link: 'https://ada.example/' },
    { pixels: null, message: null, link: 'https://ada.example/' },
  ]
  addChange(world, { number: 1, at: NOW, kind: 'repaint', block, content })
  addChange(world, { number: 2, at: NOW, kind: 'hide', block, hidden: HIDDEN, content: bare })
  const text = await readText(world.stream, (read) => read.includes('id: 2\n'), 0)
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
  expect(events).toMatchObject([
    { number: 1, kind: 'repaint', l: 'https://ada.example/' },
    { number: 2, kind: 'repaint', l: 'https://ada.example/' },
  ])
  expect(text).not.toContain('bad word')
})

test('a client that sends no log number receives only new changes', async () => {
  const world = createLoggedStream()
  for (let n = 0; n < 3; n++) addChange(world)
  const reading = readIds(world.stream, 1)
  addChange(world)
  expect(await reading).toEqual([4])
})

test('a client that reconnects misses no event and gets none twice, whether the events come from memory or from the log', async () => {
  const world = createLoggedStream()
  for (let n = 0; n < 1200; n++) addChange(world)
  const restarted = { ...world, stream: world.openStream() }
  for (let n = 0; n < 5; n++) addChange(restarted)
  for (const from of [205, 300, 999, 1199, 1203]) {
    const missed = Array.from({ length: 1205 - from }, (_, at) => from + at + 1)
    expect(await readIds(restarted.stream, missed.length, from)).toEqual(missed)
  }
  const reading = readIds(restarted.stream, 2, 1204)
  addChange(restarted)
  expect(await reading).toEqual([1205, 1206])
})

test('a client gets the changes after the number in the after parameter, or after its Last-Event-ID if it sends one', async () => {
  const world = createLoggedStream()
  for (let n = 0; n < 5; n++) addChange(world)
  const url = 'http://wall.test/api/live?after=2'
  expect(await readIds(world.stream, 3, undefined, url)).toEqual([3, 4, 5])
  expect(await readIds(world.stream, 1, 4, url)).toEqual([5])
  const refused = await world.stream.answer(new Request('http://wall.test/api/live?after=-1'), '')
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_after' }])
})

test('several changes within one sending interval are sent to a client together', async () => {
  const world = createLoggedStream(20)
  const response = await world.stream.answer(new Request(LIVE), '')
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader()
  await reader.read()
  const next = reader.read()
  for (let n = 0; n < 50; n++) addChange(world)
  const { value } = await next
  expect(new TextDecoder().decode(value).match(/^id: /gm)).toHaveLength(50)
  await reader.cancel()
})

test('a client that stops reading is disconnected, and catches up when it reconnects', async () => {
  const world = createLoggedStream()
  const response = await world.stream.answer(new Request(LIVE), '')
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader()
  await reader.read()
  for (let batch = 0; batch < 9; batch++) {
    for (let n = 0; n < 200; n++) addChange(world)
    await Bun.sleep(1)
  }
  let text = ''
  for (let step = await reader.read(); !step.done; step = await reader.read())
    text += new TextDecoder().decode(step.value)
  const kept = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  const last = kept.at(-1) ?? 0
  expect(last).toBeLessThan(1800)
  const rest = await readIds(world.stream, 1800 - last, last)
  expect([...kept, ...rest]).toEqual(Array.from({ length: 1800 }, (_, at) => at + 1))
})

test('a client that was connected to a process further ahead in the log gets the changes after the last one that it received', async () => {
  const { changes, others, openStream } = createLoggedStream()
  for (let n = 1; n <= 5; n++) changes.push(createIdentity(n))
  others.unseen = 3
  expect(await readIds(openStream(), 1, 4)).toEqual([5])
})

test('a Last-Event-ID that is not a non-negative integer is rejected', async () => {
  const world = createLoggedStream()
  for (const id of ['-1', 'x', '1e3', '0x1']) {
    const response = await world.stream.answer(new Request(LIVE, { headers: { 'last-event-id': id } }), '')
    expect([id, response.status, await response.json()]).toMatchObject([id, 400, { error: 'invalid_after' }])
  }
})

test('a client over a thousand changes behind the log, or ahead of it, gets a reset with the log number of the canvas, and then the later changes', async () => {
  const world = createLoggedStream()
  for (let n = 0; n < 1500; n++) addChange(world)
  const reset = 'id: 1497\nevent: reset\ndata: {"number":1497,"kind":"reset"}\n\n'
  for (const from of [0, 499, 1501, 9_000_000]) {
    const text = await readText(world.stream, (read) => read.includes('id: 1500'), from)
    expect(text).toStartWith(`retry: 2000\n\n${reset}id: 1498\n`)
    expect(text.match(/^id: /gm)).toHaveLength(4)
  }
  expect(await readIds(world.stream, 1000, 500)).toEqual(Array.from({ length: 1000 }, (_, at) => 501 + at))
})

test('clients that reconnect at the same time share the log reads for the changes that they missed', async () => {
  const world = createLoggedStream()
  for (let n = 0; n < 900; n++) addChange(world)
  const restarted = { ...world, stream: world.openStream() }
  world.reads.length = 0
  const all = Array.from({ length: 40 }, (_, at) => readIds(restarted.stream, 900 - at, at))
  for (const [at, ids] of (await Promise.all(all)).entries())
    expect(ids).toEqual(Array.from({ length: 900 - at }, (_, i) => at + i + 1))
  // There are nine chunks: the first is read from each of forty positions, and each of the other eight is read once for
  // all clients.
  expect(world.reads.length).toBe(40 + 8)
})

test('closing the live stream ends every open stream, and new requests get a 503', async () => {
  const world = createLoggedStream()
  const response = await world.stream.answer(new Request(LIVE), '')
  const ended = response.text()
  await Bun.sleep(0)
  world.stream.close()
  expect(await ended).toBe('retry: 2000\n\n')
  expect((await world.stream.answer(new Request(LIVE), '')).status).toBe(503)
})

describe('a stream that a cache shares', () => {
  const requestShared = ({ stream }: { stream: Live }) => stream.answerShared(new Request(`${LIVE}/shared`), '')

  /** Returns the text of a response once it contains `count` events. */
  async function readFirstEvents(response: Response, count: number): Promise<string> {
    let text = ''
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text.split('event: ').length > count) break
    }
    return text
  }

  const readOutcome = (response: Response) =>
    response.text().then(
      () => 'ended',
      () => 'broken off',
    )

  const renderStart = (number: number) => `retry: 2000\n\nevent: start\ndata: {"kind":"start","number":${number}}\n\n`

  const profile = { ...NOBODY, name: 'hidden name' }
  const createChange = (number: number): Change => createIdentityChange(number, NOBODY, Date.now())

  test('a shared stream begins with the changes of the last five seconds, and a cache may serve it for 40 of its 55 seconds', async () => {
    const world = createLoggedStream()
    for (let n = 1; n <= 3; n++) addChange(world, createIdentityChange(n, NOBODY, 0))
    addChange(world, createChange(4))
    const response = await requestShared(world)
    expect(response.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=40')
    const reading = readFirstEvents(response, 3)
    addChange(world, createChange(5))
    const text = await reading
    expect(text).toStartWith(`${renderStart(3)}id: 4\n`)
    expect(text).toContain('id: 5\n')
  })

  test('a shared stream begins with at most a hundred changes', async () => {
    const world = createLoggedStream()
    for (let n = 1; n <= 1500; n++) addChange(world, createChange(n))
    const text = await readFirstEvents(await requestShared(world), 101)
    expect(text).toStartWith(`${renderStart(1400)}id: 1401\n`)
  })

  test('after its 55 seconds, a shared stream ends with the number of the last change that it sent', async () => {
    const over = Promise.withResolvers<void>()
    const wait: Clock['wait'] = (ms, signal) => (ms === 55_000 ? over.promise : systemClock.wait(ms, signal))
    const world = createLoggedStream(1000, { ...systemClock, wait })
    addChange(world)
    const response = await requestShared(world)
    const reading = response.text()
    await Bun.sleep(0)
    addChange(world)
    over.resolve()
    expect(await reading).toMatch(/^id: 2\nevent: identity\n.*\n\nevent: end\ndata: \{"kind":"end","number":2\}\n\n$/m)
  })

  test('if a cache leaves too much of a shared stream unread, the stream is aborted even when its time is over, so that the cache stores nothing', async () => {
    const over = Promise.withResolvers<void>()
    const wait: Clock['wait'] = (ms, signal) => (ms === 55_000 ? over.promise : systemClock.wait(ms, signal))
    const world = createLoggedStream(0, { ...systemClock, wait })
    const { body } = await requestShared(world)
    const reader = (body ?? new ReadableStream<Uint8Array>()).getReader()
    await reader.read()
    await reader.read()
    await Bun.sleep(0)
    for (let n = 1; n <= 2000; n++) addChange(world)
    await Bun.sleep(5)
    over.resolve()
    await Bun.sleep(0)
    const readAll = async () => {
      while (!(await reader.read()).done);
    }
    expect(
      await readAll().then(
        () => 'ended',
        () => 'broken off',
      ),
    ).toBe('broken off')
  })

  test('an address that requests 300 shared streams at the same time gets only 256 of them', async () => {
    const world = createLoggedStream()
    const responses = await Promise.all(Array.from({ length: 300 }, () => requestShared(world)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(256)
    for (const { body } of responses) await body?.cancel()
  })

  test.each([
    [
      'the message of a block',
      { kind: 'hide', block: parseBlockOrThrow('3,4'), hidden: HIDDEN, content: { ...BARE, message: null } },
    ],
    ['an agent’s name', { kind: 'identity', agent: 1, profile: NOBODY, withheld: { name: true, framework: false } }],
  ] as const)(
    'if %s is hidden, a shared stream is aborted immediately, and the next one does not contain the hidden text',
    async (_, act) => {
      const world = createLoggedStream()
      const content = { ...BARE, message: 'hidden word' }
      addChange(world, { ...createTestSale(1, parseBlockOrThrow('3,4'), { profile, content }), at: Date.now() })
      const response = await requestShared(world)
      const reading = readOutcome(response)
      await Bun.sleep(0)
      addChange(world, { number: 2, at: Date.now(), ...act })
      expect(await reading).toBe('broken off')
      const next = await readFirstEvents(await requestShared(world), 3)
      expect(next).toStartWith(`${renderStart(0)}id: 1\n`)
      expect(next).not.toContain(act.kind === 'hide' ? 'hidden word' : 'hidden name')
    },
  )

  test('if the process shuts down, a shared stream is aborted so that no cache stores it, and new requests are refused', async () => {
    const world = createLoggedStream()
    const reading = readOutcome(await requestShared(world))
    await Bun.sleep(0)
    world.stream.close()
    expect(await reading).toBe('broken off')
    expect((await requestShared(world)).status).toBe(503)
  })
})
