/**
 * The ports that serve the operator: upkeep of the store, its records besides payments and the log, and the webhook.
 */

import type { BlockIndex } from '../shared/wall.ts'
import type { Statement } from './domain/purchase/balance.ts'
import type { UnixMs } from './domain/purchase/payment.ts'
import type { LogNumber } from './domain/wall/log.ts'
import type { OpenReport, ReportOutcome } from './domain/wall/reports.ts'

/** The ledger, as the audit reads it; see `Statement`. */
export type Audit = { readStatement(): Promise<Statement> }

/** The record of when backups were made, by whatever tool. */
export type Backups = {
  /** When the last backup was made; `undefined` before the first. */
  readLastTime(): Promise<UnixMs | undefined>
  record(now: UnixMs): Promise<void>
}

/** How far the log was delivered to the webhook. */
export type Deliveries = {
  /** The number of the last delivered entry; `undefined` before the first. */
  readPosition(): Promise<LogNumber | undefined>
  /** Records that all entries up to a number were delivered. A lower number than before changes nothing. */
  advanceTo(number: LogNumber): Promise<void>
}

/** A notice for the operator's webhook. The same event has the same `id` each time it is sent. */
export type Notice = {
  readonly id: string
  readonly type: 'sale' | 'repaint' | 'hide' | 'unhide' | 'identity' | 'report' | 'alert' | 'test'
  readonly at: UnixMs
  readonly data: Readonly<Record<string, string | number | boolean | null>>
}

/** The operator's webhook. `host` is the part of its address that operators see. */
export type NoticeReceiver = {
  readonly host: string
  /**
   * Sends a notice within seconds. Returns `null` if it was accepted, otherwise the reason, in the wall's own words.
   */
  send(notice: Notice, signal: AbortSignal): Promise<string | null>
}

/** A report to store. `reporterFor` hashes the reporter with the key of the day. */
export type FiledReport = Pick<OpenReport, 'work' | 'block' | 'reason' | 'note'> & {
  readonly reporterFor: (key: string) => string
}

/** Reports of artworks. Only the operator reads them. */
export type Reports = {
  /**
   * Stores a report, at most one per artwork, reporter and day (`day`). Returns `known` if there already is one, or if
   * enough reports of this artwork are open; `full` if too many are open in total. `fresh` becomes the key of a day
   * that has none yet.
   */
  fileReport(
    report: FiledReport,
    key: { readonly day: string; readonly fresh: string },
    now: UnixMs,
  ): Promise<'filed' | 'known' | 'full'>
  /** The open reports, oldest first. */
  listOpen(): Promise<readonly OpenReport[]>
  /**
   * Closes each report of an artwork whose first block is one of `blocks`, and each report about one of `blocks`;
   * returns how many reports were closed.
   */
  close(
    blocks: readonly BlockIndex[],
    by: { readonly outcome: ReportOutcome; readonly who: string; readonly why: string },
    now: UnixMs,
  ): Promise<number>
  /** At most `limit` open reports that have not been delivered to the webhook, oldest first. */
  listUndelivered(limit: number): Promise<readonly OpenReport[]>
  markDelivered(id: number): Promise<void>
}

/** The catalogue of a facilitator. */
export type Catalogue = {
  readonly host: string
  /**
   * How many paid addresses of this wall the catalogue lists; `none` if the facilitator has no catalogue, `silent` if
   * it does not respond.
   */
  countListed(): Promise<number | 'none' | 'silent'>
}

/** An entry of the log, for compaction. */
export type OutlinedEntry = {
  readonly number: LogNumber
  readonly at: UnixMs
  readonly subject: string | null // the block or wallet of a repaint or a name; null for entries that are never dropped
  readonly superseded: 0 | 1 // whether a later entry has replaced it
}

/** Compaction of the log. Later reads do not contain dropped entries. */
export type LogCompaction = {
  /** At most `limit` entries after number `after`, oldest first. */
  readOutline(after: LogNumber, limit: number): Promise<readonly OutlinedEntry[]>
  /**
   * Drops superseded repaints and names, all or none. Throws for the last change of a block or a wallet, and for an
   * entry of any other kind.
   */
  dropEntries(numbers: readonly LogNumber[]): Promise<void>
}
