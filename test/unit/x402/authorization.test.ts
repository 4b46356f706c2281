import { expect, test } from 'bun:test'
import { getAddress, hashTypedData, keccak256 } from 'viem/utils'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { AUTHORIZATION_TYPES, authorizationDigest } from '../../../server/x402/authorization.ts'
import { hash, paymentOf, wallet } from '../../support/samples.ts'

const digestOf = authorizationDigest('USD Coin', '2', (hex) => keccak256(`0x${hex}`))

/** What a general encoder makes of a payment. */
const encoded = ({ payer, to, amount, validAfter, validBefore, nonce, accepted }: Payment) =>
  hashTypedData({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: Number(accepted.network.slice('eip155:'.length)),
      verifyingContract: getAddress(accepted.asset),
    },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from: getAddress(payer), to: getAddress(to), value: amount, validAfter, validBefore, nonce },
  })

const payment = paymentOf(1, 1)
const { accepted } = payment

test('what a payer signs is the digest that a general EIP-712 encoder makes, whatever is in the payment', () => {
  const largest = 2n ** 256n - 1n
  const payments: readonly Payment[] = [
    payment,
    { ...payment, payer: wallet(0xffff), to: wallet(0), nonce: hash(0) },
    { ...payment, amount: largest, validAfter: largest, validBefore: largest },
    { ...payment, amount: 0n, validAfter: 0n, validBefore: 0n, nonce: `0x${'ff'.repeat(32)}` },
    { ...payment, accepted: { ...accepted, network: 'eip155:84532' } },
    { ...payment, accepted: { ...accepted, network: 'eip155:1', asset: wallet(7) } },
    payment,
  ]
  expect(payments.map(digestOf)).toEqual(payments.map(encoded))
})

test('a network that is no EVM’s has none', () => {
  for (const network of ['solana:mainnet', 'eip155:', 'eip155:-1', 'eip155:8453 ', `eip155:${'9'.repeat(80)}`, ''])
    expect(digestOf({ ...payment, accepted: { ...accepted, network } })).toBeUndefined()
})
