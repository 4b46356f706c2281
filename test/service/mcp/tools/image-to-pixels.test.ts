import { expect, test } from 'bun:test'
import { callTool, pictureSize, read } from '../../../support/service/agent.ts'
import { openWall } from '../../../support/service/wall.ts'

const RED = Buffer.alloc(300, Buffer.from([255, 0, 0])).toString('base64')

// For what changes nothing.
const untouched = openWall()

test('a raw picture becomes what buying and repainting take, with a picture of the result', async () => {
  const answer = await callTool(await untouched, 'image_to_pixels', { image: RED, width: 10, height: 10 })
  expect(answer.structuredContent).toEqual({ w: 1, h: 1, blocks: [{ dx: 0, dy: 0, px: 'b4'.repeat(100) }] })
  expect(pictureSize(answer)).toEqual([10, 10])
})

test('a PNG is read too, as a data URL and over several blocks', async () => {
  const wall = await untouched
  const { content } = await callTool(wall, 'image_to_pixels', { image: RED, width: 10, height: 10 })
  const image = `data:image/png;base64,${content[1]?.data}`
  const { blocks } = await read(wall, 'image_to_pixels', { image, w: 2, h: 1, dither: 'floyd-steinberg', fit: 'fill' })
  expect(blocks).toEqual([0, 1].map((dx) => ({ dx, dy: 0, px: 'b4'.repeat(100) })))
})

test.each([
  ['no picture', {}, 'invalid_image'],
  ['no base64', { image: '%%' }, 'invalid_image'],
  ['bare pixels of no size', { image: RED }, 'invalid_image'],
  ['bare pixels of another size', { image: RED, width: 11, height: 10 }, 'invalid_image'],
  ['over 44 KiB', { image: Buffer.alloc(45_057).toString('base64') }, 'invalid_image'],
  ['more than 64 blocks', { image: RED, w: 9, h: 8 }, 'invalid_size'],
  ['no width', { image: RED, w: 0 }, 'invalid_size'],
  ['an unknown dither', { image: RED, dither: 'yes' }, 'invalid_option'],
  ['an unknown fit', { image: RED, fit: 'yes' }, 'invalid_option'],
  ['a background that is no colour', { image: RED, background: 'red' }, 'invalid_option'],
])('%s is refused', async (_, args, error) => {
  expect(await read(await untouched, 'image_to_pixels', args)).toMatchObject({ error })
})
