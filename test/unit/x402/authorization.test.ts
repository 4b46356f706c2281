import { expect, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { getAddress, recoverAddress } from 'viem/utils'
import { createAuthorizationHasher } from '../../../server/x402/authorization.ts'
import { AUTHORIZATION_TYPES, PRIMARY_TYPE } from '../../../shared/usdc.ts'
import { createTestPayment } from '../../support/samples.ts'

const digestOf = createAuthorizationHasher('USD Coin', '2')

const payment = createTestPayment(1, 1)
const { accepted } = payment

test('the digest of a payment is the one that its wallet signs', async () => {
  const wallet = privateKeyToAccount(`0x${'7'.repeat(64)}`)
  const { to, amount, validAfter, validBefore, nonce } = payment
  const signature = await wallet.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: getAddress(accepted.asset) },
    types: AUTHORIZATION_TYPES,
    primaryType: PRIMARY_TYPE,
    message: { from: wallet.address, to, value: amount, validAfter, validBefore, nonce },
  })
  const paid = { ...payment, payer: wallet.address, accepted: { ...accepted, network: 'eip155:8453' } } as const
  const hash = digestOf(paid) ?? '0x'
  expect(await recoverAddress({ hash, signature })).toBe(wallet.address)
})

test('a payment has no digest if its network is not a valid EVM network', () => {
  for (const network of ['solana:mainnet', 'eip155:', 'eip155:-1', 'eip155:8453 ', `eip155:${'9'.repeat(80)}`, ''])
    expect(digestOf({ ...payment, accepted: { ...accepted, network } })).toBeUndefined()
})
