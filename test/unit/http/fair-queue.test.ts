import { expect, test } from 'bun:test'
import { fairQueue } from '../../../server/http/request/fair-queue.ts'

// Goal: whoever asks for little is answered between those who ask for much. Method: rounds of the event loop are counted.

function counted() {
  let now = 0
  const queue = fairQueue(() => now)
  const done: string[] = []
  const ask = (name: string) => void queue.turn().then((refusal) => done.push(`${name} ${refusal?.code ?? 'goes'}`))
  const pay = (name: string) => void queue.paymentTurn().then(() => done.push(`${name} goes`))
  return { queue, done, ask, pay, pass: (ms: number) => void (now += ms) }
}

const round = () => new Promise<void>((resolve) => setImmediate(resolve))

test('one goes in each round, the first at once', async () => {
  const { done, ask } = counted()
  for (const name of ['a', 'b', 'c']) ask(name)
  await Promise.resolve()
  await Promise.resolve()
  expect(done).toEqual(['a goes'])
  const seen: number[] = []
  while (done.length < 3) {
    await round()
    seen.push(done.length)
  }
  expect(seen.every((count, at) => count - (seen[at - 1] ?? 1) <= 1)).toBe(true)
  expect(done).toEqual(['a goes', 'b goes', 'c goes'])
})

test('payments go before all others, and are never refused', async () => {
  const { done, ask, pay } = counted()
  for (let at = 0; at < 600; at++) ask(`read ${at}`)
  for (let at = 0; at < 600; at++) pay(`payment ${at}`)
  while (done.filter((word) => word.startsWith('payment')).length < 600) await round()
  expect(done.filter((word) => word.startsWith('payment') && word.endsWith('goes'))).toHaveLength(600)
  expect(done.filter((word) => word.startsWith('read') && word.endsWith('goes'))).toHaveLength(1)
})

test('what finds too many waiting is refused at once, and what waited too long when its turn comes', async () => {
  const { done, ask, pass } = counted()
  for (let at = 0; at < 514; at++) ask(`${at}`)
  await round()
  expect(done).toContain('513 server_busy')
  pass(3000)
  while (done.length < 514) await round()
  expect(done.filter((word) => word.endsWith('server_busy')).length).toBeGreaterThan(500)
})

test('after a rest the next goes at once again', async () => {
  const { done, ask } = counted()
  ask('a')
  for (let at = 0; at < 5; at++) await round()
  ask('b')
  await Promise.resolve()
  await Promise.resolve()
  expect(done).toEqual(['a goes', 'b goes'])
})
