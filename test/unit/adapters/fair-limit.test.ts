import { expect, test } from 'bun:test'
import { createFairLimit } from '../../../server/adapters/pictures/pictures.ts'

// Goal: a sender of a lot of work waits behind its own work. Method: every piece of work ends when the test says so.

/** A limit that records its work in the order in which it starts; `endPiece` ends the current piece. */
function createManualLimit(waitingMax: number) {
  const limit = createFairLimit(waitingMax)
  const begun: string[] = []
  let endPiece = () => {}
  const startPiece = (sender: string, piece: string) =>
    limit(sender, async () => {
      begun.push(piece)
      const { promise, resolve } = Promise.withResolvers<string>()
      endPiece = () => resolve(piece)
      return await promise
    })
  return { startPiece, begun, end: () => endPiece() }
}

test('senders take turns, no matter which of them sent first or most', async () => {
  const { startPiece, begun, end } = createManualLimit(9)
  const sent = [
    startPiece('a', 'a1'),
    startPiece('a', 'a2'),
    startPiece('a', 'a3'),
    startPiece('b', 'b1'),
    startPiece('c', 'c1'),
    startPiece('b', 'b2'),
  ]
  for (const done of [0, 1, 3, 4, 2, 5]) {
    end()
    await sent[done]
  }
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
})

test('if too much work waits, the newest piece of the sender with the most pieces is dropped; in a tie, the arriving piece is dropped', async () => {
  const { startPiece, begun, end } = createManualLimit(3)
  const first = startPiece('a', 'a1')
  const [second, third, fourth] = [startPiece('a', 'a2'), startPiece('a', 'a3'), startPiece('a', 'a4')]
  expect(await startPiece('a', 'a5')).toBe('busy')
  const other = startPiece('b', 'b1')
  expect(await fourth).toBe('busy')
  expect(await startPiece('b', 'b2')).toBe('busy')
  for (const done of [first, second, other, third]) {
    end()
    await done
  }
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
})

test('a piece of work that fails makes room for the next one', async () => {
  const limit = createFairLimit(1)
  const failing = limit('a', () => Promise.reject(new Error('no')))
  const next = limit('b', async () => 'done')
  const [failed, done] = await Promise.allSettled([failing, next])
  expect([failed.status, done]).toEqual(['rejected', { status: 'fulfilled', value: 'done' }])
})
