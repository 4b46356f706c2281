/** What a monitor reads of the wall: whether it sells, what it depends on, what is open and what is sold. Nothing is asked for it. */

import { Gauge, type Registry } from 'prom-client'
import type { Rail } from '../../../shared/contract/service.ts'
import type { DependencyState } from '../../domain/dependency.ts'
import type { Pending } from '../../domain/purchase/account.ts'
import type { Clock } from '../../ports.ts'
import { gauge } from './process.ts'

/** What there is to see of a wall, each known without asking anybody. */
export type Seen = {
  readonly clock: Clock
  readonly rail: () => Rail
  readonly sells: () => boolean
  readonly reads: () => boolean
  readonly dependencies: () => readonly DependencyState[]
  readonly store: () => { readonly pending: Pending | undefined; readonly freeBytes: number | undefined }
  readonly storeBytes: () => Promise<number | undefined>
  readonly blocks: () => { readonly sold: number; readonly open: number }
  readonly orphans: () => number
  readonly build: Readonly<Record<'version' | 'bun', string>>
}

const RAILS: readonly Rail[] = ['armed', 'arming', 'misconfigured']

/** Adds the wall. */
export function watchWall(registry: Registry, seen: Seen): void {
  const { clock, store } = seen
  watchStates(registry, seen)
  watchDependencies(registry, seen)
  labelled(
    registry,
    'wall_blocks',
    'Blocks by whether they are sold; open ones may be held for a payer.',
    'state',
    () => Object.entries(seen.blocks()),
  )
  labelled(
    registry,
    'wall_open_purchases',
    'Purchases without an end: held, of which the payer of some was told to wait (doubted); watched for a late payment.',
    'state',
    () => {
      const { pending } = store()
      if (pending === undefined) return []
      return [
        ['held', pending.held],
        ['doubted', pending.uncertain],
        ['watched', pending.watched],
      ]
    },
  )
  gauge(
    registry,
    'wall_oldest_open_purchase_seconds',
    'Age of the oldest purchase without an end that was seen; 0 when there is none.',
    () => {
      const { pending } = store()
      if (pending === undefined) return undefined
      return pending.oldestSince === null ? 0 : (clock.now() - pending.oldestSince) / 1000
    },
  )
  gauge(
    registry,
    'wall_orphan_payments',
    'Payments that no purchase is known for and nobody has accounted for.',
    seen.orphans,
  )
  gauge(registry, 'wall_disk_free_bytes', 'What is left on the disk of the wall’s data.', () => store().freeBytes)
  gauge(registry, 'wall_store_bytes', 'Size of the database file and its write-ahead log.', seen.storeBytes)
}

function watchStates(registry: Registry, { rail, sells, reads, build }: Seen): void {
  labelled(registry, 'wall_rail', 'Whether payments can be taken: 1 for the state it is in.', 'state', () => {
    const now = rail()
    return RAILS.map((state) => [state, Number(state === now)])
  })
  labelled(registry, 'wall_ready', 'Whether the wall is ready: to sell, and to answer readers.', 'for', () => [
    ['sales', Number(sells())],
    ['reads', Number(reads())],
  ])
  new Gauge({
    name: 'wall_build_info',
    help: 'Which version runs, on which Bun; always 1.',
    labelNames: ['version', 'bun'],
    registers: [registry],
  }).set(build, 1)
}

function watchDependencies(registry: Registry, { dependencies }: Seen): void {
  const labelNames = ['dependency', 'name'] as const
  const registers = [registry]
  const up = new Gauge({
    name: 'wall_dependency_up',
    help: 'Whether what the wall depends on works: 1 if so.',
    labelNames,
    registers,
    collect() {
      up.reset()
      for (const { kind, name, state } of dependencies()) up.set({ dependency: kind, name }, Number(state === 'up'))
    },
  })
  const since = new Gauge({
    name: 'wall_dependency_since_timestamp_seconds',
    help: 'Since when it has worked, or not, in Unix seconds.',
    labelNames,
    registers,
    collect() {
      since.reset()
      for (const { kind, name, since: at } of dependencies()) since.set({ dependency: kind, name }, at / 1000)
    },
  })
}

/** A gauge of one label, looked at for each reading. */
function labelled(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  look: () => readonly (readonly [string, number])[],
): void {
  const one = new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      one.reset()
      for (const [value, number] of look()) one.set({ [label]: value }, number)
    },
  })
}
