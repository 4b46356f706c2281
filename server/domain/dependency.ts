/** The dependencies of the wall, and their states. */

import type { UnixMs } from './purchase/payment.ts'

/**
 * Kinds of dependencies. `chain` is the network itself, as its endpoints report it; `purchases` are the outcomes of
 * purchases, `queue` the waits of expensive requests, `backup` the age of the last backup, `webhook` whether it accepts
 * notices, `catalogue` whether it lists the wall, and `event-loop` whether the wall's own process runs on time.
 */
export type DependencyKind =
  | 'facilitator'
  | 'chain-endpoint'
  | 'chain'
  | 'store-read'
  | 'store-write'
  | 'standby'
  | 'disk'
  | 'backup'
  | 'clock'
  | 'purchases'
  | 'queue'
  | 'webhook'
  | 'catalogue'
  | 'event-loop'

/** One dependency; `name` is a host, a network or a fixed word, never a secret. */
export type Dependency = { readonly kind: DependencyKind; readonly name: string }

/** The state of a dependency, and since when; while it is `down`, `reason` describes the problem in our own words. */
export type DependencyState = Dependency & {
  readonly state: 'up' | 'down'
  readonly since: UnixMs
  readonly reason: string | null
}

// One working dependency of such a kind is enough to sell, so only an outage of all of a kind stops sales.
const REPLACEABLE: readonly DependencyKind[] = ['facilitator', 'chain-endpoint']

// A disk that fills up still accepts writes; when it does not, `store-write` is down. And while purchases fail, or are
// late, some succeed: a load balancer that sent no more requests would never see the failures end.
const ONLY_WARNS: readonly DependencyKind[] = [
  'disk',
  'backup',
  'purchases',
  'queue',
  'webhook',
  'catalogue',
  'event-loop',
]

const OF_THE_OPERATOR: readonly DependencyKind[] = ['backup', 'webhook', 'catalogue']

/** Whether a dependency is public: those that only the operator uses are not. */
export const isPublic = ({ kind }: Dependency): boolean => !OF_THE_OPERATOR.includes(kind)

/** The dependencies whose outage stops sales. */
export function listSalesStoppers(states: readonly DependencyState[]): readonly DependencyState[] {
  return states.filter(({ kind, state }) => {
    if (state === 'up' || ONLY_WARNS.includes(kind)) return false
    return !REPLACEABLE.includes(kind) || states.every((other) => other.kind !== kind || other.state === 'down')
  })
}
