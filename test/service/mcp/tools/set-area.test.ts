import { expect, test } from 'bun:test'
import { NOW, paymentOf } from '../../../support/samples.ts'
import { buy, read } from '../../../support/service/agent.ts'
import { areaEditOf } from '../../../support/service/signed.ts'
import { HOST, openWall } from '../../../support/service/wall.ts'

const AREA = '3,4,2x1'

const PIXELS = Uint8Array.from({ length: 200 }, (_, at) => at)

async function soldWall() {
  const wall = await openWall()
  for (const [at, coord] of ['3,4', '4,4'].entries()) await buy(wall, { coord }, paymentOf(1, at + 1))
  return wall
}

test('an owner repaints an area with one signature', async () => {
  const wall = await soldWall()
  const edit = areaEditOf(1, AREA, { pixels: PIXELS, message: 'ours' })
  for (let times = 0; times < 2; times += 1)
    expect(await read(wall, 'set_area', { area: AREA, ...edit })).toEqual({ updated: true, area: AREA, blocks: 2 })
  for (const coord of ['3,4', '4,4'])
    expect(await read(wall, 'get_block', { coord })).toMatchObject({ deed: { message: 'ours' } })
})

test('what is wrong is told as over HTTP', async () => {
  const wall = await soldWall()
  const refusal = async (change: object) =>
    await read(wall, 'set_area', { area: AREA, ...areaEditOf(2, AREA, { message: 'a' }), ...change })
  expect(await refusal({})).toMatchObject({
    error: 'unauthorized',
    expected: `${HOST}\nset_area v1\narea=${AREA}\nts=${NOW}\npixels_present=0\npixels=\nmessage_present=1\nmessage=a\nlink_present=0\nlink=`,
  })
  expect(await refusal({ area: '3,4' })).toMatchObject({ error: 'invalid_area' })
  expect(await refusal({ area: 3 })).toMatchObject({ error: 'invalid_area' })
  expect(await refusal({ pixels: 'AAAA' })).toMatchObject({ error: 'invalid_pixels' })
  expect(await refusal({ coord: '3,4' })).toMatchObject({ error: 'invalid_body' })
  expect(await refusal({ message: undefined })).toMatchObject({ error: 'empty_update' })
  expect(await refusal({ area: '3,4,3x1' })).toMatchObject({ error: 'no_owner' })
})
