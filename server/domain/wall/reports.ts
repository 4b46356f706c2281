/** Reports of works: how many wait for the operator, and for how long those that were closed stay. */

import type { ReportReason } from '../../../shared/contract/report.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import type { UnixMs } from '../purchase/payment.ts'

/** How many open reports are stored of one work: more of them say no more. */
export const REPORTS_OF_A_WORK_MAX = 20

/** How many open reports are stored in all. */
export const OPEN_REPORTS_MAX = 5000

/** How long a report stays once the operator has closed it. */
export const REPORTS_KEPT_MS = 90 * 86_400_000

/** What the operator did about a work. */
export type ReportOutcome = 'hidden' | 'dismissed'

/** A report that waits for the operator. */
export type OpenReport = {
  readonly id: number
  readonly at: UnixMs
  readonly work: BlockIndex // its first block
  readonly block: BlockIndex // that the reader meant
  readonly reason: ReportReason
  readonly note: string | null
}
