import { expect, test } from 'bun:test'
import { PALETTE } from '../../../../shared/palette.ts'
import { paymentOf } from '../../../support/samples.ts'
import { buy, read } from '../../../support/service/agent.ts'
import { openWall } from '../../../support/service/wall.ts'

test('the wall is told in numbers and colours', async () => {
  const wall = await openWall()
  await buy(wall, { coord: '3,4' }, paymentOf(1, 1))
  const { palette, ...rest } = await read(wall, 'get_wall')
  expect(palette).toEqual(PALETTE)
  expect(rest).toMatchInlineSnapshot(`
    {
      "canvas": {
        "blockSize": 10,
        "cols": 160,
        "height": 900,
        "rows": 90,
        "totalBlocks": 14400,
        "width": 1600,
      },
      "canvasUrl": "https://wall.test/api/canvas",
      "pricing": {
        "asset": "USDC",
        "network": "eip155:8453",
        "perBlock": "1.00",
        "perPixel": "0.01",
      },
      "stats": {
        "agents": 1,
        "claimed": 1,
        "lastClaimedAt": 1800000000000,
        "lastSaleId": 1,
        "remaining": 14399,
      },
    }
  `)
})
