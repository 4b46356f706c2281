import { expect, test } from 'bun:test'
import { packWall } from '../../../../viewer/data/keep-copies.ts'
import { unpackWall } from '../../../../viewer/data/kept-copy.ts'
import { canvas, buildSampleWall } from '../../../support/page/sample-wall.ts'

test('a wall stays the same when it is packed for the browser’s storage and unpacked again', async () => {
  const wall = buildSampleWall(canvas)
  expect(await unpackWall(packWall(wall))).toEqual(wall)
  const empty = buildSampleWall({ ...canvas, agents: [], blocks: [] })
  expect(await unpackWall(packWall(empty))).toEqual(empty)
})
