import { expect, test } from 'bun:test'
import { selectExpiredCopies } from '../../../server/operate/backup.ts'

const GB = 1_000_000_000

const copies = ['wall-1', 'wall-3', 'wall-2', 'wall-4'].map((name) => ({ name, bytes: 3 * GB }))

test.each([
  [
    'the oldest copies are deleted if there are more copies than the allowed number',
    { count: 2, bytes: Infinity },
    ['wall-2', 'wall-1'],
  ],
  [
    'the oldest copy is deleted if the newer copies fill the allowed space',
    { count: Infinity, bytes: 9 * GB },
    ['wall-1'],
  ],
  [
    'the stricter of the limits on number and space decides how many copies are deleted',
    { count: 3, bytes: 7 * GB },
    ['wall-2', 'wall-1'],
  ],
  [
    'the newest copy stays, even if it is larger than the allowed space',
    { count: 1, bytes: GB },
    ['wall-3', 'wall-2', 'wall-1'],
  ],
  ['no copy is deleted while the copies are within both limits', { count: 4, bytes: 12 * GB }, []],
])('%s', (_, limits, expected) => {
  expect(selectExpiredCopies(copies, limits)).toEqual(expected)
})
