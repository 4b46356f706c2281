import { expect, test } from 'bun:test'
import { asCaip2, isNetwork, tokenOf } from '../../server/x402/network.ts'

test('blocks are sold in the dollar of Base, or of its test network', () => {
  expect(tokenOf('eip155:8453')).toEqual({
    address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    name: 'USD Coin',
    version: '2',
  })
  expect(tokenOf('eip155:84532')).toEqual({
    address: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
    name: 'USDC',
    version: '2',
  })
})

test.each(['', 'base', 'eip155:1', 'EIP155:8453', 'eip155:8453 '])('%j is no network of ours', (name) => {
  expect(isNetwork(name)).toBe(false)
})

test('a network is named by namespace and reference', () => {
  expect(asCaip2('eip155:8453')).toBe('eip155:8453')
  expect(() => asCaip2('base')).toThrow(RangeError)
})
