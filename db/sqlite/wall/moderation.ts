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
import { faceOf, hiddenOf, maskOf, type FaceRow } from '../../rows.ts'
import type { Connection } from '../connection.ts'
import { logWriter } from './log.ts'
import { walletModeration } from './wallet-moderation.ts'

/** The operator's hand on what blocks show. */
export function sqliteModeration(connection: Connection): Moderation {
  const moderate = blockModeration(connection)
  const wallets = walletModeration(connection)
  return {
    moderate: async (block, act, parts, now) => connection.write(() => moderate(block, act, parts, now)),
    moderateWallet: async (wallet, act, now) => connection.write(() => wallets.moderate(wallet, act, now)),
    wallets: async () => connection.read(wallets.wallets),
    record: async (act) => connection.write(() => wallets.record(act)),
    records: async () => connection.read(wallets.records),
  }
}

/** Hides parts of blocks, or shows them again; to be called inside a transaction. */
export function blockModeration(connection: Connection) {
  const sql = statements(connection)
  return (block: BlockIndex, act: ModerationAct, parts: readonly FacePart[], now: UnixMs): ModerationResult =>
    moderate(sql, block, act, parts, now)
}

/** Tells what is hidden of a block. */
export function hiddenParts(connection: Connection): (block: BlockIndex) => Hidden {
  const find = connection.prepare<{ hidden: number }, { block: number }>(
    'SELECT hidden FROM moderated WHERE block = $block',
  )
  return (block) => {
    connection.check('moderated', block)
    const row = find.get({ block })
    return row === null ? NOTHING_HIDDEN : hiddenOf(row.hidden)
  }
}

type Sql = ReturnType<typeof statements>

function statements(connection: Connection) {
  return {
    hidden: hiddenParts(connection),
    face: connection.prepare<FaceRow, { block: number }>(
      `SELECT pixels, message, link FROM blocks WHERE i = $block AND state = 'claimed'`,
    ),
    hide: connection.prepare<unknown, { block: number; hidden: number }>(
      'INSERT INTO moderated (block, hidden) VALUES ($block, $hidden) ON CONFLICT (block) DO UPDATE SET hidden = $hidden',
    ),
    showAll: connection.prepare<unknown, { block: number }>('DELETE FROM moderated WHERE block = $block'),
    log: logWriter(connection),
    check: connection.check,
  }
}

function moderate(
  sql: Sql,
  block: BlockIndex,
  act: ModerationAct,
  parts: readonly FacePart[],
  now: UnixMs,
): ModerationResult {
  sql.check('blocks', block)
  const row = sql.face.get({ block })
  if (row === null) return { kind: 'not-owned' }
  const before = sql.hidden(block)
  const hidden = moderated(before, act, parts)
  if (sameHidden(before, hidden)) return { kind: 'unchanged', hidden }
  const shown = visible(faceOf(row), hidden)
  sql.log.write({ ...sql.log.next(now), kind: act, block, hidden: maskOf(hidden), ...shown })
  if (sameHidden(hidden, NOTHING_HIDDEN)) sql.showAll.run({ block })
  else sql.hide.run({ block, hidden: maskOf(hidden) })
  return { kind: 'applied', hidden }
}
