/** The dependencies of the wall, and their states. */

import type { UnixMs } from './purchase/payment.ts'

/**
 * Kinds of dependencies. `chain` is the network itself, as its endpoints report it; `purchases` are the outcomes of purchases, `queue` the
 * waits of expensive requests, `backup` the age of the last backup, `webhook` whether it accepts notices, `catalogue` whether it lists the wall, and `event-loop` whether the wall itself is in time.
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

/** One dependency; `name` is a host, a network or a word of ours, never a secret. */
export type Dependency = { readonly kind: DependencyKind; readonly name: string }

/** The state of a dependency, and since when; `reason` says in a clause of ours what is wrong while it is `down`. */
export type DependencyState = Dependency & {
  readonly state: 'up' | 'down'
  readonly since: UnixMs
  readonly reason: string | null
}

// One of these is enough to sell, so only an outage of all of a kind stops sales.
const REPLACEABLE: readonly DependencyKind[] = ['facilitator', 'chain-endpoint']

// A disk that fills up still accepts writes; when it does not, `store-write` is down. And while purchases fail, or are late,
// some succeed: a load balancer that sent no more requests would never see the end of it.
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
