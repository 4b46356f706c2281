/** Formats the state of the wall, so that an operator sees it at a glance. */

import type { Rail } from '../../shared/contract/service.ts'
import { formatCountWithNoun } from '../../shared/money.ts'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import type { Listing } from '../domain/listing-state.ts'
import type { Pending } from '../domain/purchase/account.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import type { Ready } from '../health/outages.ts'
import type { Clock, Logger } from '../ports.ts'

/** The facts about a running wall. */
export type Overview = {
  readonly version: string
  readonly baseUrl: string
  readonly network: string
  readonly startedAt: UnixMs
  readonly now: UnixMs
  readonly rail: Rail
  readonly sells: Ready
  readonly reads: Ready
  readonly sold: number
  readonly orphans: number
  readonly pending: Pending | undefined // undefined until it is first read
  readonly freeBytes: number | undefined
  readonly backedUpAt: UnixMs | undefined // undefined: never
  readonly catalogues: readonly CatalogueAnswer[]
  readonly listings: readonly Listing[]
  readonly alerts: readonly Alert[]
}

/**
 * The last status that a facilitator reported for an extension; that of `bazaar` says whether the facilitator's
 * catalogue lists the wall.
 */
export type CatalogueAnswer = {
  readonly facilitator: string
  readonly extension: string
  readonly status: string
  readonly reason?: string
}

/** The state of the wall as text, one fact per line. */
export function formatStatus(seen: Overview): string[] {
  const { version, baseUrl, network, startedAt, now, rail, sells, reads, sold, orphans, pending, freeBytes } = seen
  const { backedUpAt, catalogues, listings, alerts } = seen
  return [
    `Pixel Wall ${version} at ${baseUrl} on ${network}, up ${formatDuration(now - startedAt)}, at ${new Date(now).toISOString()}`,
    '',
    `  sells       ${formatReady(sells)}`,
    `  reads       ${formatReady(reads)}`,
    `  rail        ${rail}`,
    `  sold        ${sold} of ${TOTAL_BLOCKS} blocks`,
    `  open        ${pending === undefined ? 'not checked yet' : describePending(pending, now)}`,
    ...(orphans === 0 ? [] : [`  orphans     ${formatCountWithNoun(orphans, 'payment')} without a known purchase`]),
    ...(freeBytes === undefined ? [] : [`  disk        ${(freeBytes / 1e9).toFixed(1)} GB free`]),
    `  backup      ${backedUpAt === undefined ? 'NEVER' : `${formatDuration(now - backedUpAt)} ago`}`,
    ...catalogues.map(({ facilitator, extension, status, reason }) => {
      const why = reason === undefined ? '' : ` (${reason})`
      return `  catalogue   ${extension} of ${facilitator}: ${status}${why}`
    }),
    ...listings.map(
      ({ catalogue, addresses, seenAt }) =>
        `  listed      ${formatCountWithNoun(addresses, 'address', 'addresses')} at ${catalogue}, ${formatDuration(now - seenAt)} ago`,
    ),
    '  dependencies',
    ...sells.dependencies.map(({ kind, name, state, since, reason }) => {
      const how = state === 'up' ? 'up  ' : 'DOWN'
      return `    ${how} for ${formatDuration(now - since).padEnd(9)} ${kind} ${name}${reason === null ? '' : `: ${reason}`}`
    }),
    `  last alerts${alerts.length === 0 ? '  none since start' : ''}`,
    ...alerts.map(({ at, event, facts = {} }) => {
      const fields = Object.entries(facts).map(([name, value]) => `${name}=${value}`)
      return `    ${new Date(at).toISOString()} ${[event, ...fields].join(' ')}`
    }),
  ]
}

const formatReady = ({ ready, reasons }: Ready) => (ready ? 'yes' : `NO: ${reasons.join('; ')}`)

function describePending({ held, uncertain, watched, oldestSince }: Pending, now: UnixMs): string {
  const oldest = oldestSince === null ? '' : `, the oldest for ${formatDuration(now - oldestSince)}`
  return `${held} held, ${uncertain} of them in doubt, ${watched} watched${oldest}`
}

/** A duration in its two largest units. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [days, hours, minutes] = [86_400, 3600, 60].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ]
  if (days > 0) return `${days} d ${hours % 24} h`
  if (hours > 0) return `${hours} h ${minutes % 60} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

export type Alert = { readonly at: UnixMs; readonly event: string; readonly facts: Parameters<Logger['alert']>[1] }

const ALERTS_MAX = 10

/** Wraps a journal so that it also keeps its last ten alerts, oldest first. */
export function keepRecentAlerts(
  logger: Logger,
  { now }: Pick<Clock, 'now'>,
): { readonly logger: Logger; readonly listRecentAlerts: () => readonly Alert[] } {
  const kept: Alert[] = []
  return {
    logger: {
      note: logger.note,
      alert(event, facts) {
        kept.push({ at: now(), event, facts })
        if (kept.length > ALERTS_MAX) kept.shift()
        logger.alert(event, facts)
      },
    },
    listRecentAlerts: () => [...kept],
  }
}
