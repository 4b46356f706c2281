/** What the operator withholds of blocks. Their owners' words stay where they are; readers are told the rest. */

import type { UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Hidden } from '../../../server/domain/wall/log.ts'
import {
  moderated,
  NOTHING_HIDDEN,
  sameHidden,
  visible,
  type FacePart,
  type ModerationAct,
  type ModerationResult,
} from '../../../server/domain/wall/moderation.ts'
import type { Moderation } from '../../../server/ports.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { changeRow } from '../../changes.ts'
import { faceOf, hiddenOf, maskOf } from '../../rows.ts'
import type { Connection } from '../connection.ts'
import { nextEntry } from '../counters.ts'
import { lockBlock } from '../purchase/places.ts'
import { amend, put, writeAll, type Check, type Stored, type Work, type Write } from '../writes.ts'
import { moderatedWallets, moderateWallet, record, records } from './wallet-moderation.ts'

type HiddenRow = Stored<'moderated'> & { readonly hidden: number }

/** The operator's hand on what blocks show. */
export function postgresModeration({ rows, transaction }: Connection, check: Check): Moderation {
  return {
    moderateWallet: (wallet, act, now) =>
      transaction(wallet, (queries) => moderateWallet({ queries, check }, wallet, act, now)),
    wallets: () => moderatedWallets({ rows }),
    record: (act) => transaction(null, (queries) => record({ queries, check }, act)),
    records: () => records({ rows }),
    moderate: (block, act, parts, now) =>
      transaction(null, (queries) => moderate({ queries, check }, block, act, parts, now)),
  }
}

/** Tells what is hidden of each of some blocks, whose rows are locked. */
export async function hiddenParts(
  { queries, check }: Work,
  blocks: readonly BlockIndex[],
): Promise<(block: BlockIndex) => Hidden> {
  const text = 'SELECT * FROM moderated WHERE block = ANY ($1::integer[])'
  const rows = await queries.rows<HiddenRow>(text, [`{${blocks.join(', ')}}`])
  for (const row of rows) check('moderated', row)
  return (block) => hiddenOf(rows.find((row) => row.block === block)?.hidden ?? 0)
}

async function hiddenRow({ queries, check }: Work, block: BlockIndex): Promise<HiddenRow | undefined> {
  const [row] = await queries.rows<HiddenRow>('SELECT * FROM moderated WHERE block = $1', [block])
  if (row !== undefined) check('moderated', row)
  return row
}

/** Hides parts of a block, or shows them again. */
export async function moderate(
  work: Work,
  block: BlockIndex,
  act: ModerationAct,
  parts: readonly FacePart[],
  now: UnixMs,
): Promise<ModerationResult> {
  const owned = await lockBlock(work.queries, block)
  work.check('blocks', owned)
  if (owned.state !== 'claimed') return { kind: 'not-owned' }
  const row = await hiddenRow(work, block)
  const before = row === undefined ? NOTHING_HIDDEN : hiddenOf(row.hidden)
  const hidden = moderated(before, act, parts)
  if (sameHidden(before, hidden)) return { kind: 'unchanged', hidden }
  const { number, at } = await nextEntry(work.queries, now)
  const [mask, face] = [maskOf(hidden), visible(faceOf(owned), hidden)]
  await writeAll(
    work.queries,
    [put('changes', changeRow({ number, at, kind: act, block, hidden: mask, ...face })), noteOf(row, block, mask)],
    true,
  )
  return { kind: 'applied', hidden }
}

/** Remembers what is hidden, for as long as anything is. */
function noteOf(row: HiddenRow | undefined, block: BlockIndex, hidden: number): Write {
  if (row === undefined) return put('moderated', { block, hidden })
  if (hidden !== 0) return amend('moderated', row, { hidden })
  return {
    what: 'a block to show whole',
    values: [block],
    text: (from) => `DELETE FROM moderated WHERE block = $${from} RETURNING 1`,
  }
}
