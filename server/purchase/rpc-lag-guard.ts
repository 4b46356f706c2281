/** Guards against chain endpoints that lag behind others. */

import { lru } from '../../shared/lru.ts'
import { keyOf, type PaymentKey } from '../domain/purchase/payment.ts'
import type { Chain, Clock } from '../ports.ts'

// Far longer than an endpoint lags, and short enough for a transfer that a reorganisation undid.
const REMEMBERED_MS = 10 * 60_000

// Strangers can name used authorizations without end.
const REMEMBERED_MAX = 10_000

/**
 * Remembers which authorizations the chain has shown as used. If a later answer shows one as unused, the endpoint may lag:
 * the answer is then `silent`, until the chain shows what used it.
 */
export function rpcLagGuard(chain: Chain, clock: Clock): Chain {
  const used = lru<string, number>(REMEMBERED_MAX)
  const remember = (key: PaymentKey) => used.set(keyOf(key), clock.elapsed() + REMEMBERED_MS)
  const isUsed = (key: PaymentKey) => clock.elapsed() < (used.get(keyOf(key)) ?? 0)
  return {
    ...chain,
    async read(key) {
      const answer = await chain.read(key)
      if (answer === 'silent') return answer
      if (answer.spent) remember(key)
      return !answer.spent && isUsed(key) ? 'silent' : answer
    },
    async status(payment, head, named) {
      const status = await chain.status(payment, head, named)
      if (status.kind === 'unspent' && isUsed(payment)) return { kind: 'silent' }
      if (status.kind !== 'silent') used.delete(keyOf(payment))
      return status
    },
  }
}
