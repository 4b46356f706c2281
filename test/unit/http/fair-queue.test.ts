import { expect, test } from 'bun:test'
import { createFairQueue, type QueueClass } from '../../../server/http/request/fair-queue.ts'

// Goal: a client that sends few requests is served between the requests of a client that sends many. Method: count
// turns of the event loop.

function createQueue() {
  let now = 0
  const waits: [QueueClass, number][] = []
  const queue = createFairQueue(
    () => now,
    (of, ms) => void waits.push([of, ms]),
  )
  const done: string[] = []
  const queueRequest = (name: string, client = 'here') =>
    void queue.waitForTurn(client).then((refusal) => done.push(`${name} ${refusal?.code ?? 'goes'}`))
  const queueRead = (name: string, client = 'here') =>
    void queue.waitForReadTurn(client).then((refusal) => done.push(`${name} ${refusal?.code ?? 'goes'}`))
  const queueNewPayment = (name: string, client = 'here') =>
    void queue.waitForNewPayment(client).then((refusal) => done.push(`${name} ${refusal?.code ?? 'goes'}`))
  const queueKnownPayment = (name: string, client = 'here') =>
    void queue.waitForKnownPayment(client).then(() => done.push(`${name} goes`))
  return {
    done,
    waits,
    queueRequest,
    queueRead,
    queueNewPayment,
    queueKnownPayment,
    passTime: (ms: number) => void (now += ms),
  }
}

const waitForTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

async function waitForTurns(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await waitForTurn()
}

test('one request is served per turn of the event loop, and the first one is served immediately', async () => {
  const { done, queueRequest } = createQueue()
  for (const name of ['a', 'b', 'c']) queueRequest(name)
  await Promise.resolve()
  await Promise.resolve()
  expect(done).toEqual(['a goes'])
  const seen: number[] = []
  while (done.length < 3) {
    await waitForTurn()
    seen.push(done.length)
  }
  expect(seen.every((count, at) => count - (seen[at - 1] ?? 1) <= 1)).toBe(true)
  expect(done).toEqual(['a goes', 'b goes', 'c goes'])
})

test('a client with one request waits for only one queued request of a client with many requests', async () => {
  const { done, queueRequest } = createQueue()
  for (let at = 0; at < 400; at++) queueRequest(`flood ${at}`, 'attacker')
  queueRequest('honest', 'somebody')
  await waitForTurns(5)
  expect(done.slice(0, 3)).toEqual(['flood 0 goes', 'flood 1 goes', 'honest goes'])
})

test('new payments and other requests are served alternately, so that neither kind blocks the other', async () => {
  const { done, queueRequest, queueNewPayment } = createQueue()
  queueRequest('first')
  for (let at = 0; at < 3; at++) queueRequest(`other ${at}`)
  for (let at = 0; at < 5; at++) queueNewPayment(`payment ${at}`)
  await waitForTurns(20)
  expect(done.map((word) => word.split(' ')[0]).join(' ')).toBe(
    'first payment other payment other payment other payment payment',
  )
})

test('while other requests wait, the reads of many clients get only half of the turns that are not for payments', async () => {
  const { done, queueRequest, queueRead, queueNewPayment } = createQueue()
  for (let at = 0; at < 200; at++) queueRead(`read ${at}`, `reader ${at}`)
  for (let at = 0; at < 3; at++) queueRequest(`other ${at}`)
  for (let at = 0; at < 4; at++) queueNewPayment(`payment ${at}`)
  await waitForTurns(20)
  expect(
    done
      .slice(0, 12)
      .map((word) => word.split(' ')[0])
      .join(' '),
  ).toBe('read payment other payment read payment other payment read other read read')
})

test('payments of many clients are never refused, even if many payments wait for a long time', async () => {
  const { done, queueNewPayment, queueKnownPayment, passTime } = createQueue()
  for (let at = 0; at < 600; at++) queueNewPayment(`payment ${at}`, `payer ${at}`)
  for (let at = 0; at < 600; at++) queueKnownPayment(`repeat ${at}`, `payer ${at}`)
  passTime(60_000)
  await waitForTurns(1300)
  expect(done).toHaveLength(1200)
  expect(done.every((word) => word.endsWith('goes'))).toBe(true)
})

test('if one client queues too many new payments, the excess is refused, and the payment of another client waits for only one queued payment', async () => {
  const { done, queueNewPayment } = createQueue()
  for (let at = 0; at < 4132; at++) queueNewPayment(`junk ${at}`, 'attacker')
  queueNewPayment('honest', 'somebody')
  await waitForTurns(4200)
  const served = done.filter((word) => word.endsWith('goes'))
  expect(served.slice(0, 3)).toEqual(['junk 0 goes', 'junk 1 goes', 'honest goes'])
  expect(served).toHaveLength(4098)
  expect(done.filter((word) => word.endsWith('server_busy'))).toHaveLength(35)
})

test('if too many requests wait, the newest request of the client with the most waiting requests is refused', async () => {
  const { done, queueRequest } = createQueue()
  for (let at = 0; at < 513; at++) queueRequest(`flood ${at}`, 'attacker')
  for (let at = 0; at < 40; at++) queueRequest(`honest ${at}`, `client ${at}`)
  await waitForTurns(700)
  const refused = done.filter((word) => word.endsWith('server_busy'))
  expect(refused).toHaveLength(40)
  expect(refused.every((word) => word.startsWith('flood'))).toBe(true)
})

test('a request that has waited for longer than two seconds is refused when its turn comes', async () => {
  const { done, queueRequest, passTime } = createQueue()
  for (let at = 0; at < 3; at++) queueRequest(`${at}`)
  passTime(3000)
  await waitForTurns(3)
  expect(done).toEqual(['0 goes', '1 server_busy', '2 server_busy'])
})

test('a request that arrives at an empty queue is served immediately', async () => {
  const { done, queueRequest } = createQueue()
  queueRequest('a')
  await waitForTurns(5)
  queueRequest('b')
  await Promise.resolve()
  await Promise.resolve()
  expect(done).toEqual(['a goes', 'b goes'])
})

test('the waiting time of each request is reported with its class, even if the request is refused', async () => {
  const { waits, queueRequest, queueNewPayment, passTime } = createQueue()
  queueRequest('a')
  queueNewPayment('b')
  queueRequest('c')
  passTime(2500)
  await waitForTurns(4)
  expect(waits).toEqual([
    ['requests', 0],
    ['payments', 2500],
    ['requests', 2500],
  ])
})
