/** What the operator withholds of blocks. Their owners' words stay where they are; readers are told the rest. */

import type { UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Hidden } from '../../../server/domain/wall/log.ts'
import {
  moderated,
  sameHidden,
  visible,
  type FacePart,
  type ModerationAct,
  type ModerationResult,
} from '../../../server/domain/wall/moderation.ts'
import type { Moderation } from '../../../server/ports.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { faceOf, hiddenOf, maskOf, type FaceRow } from '../../rows.ts'
import type { Connection } from '../connection.ts'
import { nextEntry, writeEntry } from './log.ts'
import { moderatedWallets, moderateWallet, record, records } from './wallet-moderation.ts'

/** The operator's hand on what blocks show. */
export function sqliteModeration(connection: Connection): Moderation {
  const { read, write } = connection
  return {
    moderateWallet: async (wallet, act, now) => write(() => moderateWallet(connection, wallet, act, now)),
    wallets: async () => read(() => moderatedWallets(connection)),
    record: async (act) => write(() => record(connection, act)),
    records: async () => read(() => records(connection)),
    moderate: async (block, act, parts, now) => write(() => moderate(connection, block, act, parts, now)),
  }
}

/** What is hidden of a block; to be called inside a read or a transaction. */
export function hiddenParts({ prepare, check }: Connection, block: BlockIndex): Hidden {
  check('moderated', block)
  const row = prepare<{ hidden: number }>('SELECT hidden FROM moderated WHERE block = $block').get({ block })
  return hiddenOf(row?.hidden ?? 0)
}

/** Hides parts of a block, or shows them again; to be called inside a transaction. */
export function moderate(
  connection: Connection,
  block: BlockIndex,
  act: ModerationAct,
  parts: readonly FacePart[],
  now: UnixMs,
): ModerationResult {
  connection.check('blocks', block)
  const row = connection
    .prepare<FaceRow>(`SELECT pixels, message, link FROM blocks WHERE i = $block AND state = 'claimed'`)
    .get({ block })
  if (row === null) return { kind: 'not-owned' }
  const before = hiddenParts(connection, block)
  const hidden = moderated(before, act, parts)
  if (sameHidden(before, hidden)) return { kind: 'unchanged', hidden }
  const [mask, face] = [maskOf(hidden), visible(faceOf(row), hidden)]
  writeEntry(connection, { ...nextEntry(connection, now), kind: act, block, hidden: mask, ...face })
  note(connection, block, mask)
  return { kind: 'applied', hidden }
}

/** Remembers what is hidden, for as long as anything is. */
function note({ prepare }: Connection, block: BlockIndex, hidden: number): void {
  if (hidden === 0) prepare('DELETE FROM moderated WHERE block = $block').run({ block })
  else prepare(HIDE).run({ block, hidden })
}

const HIDE =
  'INSERT INTO moderated (block, hidden) VALUES ($block, $hidden) ON CONFLICT (block) DO UPDATE SET hidden = $hidden'
