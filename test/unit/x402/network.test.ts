import { expect, test } from 'bun:test'
import { DEFAULT_ASSETS, getDefaultAsset } from '@x402/evm'
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1'
import * as chains from 'viem/chains'
import { MULTICALL } from '../../../server/adapters/chain/endpoints.ts'
import type { Address } from '../../../server/domain/purchase/payment.ts'
import { toCaip2, getChain, isSoldOn, toV1Name, NETWORKS, getToken } from '../../../server/x402/network.ts'
import { isNetwork } from '../../../shared/usdc.ts'

const ARBITRUM = ['eip155:42161', 'eip155:421614']

test('a network other than Arbitrum is supported if it has Multicall3, and if its default token in the SDK is USDC with six decimals and signed transfers', () => {
  const fit = Object.entries(DEFAULT_ASSETS).filter(([network, [asset]]) => {
    const chain = Object.values(chains).find(({ id }) => id === Number(network.slice('eip155:'.length)))
    // The wall uses the Multicall3 contract to read balances and authorizations at the same block.
    const contracts = { multicall3: undefined, ...chain?.contracts }
    const canRead = contracts.multicall3?.address.toLowerCase() === MULTICALL
    return asset?.symbol === 'USDC' && asset.decimals === 6 && !('assetTransferMethod' in asset) && canRead
  })
  expect(fit.map(([network]) => network).toSorted()).toEqual([...NETWORKS, ...ARBITRUM].toSorted())
})

test.each(ARBITRUM)('%s is still a known network, but no blocks are sold on it', (network) => {
  expect([isNetwork(network), isSoldOn(network)]).toEqual([true, false])
})

test.each(NETWORKS)(
  'the chain of %s has the name and the public endpoint from viem, and the v1 name from the SDK if there is one',
  (network) => {
    const { id, name, publicUrl } = getChain(network)
    const known = Object.values(chains).find((chain) => chain.id === id)
    expect({ name, publicUrl }).toEqual({ name: known?.name ?? '', publicUrl: known?.rpcUrls.default.http[0] ?? '' })
    const older = Object.entries(EVM_NETWORK_CHAIN_ID_MAP).find(([, chainId]) => chainId === id)
    expect(toV1Name(network)).toBe(older?.[0] ?? network)
  },
)

test.each(NETWORKS)('blocks are sold for the dollar token that the SDK uses by default on %s', (network) => {
  const { asset, name, version } = getDefaultAsset(network)
  expect(getToken(network)).toEqual({ address: asset.toLowerCase() as Address, name, version })
})

test.each(['', 'base', 'eip155:4326', 'EIP155:8453', 'eip155:8453 '])('%j is not a supported network', (name) => {
  expect(isNetwork(name)).toBe(false)
})

test('the name of a network must consist of a namespace and a reference', () => {
  expect(toCaip2('eip155:8453')).toBe('eip155:8453')
  expect(() => toCaip2('base')).toThrow(RangeError)
})
