import { expect, test } from 'bun:test'
import { afterStartUpCheck } from '../../../server/instances/follow-log.ts'
import { failureOf } from '../../support/engine.ts'

// Goal: nothing that was read of a damaged store is built on. Method: a store that is mended, and one that is refused,
// while something is built.

/** Builds, and counts how often; the first time only once `ready`. */
function builder(ready: Promise<unknown> = Promise.resolve()) {
  let built = 0
  return async () => {
    built++
    if (built === 1) await ready
    return built
  }
}

test('what was built on a whole store is kept', async () => {
  expect(await afterStartUpCheck(Promise.resolve('whole'), builder())).toBe(1)
})

test('what was built before the store was mended is built anew, though it could not be built at all', async () => {
  expect(await afterStartUpCheck(Promise.resolve('mended'), builder())).toBe(2)
  expect(await afterStartUpCheck(Promise.resolve('mended'), builder(Promise.reject(new Error('a gap'))))).toBe(2)
})

test('nothing is built on before the store was looked through', async () => {
  const looked = Promise.withResolvers<'whole'>()
  let isDone = false
  const building = afterStartUpCheck(looked.promise, builder()).then(() => (isDone = true))
  await Bun.sleep(0)
  expect(isDone).toBe(false)
  looked.resolve('whole')
  await building
})

test('a store that is refused says why, whatever came of building on it', async () => {
  const refused = Promise.reject(new Error('the database is damaged'))
  for (const ready of [Promise.resolve(), Promise.reject(new Error('a gap'))])
    expect(String(await failureOf(afterStartUpCheck(refused, builder(ready))))).toContain('the database is damaged')
})

test('a whole store on which nothing can be built says why', async () => {
  const building = afterStartUpCheck(Promise.resolve('whole'), builder(Promise.reject(new Error('a gap'))))
  expect(String(await failureOf(building))).toContain('a gap')
})
