/** Whether this process can serve buyers, or readers: for load balancers and operators. Answers from what is known. */

import { stopsSales, type DependencyState } from '../domain/dependency.ts'
import type { PaymentHealth } from './payment-health.ts'
import type { Outages } from './track-outages.ts'

/** What is told to whoever asks. `reasons` say why it is not ready, in our words. */
export type Ready = {
  readonly ready: boolean
  readonly reasons: readonly string[]
  readonly dependencies: readonly DependencyState[]
}

export type Readiness = {
  /** Whether a purchase would go through now. */
  sells(): Ready
  /** Whether readers are answered, and will be for a while. */
  reads(): Ready
  /** What stops sales beside the rail: the store or the clock. */
  troubles(): readonly DependencyState[]
  /** Must be called before the process ends. From then on it is not ready. */
  drain(): void
}

const WATCHED_BY_RAIL: ReadonlySet<string> = new Set(['facilitator', 'chain-endpoint', 'chain'])

/** Makes the readiness of this process. */
export function readiness({ rail, outages }: { readonly rail: PaymentHealth; readonly outages: Outages }): Readiness {
  let isDraining = false
  const answer = (reasons: readonly string[]): Ready => {
    const all = isDraining ? ['the wall is being stopped', ...reasons] : reasons
    return { ready: all.length === 0, reasons: all, dependencies: outages.all() }
  }
  const stopping = () => stopsSales(outages.all())
  return {
    sells() {
      const reasons = stopping().map(({ reason, kind }) => reason ?? kind)
      if (rail.state() === 'armed' || reasons.length > 0) return answer(reasons)
      return answer([rail.fault() ?? 'what was left open by an earlier run is being looked at'])
    },
    reads: () => answer([]),
    troubles: () => stopping().filter(({ kind }) => !WATCHED_BY_RAIL.has(kind)),
    drain: () => void (isDraining = true),
  }
}
