import { describe, expect, test } from 'bun:test'
import { getOrMake, createLru } from '../../../shared/lru.ts'

describe('a bounded map', () => {
  test('if an entry is added to a full map, the least recently used entry is dropped', () => {
    const numbers = createLru<string, number>(2)
    numbers.set('a', 1)
    numbers.set('b', 2)
    expect(numbers.get('a')).toBe(1)
    numbers.set('c', 3)
    expect([numbers.get('a'), numbers.get('b'), numbers.get('c')]).toEqual([1, undefined, 3])
    numbers.set('a', 4)
    numbers.set('d', 5)
    expect([numbers.get('a'), numbers.get('c'), numbers.get('d')]).toEqual([4, undefined, 5])
  })

  test('a single entry of a bounded map can be deleted, and the whole map can be cleared', () => {
    const numbers = createLru<string, number>(2)
    numbers.set('a', 1)
    numbers.set('b', 2)
    numbers.delete('a')
    expect([numbers.get('a'), numbers.get('b')]).toEqual([undefined, 2])
    numbers.clear()
    expect(numbers.get('b')).toBeUndefined()
  })
})

describe('values made on demand', () => {
  test('a value that is made on demand is made once for all callers, and then cached', async () => {
    const kept = createLru<string, Promise<string>>(2)
    const making = Promise.withResolvers<string>()
    let made = 0
    const getWall = () =>
      getOrMake(kept, 'wall', () => {
        made += 1
        return making.promise
      })
    const asked = [getWall(), getWall()]
    making.resolve('drawn')
    expect([...(await Promise.all(asked)), await getWall()]).toEqual(['drawn', 'drawn', 'drawn'])
    expect(made).toBe(1)
  })

  test('if making a value fails, all waiting callers get the error, and the next caller makes the value again', async () => {
    const kept = createLru<string, Promise<string>>(2)
    const making = Promise.withResolvers<string>()
    const asked = [1, 2].map(() => getOrMake(kept, 'wall', () => making.promise))
    making.reject(new Error('no room'))
    expect(await Promise.allSettled(asked)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    expect(await getOrMake(kept, 'wall', async () => 'drawn')).toBe('drawn')
  })
})
