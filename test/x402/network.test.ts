import { expect, test } from 'bun:test'
import { getDefaultAsset } from '@x402/evm'
import type { Address } from '../../server/domain/payment.ts'
import { asCaip2, isNetwork, tokenOf } from '../../server/x402/network.ts'

test.each(['eip155:8453', 'eip155:84532'] as const)(
  'blocks are sold in the dollar the SDK pays in on %s',
  (network) => {
    const { asset, name, version } = getDefaultAsset(network)
    expect(tokenOf(network)).toEqual({ address: asset.toLowerCase() as Address, name, version })
  },
)

test.each(['', 'base', 'eip155:1', 'EIP155:8453', 'eip155:8453 '])('%j is no network of ours', (name) => {
  expect(isNetwork(name)).toBe(false)
})

test('a network is named by namespace and reference', () => {
  expect(asCaip2('eip155:8453')).toBe('eip155:8453')
  expect(() => asCaip2('base')).toThrow(RangeError)
})
