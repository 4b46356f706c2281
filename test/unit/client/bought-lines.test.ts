import { expect, test } from 'bun:test'
import { formatPurchase } from '../../../server/client/cli/buy.ts'

test('a receipt printed by the command line links to the whole artwork, not to one of its blocks', () => {
  const price = { amount: '1.00', asset: 'USDC', network: 'eip155:8453' } as const
  const said = { name: null, framework: null, message: null, link: null }
  const deed = { block: { coord: '6,4', index: 646 }, wallet: '0xada', ...said, painted: true, price }
  const receipt = {
    block: '6,4',
    owner: 'you',
    pixels: 'yours',
    deed: { ...deed, tx: '0xabc', claimedAt: 0, paint: '' },
  } as const
  expect(formatPurchase(receipt, new URL('https://wall.test'))).toEqual([
    'Block 6,4 is yours. Paid 1.00 USDC in 0xabc',
    'See it at https://wall.test/?work=6,4',
  ])
})
