/** Reports of artworks: how many may wait for the operator, and how long closed ones are kept. */

import type { ReportReason } from '../../../shared/contract/report.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import type { UnixMs } from '../purchase/payment.ts'

/** The maximum number of open reports that are stored for one artwork. Further reports would add nothing. */
export const REPORTS_OF_A_WORK_MAX = 20

/** The maximum number of open reports that are stored in total. */
export const OPEN_REPORTS_MAX = 5000

/** How long a report is kept after the operator has closed it. */
export const REPORTS_KEPT_MS = 90 * 86_400_000

/** The operator's decision about an artwork. */
export type ReportOutcome = 'hidden' | 'dismissed'

/** A report that waits for the operator. */
export type OpenReport = {
  readonly id: number
  readonly at: UnixMs
  readonly work: BlockIndex // the artwork's first block
  readonly block: BlockIndex // the block that the reader reported
  readonly reason: ReportReason
  readonly note: string | null
}
