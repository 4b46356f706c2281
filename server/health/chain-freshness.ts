/** Treats a chain that makes no blocks as unresponsive, because it does not include sent transactions. */

import type { Chain, ChainHealth, Clock } from '../ports.ts'

// Base makes a block every two seconds; its past standstills lasted 20 to 116 minutes.
const STILL_MAX_MS = 60_000

const STILL = 'the chain has produced no block for more than a minute, or its endpoint does not show new blocks'
const STALLED: ChainHealth = { kind: 'stalled', what: STILL }

/**
 * Wraps a chain so that it counts as silent once its height has not grown for a minute by the monotonic clock. A
 * payment that the chain shows as paid or void is still reported as such. A report that a payment is unspent is not
 * trusted, because the payment may have been sent but not yet included in a block. After each reading of the height,
 * `report` is called with the problem, or with `null` if there is none.
 */
export function guardChainFreshness(
  chain: Chain,
  { clock, report }: { readonly clock: Clock; readonly report: (reason: string | null) => void },
): Chain {
  let newest: { readonly head: bigint; readonly at: number } | undefined
  let isStalled = false

  /**
   * Records a height that was requested at `asked`; returns whether the chain makes blocks. The height may be as old as
   * the request.
   */
  const recordHead = (head: bigint, asked: number) => {
    if (newest === undefined || head > newest.head) {
      newest = { head, at: clock.elapsed() }
      isStalled = false
    } else if (asked - newest.at >= STILL_MAX_MS) isStalled = true
    report(isStalled ? STILL : null)
    return !isStalled
  }

  return {
    ...chain,
    async readAuthorization(key) {
      const asked = clock.elapsed()
      const answer = await chain.readAuthorization(key)
      return answer === 'silent' || recordHead(answer.head, asked) ? answer : 'silent'
    },
    async readPaymentStatus(payment, head, named) {
      const status = await chain.readPaymentStatus(payment, head, named)
      return status.kind === 'unspent' && isStalled ? { kind: 'silent' } : status
    },
    async checkHealth() {
      const asked = clock.elapsed()
      const health = await chain.checkHealth()
      if (health.kind !== 'none' || health.head === undefined) return health
      return recordHead(health.head, asked) ? health : STALLED
    },
  }
}
