import { x402Client } from '@x402/core/client'
import { HTTPFacilitatorClient } from '@x402/core/http'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { Address } from 'viem'
import { dollarAddress } from '../../../server/local/token/contracts.ts'
import type { Wallet } from '../../../server/local/wallets.ts'

/** The terms of a seller: one dollar, to `payTo`. */
export function createOneDollarTerms(payTo: Address): PaymentRequirements {
  return {
    scheme: 'exact',
    network: 'eip155:8453',
    asset: dollarAddress,
    amount: '1000000',
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
  }
}

/** Signs a payment like the stock x402 client, including its default spend cap. */
export function signPayment(wallet: Wallet, requirements: PaymentRequirements): Promise<PaymentPayload> {
  const client = new x402Client().register(requirements.network, new ExactEvmScheme(wallet))
  return client.createPaymentPayload({
    x402Version: 2,
    resource: { url: 'http://127.0.0.1/blocks/80,45' },
    accepts: [requirements],
  })
}

/** The stock client for a facilitator; pass a short timeout to notice soon that the facilitator hangs. */
export const createFacilitatorClient = (url: string, timeoutMs = 10_000) =>
  new HTTPFacilitatorClient({ url, timeoutMs })
