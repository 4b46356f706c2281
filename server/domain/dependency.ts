/** The dependencies of the wall, and their states. */

import type { UnixMs } from './purchase/payment.ts'

/**
 * Kinds of dependencies. `chain` is the network itself, as its endpoints report it. `purchases` stands for the outcomes
 * of purchases, `queue` for the waiting times of expensive requests, and `backup` for the age of the last backup.
 * `webhook` is down if it does not accept notices, `catalogue` if it does not list the wall, and `event-loop` if the
 * wall's own process does not run on time.
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

/**
 * The state of a dependency, and when that state began; while it is `down`, `reason` describes the problem in our own
 * words.
 */
export type DependencyState = Dependency & {
  readonly state: 'up' | 'down'
  readonly since: UnixMs
  readonly reason: string | null
}

// One working dependency of these kinds is enough to sell, so sales stop only if all of the same kind are down.
const REPLACEABLE: readonly DependencyKind[] = ['facilitator', 'chain-endpoint']

// A disk that fills up still accepts writes; once it does not, `store-write` is down. While purchases fail or are late,
// some still succeed, and a load balancer that stopped sending requests would never see the failures end.
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

/** Whether the state of a dependency is public. It is private if only the operator uses the dependency. */
export const isPublic = ({ kind }: Dependency): boolean => !OF_THE_OPERATOR.includes(kind)

/** Returns the dependencies that stop sales now because they are down. */
export function listSalesStoppers(states: readonly DependencyState[]): readonly DependencyState[] {
  return states.filter(({ kind, state }) => {
    if (state === 'up' || ONLY_WARNS.includes(kind)) return false
    return !REPLACEABLE.includes(kind) || states.every((other) => other.kind !== kind || other.state === 'down')
  })
}
