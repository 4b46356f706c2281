import { expect, test } from 'bun:test'
import type { ChangeDto } from '../../../../shared/contract/live.ts'
import { formatCoord } from '../../../../shared/wall.ts'
import { groupByTime } from '../../../../viewer/data/catch-up.ts'
import { requireBlockAt } from '../../../support/page/sample-wall.ts'

const createRepaint = (number: number, t: number): ChangeDto => {
  const i = requireBlockAt(number, 0)
  return { number, kind: 'repaint', t, i, coord: formatCoord(i) }
}

test('consecutive changes with the same time are grouped, in the order of the log', () => {
  const log = [createRepaint(1, 5), createRepaint(2, 5), createRepaint(3, 6), createRepaint(4, 5)]
  expect(groupByTime(log).map((part) => part.map(({ number }) => number))).toEqual([[1, 2], [3], [4]])
  expect(groupByTime([])).toEqual([])
})
