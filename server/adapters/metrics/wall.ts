/**
 * Metrics of the wall: whether it sells, its dependencies, open purchases and sales. Reading them calls no other
 * system.
 */

import type { Registry } from 'prom-client'
import type { Rail } from '../../../shared/contract/service.ts'
import type { DependencyState } from '../../domain/dependency.ts'
import type { Listing } from '../../domain/listing-state.ts'
import type { Pending } from '../../domain/purchase/account.ts'
import type { UnixMs } from '../../domain/purchase/payment.ts'
import type { Clock } from '../../ports.ts'
import { registerGauge, registerLabelledGauge } from './process.ts'

/** The state of the wall, all of it known without a call. */
export type WallReadings = {
  readonly clock: Clock
  readonly readRail: () => Rail
  readonly canSell: () => boolean
  readonly canServeReaders: () => boolean
  readonly listDependencies: () => readonly DependencyState[]
  readonly readStoreState: () => {
    readonly pending: Pending | undefined
    readonly freeBytes: number | undefined
    readonly backedUpAt: UnixMs | undefined
  }
  readonly measureStoreBytes: () => Promise<number | undefined>
  readonly countBlocks: () => { readonly sold: number; readonly open: number }
  readonly countOrphans: () => number
  readonly readListings: () => readonly Listing[]
  readonly build: Readonly<Record<'version' | 'bun', string>>
}

const RAILS: readonly Rail[] = ['armed', 'arming', 'misconfigured']

/** Adds the metrics of the wall. */
export function registerWallMetrics(registry: Registry, readings: WallReadings): void {
  registerStateMetrics(registry, readings)
  registerDependencyMetrics(registry, readings)
  registerPurchaseMetrics(registry, readings)
  const { readListings } = readings
  const listedHelp = 'Number of paid addresses of this wall that each catalogue lists.'
  registerLabelledGauge(registry, 'wall_catalogue_listed_addresses', listedHelp, ['catalogue'], () =>
    readListings().map(({ catalogue, addresses }) => [{ catalogue }, addresses]),
  )
  const { readStoreState, measureStoreBytes: storeBytes } = readings
  registerGauge(
    registry,
    'wall_disk_free_bytes',
    'Free space on the disk that holds the wall’s data.',
    () => readStoreState().freeBytes,
  )
  registerGauge(
    registry,
    'wall_last_backup_timestamp_seconds',
    'When the last backup was made, in Unix seconds; 0 for never.',
    () => (readStoreState().backedUpAt ?? 0) / 1000,
  )
  registerGauge(registry, 'wall_store_bytes', 'Size of the database file and its write-ahead log.', storeBytes)
}

function registerStateMetrics(registry: Registry, { readRail, canSell, canServeReaders, build }: WallReadings): void {
  registerLabelledGauge(registry, 'wall_rail', 'State of the payment rail: 1 for the current state.', ['state'], () => {
    const now = readRail()
    return RAILS.map((state) => [{ state }, Number(state === now)])
  })
  registerLabelledGauge(
    registry,
    'wall_ready',
    'Whether the wall is ready for sales, and for reads: 1 if so.',
    ['for'],
    () => [
      [{ for: 'sales' }, Number(canSell())],
      [{ for: 'reads' }, Number(canServeReaders())],
    ],
  )
  const buildHelp = 'Version of the wall and of Bun; always 1.'
  registerLabelledGauge(registry, 'wall_build_info', buildHelp, ['version', 'bun'], () => [[build, 1]])
}

function registerDependencyMetrics(registry: Registry, { listDependencies }: WallReadings): void {
  const registerPerDependency = (metric: string, help: string, valueOf: (dependency: DependencyState) => number) =>
    registerLabelledGauge(registry, metric, help, ['dependency', 'name'], () =>
      listDependencies().map((state) => [{ dependency: state.kind, name: state.name }, valueOf(state)]),
    )
  registerPerDependency('wall_dependency_up', 'Whether each dependency works: 1 if so.', ({ state }) =>
    Number(state === 'up'),
  )
  registerPerDependency(
    'wall_dependency_since_timestamp_seconds',
    'When each dependency entered its current state, in Unix seconds.',
    ({ since }) => since / 1000,
  )
}

function registerPurchaseMetrics(
  registry: Registry,
  { countBlocks, readStoreState, clock, countOrphans: orphans }: WallReadings,
): void {
  const registerPerState = (metric: string, help: string, read: () => Readonly<Record<string, number>>) =>
    registerLabelledGauge(registry, metric, help, ['state'], () =>
      Object.entries(read()).map(([state, value]) => [{ state }, value]),
    )
  registerPerState('wall_blocks', 'Blocks, sold and open; open ones may be held for a payer.', countBlocks)
  registerPerState(
    'wall_open_purchases',
    'Unfinished purchases, by state: held; doubted (held, and the payer was asked to resend the payment); watched (released, but the payment may still settle).',
    () => {
      const { pending } = readStoreState()
      return pending === undefined ? {} : { held: pending.held, doubted: pending.uncertain, watched: pending.watched }
    },
  )
  registerGauge(
    registry,
    'wall_oldest_open_purchase_seconds',
    'Age of the oldest unfinished purchase that the last check found; 0 if it found none.',
    () => {
      const { pending } = readStoreState()
      if (pending === undefined) return undefined
      return pending.oldestSince === null ? 0 : (clock.now() - pending.oldestSince) / 1000
    },
  )
  registerGauge(
    registry,
    'wall_orphan_payments',
    'Number of payments that have no known purchase and have not been accounted for.',
    orphans,
  )
}
