/** Reports of artworks, for the operator alone. */

import { Type, type Static } from '@sinclair/typebox'
import { Closed, CoordText, Printable } from './kinds.ts'

/** The reasons that a report can give. */
export const REPORT_REASONS = [
  'illegal',
  'sexual',
  'hate',
  'violence',
  'scam',
  'copyright',
  'privacy',
  'other',
] as const
export type ReportReason = (typeof REPORT_REASONS)[number]

/** The longest note, in code points. */
export const REPORT_NOTE_MAX = 200

export const ReportBody = Closed({
  block: CoordText,
  reason: Type.Union(
    REPORT_REASONS.map((reason) => Type.Literal(reason)),
    { description: 'The problem with the work that the block is part of. `scam` includes deceptive links.' },
  ),
  note: Type.Optional(
    Printable(REPORT_NOTE_MAX, 'A short note for the operator.', 'The link leads to a copy of a bank’s page.'),
  ),
})
export type ReportBody = Static<typeof ReportBody>

export const Reported = Type.Object({
  received: Type.Literal(true, { description: 'The operator has received a report of this work from you today.' }),
})
export type Reported = Static<typeof Reported>
