import { expect, test } from 'bun:test'
import { pack } from '../../../../viewer/data/keep-copies.ts'
import { unpack } from '../../../../viewer/data/kept-copy.ts'
import { canvas, wallOf } from '../../../support/page/sample-wall.ts'

test('a wall that was packed for the browser’s storage is unpacked as it was', async () => {
  const wall = wallOf(canvas)
  expect(await unpack(pack(wall))).toEqual(wall)
  const empty = wallOf({ ...canvas, agents: [], blocks: [] })
  expect(await unpack(pack(empty))).toEqual(empty)
})
