/** Keeps the state of every dependency: the operator is alerted once when an outage begins, and told once when it is over. */

import type { Dependency, DependencyState } from '../domain/dependency.ts'
import type { Clock, Logger } from '../ports.ts'

export type Outages = {
  /** Takes note of how a dependency is: `null` is well, else what is wrong, in our words and without secrets. */
  saw(dependency: Dependency, reason: string | null): void
  /** Every dependency that was ever looked at, in the order of the first looks. */
  all(): readonly DependencyState[]
}

/** Starts with nothing known. */
export function trackOutages({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): Outages {
  const states = new Map<string, DependencyState>()
  return {
    saw({ kind, name }, reason) {
      const key = `${kind} ${name}`
      const before = states.get(key)
      const state = reason === null ? 'up' : 'down'
      const isNew = before?.state !== state
      const since = before === undefined || isNew ? clock.now() : before.since
      states.set(key, { kind, name, state, since, reason })
      if (!isNew) return
      if (reason !== null) logger.alert('outage', { dependency: kind, name, reason })
      else if (before !== undefined) {
        const seconds = Math.round((clock.now() - before.since) / 1000)
        logger.note('outage-over', { dependency: kind, name, seconds })
      }
    },
    all: () => [...states.values()],
  }
}
