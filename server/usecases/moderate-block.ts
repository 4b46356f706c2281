/** Hides parts of a block from every reader, or shows them again. */

import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import type { FacePart, ModerationAct, ModerationResult } from '../domain/moderation.ts'
import type { Clock, Journal, Moderation } from '../ports.ts'

/** What moderating needs. */
export type Moderating = {
  readonly moderation: Moderation
  readonly clock: Clock
  readonly journal: Journal
  readonly advance: () => Promise<void>
}

/** Once this resolves, no reader is told what was hidden. */
export async function moderateBlock(
  { moderation, clock, journal, advance }: Moderating,
  block: BlockIndex,
  act: ModerationAct,
  parts: readonly FacePart[],
): Promise<ModerationResult> {
  const result = await moderation.moderate(block, act, parts, clock.now())
  if (result.kind !== 'applied') return result
  await advance()
  journal.note(act, { block: coordOf(block), parts: parts.join() })
  return result
}
