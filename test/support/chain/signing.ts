/** Signed payments as values of the domain, and calls that any account can broadcast. */

import { authorizationTypes } from '@x402/evm'
import { encodeFunctionData, getAddress, parseEther, type Hex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import type { Address, Hash, Payment } from '../../../server/domain/purchase/payment.ts'
import type { ChainClient } from '../../../server/local/chain.ts'
import { dollarAbi, dollarAddress } from '../../../server/local/token/contracts.ts'
import { createWallet, type Wallet } from '../../../server/local/wallets.ts'
import type { Offer } from '../../../server/x402/terms.ts'

/** An address or a hash in lower case, as the domain stores it. */
export const toLowerAddress = (hex: string) => hex.toLowerCase() as Address

/** The offer of a wall on the embedded network: one dollar, paid to a new address. */
export function createOffer(): Offer {
  const terms = {
    network: 'eip155:8453',
    asset: toLowerAddress(dollarAddress),
    payTo: toLowerAddress(createWallet().address),
  }
  return {
    terms: { ...terms, amount: 1_000_000n },
    title: 'Pixel Wall',
    baseUrl: 'https://wall.test',
    assetName: 'USD Coin',
    assetVersion: '2',
  }
}

const domain = { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: dollarAddress }

/** A signed payment for the offer, with a random nonce; fields in `changes` are signed too. */
export async function signOffer(wallet: Wallet, { terms }: Offer, changes: Partial<Payment> = {}): Promise<Payment> {
  const unsigned: Omit<Payment, 'signature'> = {
    payer: toLowerAddress(wallet.address),
    nonce: toLowerAddress(generatePrivateKey()),
    to: terms.payTo,
    amount: terms.amount,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 300),
    accepted: { ...terms, scheme: 'exact' },
    ...changes,
  }
  const signature = await wallet.signTypedData({
    domain,
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: getAddress(unsigned.payer),
      to: getAddress(unsigned.to),
      value: unsigned.amount,
      validAfter: unsigned.validAfter,
      validBefore: unsigned.validBefore,
      nonce: unsigned.nonce,
    },
  })
  return { ...unsigned, signature: changes.signature ?? signature }
}

/** An account that is neither payer nor payee: anyone may broadcast a payment. */
export const STRANGER: Address = '0x00000000000000000000000000000000000057a6'

/** The call that transfers a payment's amount. */
export const encodeTransfer = ({ payer, to, amount, validAfter, validBefore, nonce, signature }: Payment): Hex =>
  encodeFunctionData({
    abi: dollarAbi,
    functionName: 'transferWithAuthorization',
    args: [payer, to, amount, validAfter, validBefore, nonce, signature],
  })

/**
 * Sends a call that must succeed, by default from an unrelated account to the dollar contract; returns the hash of its
 * transaction.
 */
export async function submitCall(client: ChainClient, data: Hex, to = dollarAddress, from = STRANGER): Promise<Hash> {
  await client.setBalance({ address: from, value: parseEther('10') })
  const hash = await client.sendUnsignedTransaction({ from, to, data, gas: 1_000_000n })
  const { status } = await client.waitForTransactionReceipt({ hash })
  if (status !== 'success') throw new Error(`the transaction ${hash} was reverted`)
  return toLowerAddress(hash)
}

const cancelTypes = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** Signs the payer's cancellation of a nonce. */
export const signCancellation = (wallet: Wallet, nonce: Hash) =>
  wallet.signTypedData({
    domain,
    types: cancelTypes,
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  })
