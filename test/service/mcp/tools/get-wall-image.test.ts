import { expect, test } from 'bun:test'
import { callTool, pictureSize, read } from '../../../support/service/agent.ts'
import { openWall } from '../../../support/service/wall.ts'

// For what changes nothing.
const untouched = openWall()

test('without arguments the whole wall is shown', async () => {
  const answer = await callTool(await untouched, 'get_wall_image')
  expect(answer.structuredContent).toEqual({
    region: { col: 0, row: 0, cols: 160, rows: 90 },
    scale: 1,
    width: 1600,
    height: 900,
  })
  expect(answer.content.map(({ type }) => type)).toEqual(['text', 'image'])
  expect(pictureSize(answer)).toEqual([1600, 900])
})

test('a region is shown enlarged', async () => {
  const answer = await callTool(await untouched, 'get_wall_image', { col: 150, row: 80, cols: 2, rows: 3, scale: 8 })
  expect(answer.structuredContent).toMatchObject({ width: 160, height: 240 })
  expect(pictureSize(answer)).toEqual([160, 240])
})

test.each([
  { col: 160 },
  { row: -1 },
  { col: 150, cols: 11 },
  { rows: 91 },
  { scale: 0 },
  { scale: 2 },
  { scale: 17, cols: 1, rows: 1 },
])('there is no picture of %j', async (args) => {
  expect(await read(await untouched, 'get_wall_image', args)).toMatchObject({ error: 'invalid_region' })
})
