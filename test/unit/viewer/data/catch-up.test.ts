import { expect, test } from 'bun:test'
import type { ChangeDto } from '../../../../shared/contract/live.ts'
import { coordOf } from '../../../../shared/wall.ts'
import { groupByTime } from '../../../../viewer/data/catch-up.ts'
import { indexOf } from '../../../support/page/sample-wall.ts'

const repaint = (number: number, t: number): ChangeDto => {
  const i = indexOf(number, 0)
  return { number, kind: 'repaint', t, i, coord: coordOf(i) }
}

test('all changes of one time arrive together, in the order of the log', () => {
  const log = [repaint(1, 5), repaint(2, 5), repaint(3, 6), repaint(4, 5)]
  expect(groupByTime(log).map((part) => part.map(({ number }) => number))).toEqual([[1, 2], [3], [4]])
  expect(groupByTime([])).toEqual([])
})
