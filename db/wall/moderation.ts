/** The parts of blocks that the operator hides. Owners' content stays stored; readers get only the visible parts. */

import type { Address, UnixMs } from '../../server/domain/purchase/payment.ts'
import type { Hidden } from '../../server/domain/wall/log.ts'
import {
  applyModeration,
  hidesSameParts,
  omitHiddenParts,
  type ContentPart,
  type ModerationAct,
  type ModerationResult,
  type RecordedAct,
  type WalletAct,
  type WalletActResult,
} from '../../server/domain/wall/moderation.ts'
import type { Moderation } from '../../server/ports.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { toContent, toHiddenParts, toMask, type ContentRow } from '../rows.ts'
import { changeRows, queryFirst, takeLock, queryRows, runTogether, type Driver, type Tx } from '../tx.ts'
import { findAgent } from './agents.ts'
import { takeNextEntry, writeEntry } from './log.ts'
import { moderateAgent, listModeratedWallets } from './moderated-agents.ts'

/** The moderation of a store. */
export const createModeration = ({ query, write }: Driver): Moderation => ({
  moderate: (block, act, parts, now) => write(null, () => moderate(block, act, parts, now)),
  moderateWallet: (wallet, act, now) => write(wallet, () => moderateWallet(wallet, act, now)),
  listWallets: () => query(listModeratedWallets),
  recordAct: (act) => write(null, () => record(act)),
  listRecords: () => query(() => queryRows<RecordedAct>(RECORDS)),
})

function* moderateWallet(wallet: Address, act: WalletAct, now: UnixMs): Tx<WalletActResult> {
  const agent = yield* findAgent(wallet)
  return agent === undefined ? { kind: 'unknown-wallet' } : yield* moderateAgent(agent, act, now)
}

const HIDDEN = 'SELECT block, hidden FROM moderated WHERE block {in integer $blocks}'

/** Reads the hidden parts of blocks; returns a look-up by block. Throws `StoreUnavailable` if a row is damaged. */
export function* readHiddenParts(blocks: readonly BlockIndex[]): Tx<(block: BlockIndex) => Hidden> {
  const found = yield* queryRows<{ block: BlockIndex; hidden: number }>(HIDDEN, { blocks }, { moderated: 'block' })
  const masks = new Map(found.map(({ block, hidden }) => [block, hidden]))
  return (block) => toHiddenParts(masks.get(block) ?? 0)
}

const CONTENT = 'SELECT i, state, pixels, message, link FROM blocks WHERE i = $block {lock}'

/** Hides parts of a block, or shows them again. */
export function* moderate(
  block: BlockIndex,
  act: ModerationAct,
  parts: readonly ContentPart[],
  now: UnixMs,
): Tx<ModerationResult> {
  const row = yield* queryFirst<ContentRow & { readonly state: string }>(CONTENT, { block }, { blocks: 'i' })
  if (row?.state !== 'claimed') return { kind: 'not-owned' }
  const before = (yield* readHiddenParts([block]))(block)
  const hidden = applyModeration(before, act, parts)
  if (hidesSameParts(before, hidden)) return { kind: 'unchanged', hidden }
  const { number, at } = yield* takeNextEntry(now)
  const [mask, content] = [toMask(hidden), omitHiddenParts(toContent(row), hidden)]
  yield* runTogether(
    writeEntry({ number, at, kind: act, block, hidden: mask, ...content }),
    storeHiddenParts(block, mask),
  )
  return { kind: 'applied', hidden }
}

const SHOW = 'DELETE FROM moderated WHERE block = $block'
const HIDE = `
  INSERT INTO moderated (block, hidden) VALUES ($block, $hidden) ON CONFLICT (block) DO UPDATE SET hidden = excluded.hidden`

/** Stores the hidden parts; deletes the row if nothing is hidden any more. */
const storeHiddenParts = (block: BlockIndex, hidden: number): Tx<void> =>
  changeRows('hidden parts to store', hidden === 0 ? SHOW : HIDE, { block, hidden })

const RECORD = `
  INSERT INTO moderation_acts (id, at, who, act, what, parts, why)
  SELECT coalesce(max(id), 0) + 1, $at, $who, $act, $what, $parts, $why FROM moderation_acts`
const RECORDS = 'SELECT at, who, act, what, parts, why FROM moderation_acts ORDER BY id'

function* record(act: RecordedAct): Tx<void> {
  yield* takeLock('LOCK TABLE moderation_acts IN EXCLUSIVE MODE')
  yield* changeRows('an act to record', RECORD, act)
}
