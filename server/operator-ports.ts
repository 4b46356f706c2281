/** The ports that serve the operator: what the store records beside payments and the log, and the webhook. */

import type { UnixMs } from './domain/purchase/payment.ts'
import type { LogNumber } from './domain/wall/log.ts'

/** The record of backups, whichever tool makes them. */
export type Backups = {
  /** When the last one was made; `undefined` before the first. */
  last(): Promise<UnixMs | undefined>
  note(now: UnixMs): Promise<void>
}

/** How far the log was delivered to the webhook. */
export type Deliveries = {
  /** Number of the last entry that was delivered; `undefined` before the first. */
  reached(): Promise<LogNumber | undefined>
  /** Records that all entries up to a number were delivered. A lower number than before changes nothing. */
  reach(number: LogNumber): Promise<void>
}

/** Something that happened, as the operator's webhook receives it. The same event has the same `id` each time it is sent. */
export type Notice = {
  readonly id: string
  readonly type: 'sale' | 'repaint' | 'hide' | 'unhide' | 'identity' | 'alert' | 'test'
  readonly at: UnixMs
  readonly data: Readonly<Record<string, string | number | boolean | null>>
}

/** The operator's webhook. `host` is the part of its address that operators are shown. */
export type NoticeReceiver = {
  readonly host: string
  /** Sends a notice, within seconds; `null` if it was accepted, else why not, in our words. */
  send(notice: Notice, signal: AbortSignal): Promise<string | null>
}
