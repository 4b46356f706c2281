/** The facilitator over HTTP, through the x402 SDK's client. What it answers is sorted by what it proves. */

import { HTTPFacilitatorClient, type FacilitatorConfig } from '@x402/core/http'
import { SettleError, VerifyError, type PaymentPayload } from '@x402/core/types'
import pLimit from 'p-limit'
import type { Payment, Target } from '../domain/payment.ts'
import type { Settling, Verification } from '../domain/purchase.ts'
import type { Facilitator } from '../ports.ts'
import { paymentRequired, requirementsOf, type Offer } from '../x402/terms.ts'
import { within } from './deadline.ts'

/** How to reach a facilitator. Verify and settle have their own patience, in milliseconds. */
export type FacilitatorSettings = {
  readonly url: string
  readonly verifyTimeoutMs: number
  readonly settleTimeoutMs: number
  readonly createAuthHeaders: FacilitatorConfig['createAuthHeaders'] // undefined for a facilitator that asks for none
}

const AT_ONCE = 64
const WAITING_MAX = 256

/** Makes the facilitator port. At most 64 calls are under way; a verify that 256 others wait before is not waited for. */
export function httpFacilitator(settings: FacilitatorSettings, offer: Offer): Facilitator {
  const auth = settings.createAuthHeaders === undefined ? {} : { createAuthHeaders: settings.createAuthHeaders }
  const quick = new HTTPFacilitatorClient({ url: settings.url, timeoutMs: settings.verifyTimeoutMs, ...auth })
  const patient = new HTTPFacilitatorClient({ url: settings.url, timeoutMs: settings.settleTimeoutMs, ...auth })
  const limit = pLimit(AT_ONCE)

  return {
    async verify(target, payment) {
      if (limit.pendingCount >= WAITING_MAX) return { kind: 'unavailable' }
      return await limit(() => verify(quick, offer, target, payment))
    },
    settle: (target, payment) => limit(() => settle(patient, offer, target, payment)),
    // The client obeys a facilitator that wants to be asked again later, for longer than a call may take.
    supports: () => within(settings.verifyTimeoutMs, () => supports(quick, offer), 'unavailable'),
  }
}

async function supports(client: HTTPFacilitatorClient, { terms }: Offer): Promise<'yes' | 'no' | 'unavailable'> {
  try {
    const { kinds } = await client.getSupported()
    const isOurs = kinds.some(
      (kind) => kind.x402Version === 2 && kind.scheme === 'exact' && kind.network === terms.network,
    )
    return isOurs ? 'yes' : 'no'
  } catch {
    return 'unavailable'
  }
}

async function verify(
  client: HTTPFacilitatorClient,
  offer: Offer,
  target: Target,
  payment: Payment,
): Promise<Verification> {
  try {
    const { isValid, invalidReason } = await client.verify(...wireOf(offer, target, payment))
    return isValid ? { kind: 'valid' } : { kind: 'invalid', reason: reasonOf(invalidReason) }
  } catch (error) {
    if (error instanceof VerifyError && error.statusCode < 500 && !ourTrouble.has(error.statusCode))
      return { kind: 'invalid', reason: reasonOf(error.invalidReason) }
    return { kind: 'unavailable' }
  }
}

async function settle(
  client: HTTPFacilitatorClient,
  offer: Offer,
  target: Target,
  payment: Payment,
): Promise<Settling> {
  try {
    const { success, transaction, network, errorReason } = await client.settle(...wireOf(offer, target, payment))
    if (!success) return refusal(errorReason, transaction)
    const tx = transaction.toLowerCase()
    return isHash(tx) && network === payment.accepted.network ? { kind: 'success', tx } : { kind: 'unclear' }
  } catch (error) {
    if (error instanceof SettleError && error.statusCode < 500) return refusal(error.errorReason, error.transaction)
    return isUnsent(error) ? { kind: 'unsent' } : { kind: 'unclear' }
  }
}

/** A facilitator that names a transaction has sent one, whatever else it says. */
const refusal = (reason: unknown, transaction: unknown): Settling =>
  transaction === '' || transaction === undefined || transaction === null
    ? { kind: 'refused', reason: reasonOf(reason) }
    : { kind: 'unclear' }

/** What the facilitator is sent: the payer's authorization with our own terms, resource and extensions, never the echo. */
function wireOf(offer: Offer, target: Target, payment: Payment) {
  const { resource, extensions } = paymentRequired(offer, target)
  const requirements = requirementsOf(offer, {
    network: payment.accepted.network,
    asset: payment.accepted.asset,
    payTo: payment.to,
    amount: payment.amount,
  })
  const payload: PaymentPayload = {
    x402Version: 2,
    resource,
    accepted: requirements,
    payload: {
      signature: payment.signature,
      authorization: {
        from: payment.payer,
        to: payment.to,
        value: payment.amount.toString(),
        validAfter: payment.validAfter.toString(),
        validBefore: payment.validBefore.toString(),
        nonce: payment.nonce,
      },
    },
    ...(extensions === undefined ? {} : { extensions }),
  }
  return [payload, requirements] as const
}

// Keys that are refused or a quota that is used up say nothing about the payer.
const ourTrouble = new Set([401, 403, 429])

const reasonPattern = /^[a-z0-9_]{1,80}$/

/** A reason that looks like a code is passed on; other people's sentences are not, for they may hold anything. */
const reasonOf = (reason: unknown) =>
  typeof reason === 'string' && reasonPattern.test(reason) ? reason : 'the facilitator refused the payment'

const isHash = (text: string): text is `0x${string}` => /^0x[0-9a-f]{64}$/.test(text)

const unsentCodes = new Set(['ECONNREFUSED', 'ConnectionRefused', 'ENOTFOUND', 'EAI_AGAIN'])

/** Whether the request cannot have reached anyone. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string' && unsentCodes.has(error.code)) return true
  return error.cause !== undefined && isUnsent(error.cause)
}
