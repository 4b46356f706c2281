/** What the wall depends on, and how each of it is. */

import type { UnixMs } from './purchase/payment.ts'

/**
 * Kinds of dependencies. `chain` is the network itself, as its endpoints report it; `purchases` is how purchases end, `queue` how
 * long expensive requests wait, `backup` how old the last backup is, `webhook` whether it accepts notices, `catalogue` whether it lists the wall, and `event-loop` whether the wall itself is in time.
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

/** How a dependency is, and since when; `reason` says in a clause of ours what is wrong while it is `down`. */
export type DependencyState = Dependency & {
  readonly state: 'up' | 'down'
  readonly since: UnixMs
  readonly reason: string | null
}

// One of these is enough to sell with, so that only all of a kind stop sales.
const REPLACEABLE: readonly DependencyKind[] = ['facilitator', 'chain-endpoint']

// A disk that fills up still takes writes; when it does not, `store-write` is down. And while purchases fail, or are late,
// some go through: a balancer that sent nobody any more would never see the end of it.
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

/** Whether anybody may read of a dependency: what the operator keeps beside the wall concerns nobody else. */
export const isPublic = ({ kind }: Dependency): boolean => !OF_THE_OPERATOR.includes(kind)

/** Those whose outage keeps the wall from selling. */
export function stopsSales(states: readonly DependencyState[]): readonly DependencyState[] {
  return states.filter(({ kind, state }) => {
    if (state === 'up' || ONLY_WARNS.includes(kind)) return false
    return !REPLACEABLE.includes(kind) || states.every((other) => other.kind !== kind || other.state === 'down')
  })
}
