/** Keeps the state of every dependency: the operator is alerted once when an outage begins, and told once when it is over. */

import type { Dependency, DependencyKind, DependencyState } from '../domain/dependency.ts'
import type { Clock, Logger } from '../ports.ts'

export type Outages = {
  /**
   * Takes note of how a dependency is: `null` is well, else what is wrong, in our words and without secrets. While this
   * process is late itself, nothing else begins to be wrong.
   */
  saw(dependency: Dependency, reason: string | null): void
  /** Every dependency that was ever looked at, in the order of the first looks. */
  all(): readonly DependencyState[]
}

/** What outages are tracked with. `isLate` says whether this process is late itself. */
export type OutageDeps = { readonly clock: Clock; readonly logger: Logger; readonly isLate?: () => boolean }

/** Starts with nothing known. */
export function trackOutages({ clock, logger, isLate = () => false }: OutageDeps): Outages {
  const states = new Map<string, DependencyState>()
  return {
    saw({ kind, name }, reason) {
      const key = `${kind} ${name}`
      const before = states.get(key)
      const state = reason === null ? 'up' : 'down'
      const isNew = before?.state !== state
      if (isNew && reason !== null && !OF_ITSELF.has(kind) && isLate()) return
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

// These are not found by waiting for somebody.
const OF_ITSELF: ReadonlySet<string> = new Set<DependencyKind>(['event-loop', 'purchases', 'disk'])
