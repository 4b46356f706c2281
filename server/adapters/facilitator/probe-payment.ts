/**
 * A payment for probing a facilitator: validly signed, but for more money than exists, so that it can never be made.
 */

import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { getAddress } from 'viem/utils'
import { AUTHORIZATION_TYPES, PRIMARY_TYPE } from '../../../shared/usdc.ts'
import { toLowerAddress, MAX_TIMEOUT_SECONDS, type Payment } from '../../domain/purchase/payment.ts'
import { createDomain } from '../../x402/authorization.ts'
import type { Offer } from '../../x402/terms.ts'

// A billion billion dollars. Some facilitators cannot parse larger amounts.
const AMOUNT = 10n ** 24n

/** Makes a probe payment, signed with a key that is then discarded. */
export async function createProbePayment(offer: Offer): Promise<Payment> {
  const { terms } = offer
  const account = privateKeyToAccount(generatePrivateKey())
  const authorization = {
    nonce: generatePrivateKey(),
    to: terms.payTo,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + MAX_TIMEOUT_SECONDS),
  }
  const signature = await account.signTypedData({
    domain: createDomain(offer),
    types: AUTHORIZATION_TYPES,
    primaryType: PRIMARY_TYPE,
    message: { ...authorization, from: account.address, to: getAddress(terms.payTo), value: AMOUNT },
  })
  return {
    ...authorization,
    // viem writes addresses with their checksums.
    payer: toLowerAddress(account.address),
    amount: AMOUNT,
    signature,
    accepted: { ...terms, amount: AMOUNT, scheme: 'exact' },
  }
}
