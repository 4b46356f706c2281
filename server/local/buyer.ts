/** A buyer: the stock x402 client, made to ask again with the same signature when the wall says to wait. */

import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { Account } from 'viem/accounts'

type SigningAccount = Account & ConstructorParameters<typeof ExactEvmScheme>[0]

/** How a buyer behaves. */
export type BuyerOptions = {
  readonly maxDollars?: string // most to sign for one payment, such as "1.00"; the stock client's own cap is one dollar
  readonly onWait?: (status: number) => void // told each time the same signed request is about to be sent again
}

const TRIES_MAX = 30
const WAIT_SECONDS = 2
const WAIT_MAX_SECONDS = 30

/** A `fetch` that pays for what it is asked to pay for. One call signs at most one payment. */
export function buyer(account: SigningAccount, { maxDollars, onWait }: BuyerOptions = {}) {
  const client = new x402Client()
  client.register('eip155:*', new ExactEvmScheme(account))
  if (maxDollars !== undefined) client.setSpendControls({ maxAmountPerPayment: `$${maxDollars}` })
  return wrapFetchWithPayment(Object.assign(persistent(onWait), { preconnect: fetch.preconnect }), client)
}

/** Sends a signed request again, as it is, while its outcome is unknown: a new signature could pay a second time. */
function persistent(onWait: BuyerOptions['onWait']) {
  return async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { url, method, headers } = input instanceof Request ? input : new Request(input.toString(), init)
    const send = () => fetch(url, { method, headers })
    if (!headers.has('payment-signature')) return await send()
    for (let tries = 1; ; tries++) {
      const response = await send().catch((error: unknown) => {
        if (tries >= TRIES_MAX) throw error
        return undefined
      })
      if (response !== undefined && (!isForNow(response) || tries >= TRIES_MAX)) return response
      onWait?.(response?.status ?? 0)
      const seconds = Number(response?.headers.get('retry-after') ?? WAIT_SECONDS)
      await Bun.sleep(Math.min(Number.isFinite(seconds) ? seconds : WAIT_SECONDS, WAIT_MAX_SECONDS) * 1000)
    }
  }
}

/** Whether the same signed request may end better later: 502 is the facilitator's trouble, 503 an outcome not known yet. */
const isForNow = ({ status }: Response) => status === 502 || status === 503
