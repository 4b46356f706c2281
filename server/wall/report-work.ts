/** Accepts reports of artworks. A report hides nothing; the operator reads it and decides. */

import { REPORT_NOTE_MAX, REPORT_REASONS, ReportBody, type Reported } from '../../shared/contract/report.ts'
import { parseCoord } from '../../shared/wall.ts'
import { createFailure, type Failure } from '../domain/failure.ts'
import { createInvalidCoordinateFailure } from '../domain/purchase/refusals.ts'
import { findArtwork } from '../domain/wall/artworks.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Reports } from '../operator-ports.ts'
import type { Clock } from '../ports.ts'
import { createReader } from '../read.ts'

export type ReportDeps = {
  readonly view: WallView
  readonly reports: Pick<Reports, 'fileReport'>
  readonly clock: Clock
}

const SHAPE = `Send a JSON object with block ("col,row"), reason (one of ${REPORT_REASONS.join(', ')}) and, if you like, note (1 to ${REPORT_NOTE_MAX} printable characters), and no other fields.`

/** Reads the body of a report. */
export const readReport = createReader(ReportBody, () => createFailure('invalid_body', SHAPE))

/** Stores a report. The client's address is stored only as a hash, made with a key that is replaced every day. */
export async function reportWork(
  { view, reports, clock }: ReportDeps,
  { block: coord, reason, note }: ReportBody,
  address: string,
): Promise<Reported | Failure> {
  const block = parseCoord(coord)
  if (block === undefined) return createInvalidCoordinateFailure()
  const work = findArtwork(view, block)?.blocks[0]
  if (work === undefined)
    return createFailure('no_owner', 'Nobody has bought this block, so it shows nothing to report.')
  const now = clock.now()
  const hashReporter = (key: string) =>
    new Bun.CryptoHasher('sha256', key).update(address).digest('hex').slice(0, HASH_DIGITS)
  const key = { day: new Date(now).toISOString().slice(0, 10), fresh: crypto.randomUUID() }
  const filed = await reports.fileReport(
    { work, block, reason, note: note ?? null, reporterFor: hashReporter },
    key,
    now,
  )
  return filed === 'full' ? TOO_MANY : { received: true }
}

const HASH_DIGITS = 32

const TOO_MANY = createFailure(
  'server_busy',
  'The operator has too many unread reports. This report was not stored. Send it again tomorrow, or write to the operator.',
)
