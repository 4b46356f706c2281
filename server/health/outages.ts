/** Tracks the state of every dependency, and whether this process is ready for buyers or readers. */

import { type Dependency, type DependencyKind, type DependencyState, listSalesStoppers } from '../domain/dependency.ts'
import type { Clock, Logger } from '../ports.ts'
import type { PaymentHealth } from './payment-health.ts'

export type Outages = {
  /**
   * Records the state of a dependency: `reason` is `null` if it works, otherwise the problem, in our words and without
   * secrets. While this process's own event loop is late, no new problem with another system is recorded.
   */
  recordState(dependency: Dependency, reason: string | null): void
  /** Every dependency with a known state, in the order of the first reports. */
  listAll(): readonly DependencyState[]
}

/** The inputs of a watch that compares times and reports outages. */
export type WatchDeps = { readonly clock: Clock; readonly outages: Outages }

/** The inputs of the tracker. `isLate` says whether this process's own event loop is late. */
type OutageDeps = { readonly clock: Clock; readonly logger: Logger; readonly isLate?: () => boolean }

/** Makes a tracker with no known states. */
export function trackOutages({ clock, logger, isLate = () => false }: OutageDeps): Outages {
  const states = new Map<string, DependencyState>()
  return {
    recordState({ kind, name }, reason) {
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
    listAll: () => [...states.values()],
  }
}

// This process measures these kinds itself, so it reports them even while it is late.
const OF_ITSELF: ReadonlySet<string> = new Set<DependencyKind>(['event-loop', 'purchases', 'queue', 'disk', 'backup'])

/** The result of a readiness check. `reasons` say why the process is not ready, in our words. */
export type Ready = {
  readonly ready: boolean
  readonly reasons: readonly string[]
  readonly dependencies: readonly DependencyState[]
}

export type Readiness = {
  /** Whether the wall can sell now. */
  checkSelling(): Ready
  /** Whether readers get responses and will keep getting them for a while. */
  checkReading(): Ready
  /** The dependencies that stop sales now, apart from those of the rail: the store, its standby or the clock. */
  listTroubles(): readonly DependencyState[]
  /** Must be called before the process ends. From then on the process is not ready. */
  drain(): void
}

const WATCHED_BY_RAIL: ReadonlySet<string> = new Set(['facilitator', 'chain-endpoint', 'chain'])

/** Makes the readiness checks of this process. */
export function createReadiness({
  rail,
  outages,
}: {
  readonly rail: PaymentHealth
  readonly outages: Outages
}): Readiness {
  let isDraining = false
  const createReady = (reasons: readonly string[]): Ready => {
    const all = isDraining ? ['the wall is shutting down', ...reasons] : reasons
    return { ready: all.length === 0, reasons: all, dependencies: outages.listAll() }
  }
  const listStoppers = () => listSalesStoppers(outages.listAll())
  return {
    checkSelling() {
      const reasons = listStoppers().map(({ reason, kind }) => reason ?? kind)
      if (rail.readState() === 'armed' || reasons.length > 0) return createReady(reasons)
      return createReady([rail.readFault() ?? 'the wall is still checking purchases left open by an earlier run'])
    },
    checkReading: () => createReady([]),
    listTroubles: () => listStoppers().filter(({ kind }) => !WATCHED_BY_RAIL.has(kind)),
    drain: () => void (isDraining = true),
  }
}
