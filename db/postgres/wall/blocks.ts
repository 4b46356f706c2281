/** Claimed blocks: who owns them, what they show, and their owners' edits. */

import type { Address, Hash, UnixMs } from '../../../server/domain/purchase/payment.ts'
import { isOutrun, orderingTime, type Edit, type EditResult } from '../../../server/domain/wall/edit.ts'
import type { AreaOwner, OwnedBlock } from '../../../server/domain/wall/log.ts'
import { FACE_PARTS, saidParts, visible, visibleNames } from '../../../server/domain/wall/moderation.ts'
import type { Blocks } from '../../../server/ports.ts'
import { blocksOf } from '../../../shared/area.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { changeRow } from '../../changes.ts'
import { faceAfter } from '../../edits.ts'
import { hiddenNamesOf } from '../../moderated-agents.ts'
import { faceOf, hiddenOf, type FaceRow } from '../../rows.ts'
import type { Connection } from '../connection.ts'
import { nextEntry } from '../counters.ts'
import { lockBlocks, type BlockRow } from '../purchase/places.ts'
import { amendAll, putAll, writeAll, type Check, type Reading, type Stored, type Work } from '../writes.ts'
import { keep, standing } from './edits.ts'
import { hiddenParts, moderate } from './moderation.ts'
import { JOIN_PAINTERS, lastingPaintersOf, painterIn, PAINTERS, paintersOf, type PainterRow } from './painters.ts'
import { isBanned } from './wallet-moderation.ts'

type OwnedRow = FaceRow &
  Stored<'blocks'> & {
    readonly i: BlockIndex
    readonly wallet: Address
    readonly owner_name: string | null
    readonly owner_framework: string | null
    readonly claimed_at: UnixMs
    readonly tx: Hash
    readonly settled: 0 | 1
    readonly hidden: number
    readonly hidden_names: number
  }

const OWNED = `
  SELECT b.*, a.wallet, a.name AS owner_name, a.framework AS owner_framework, p.claimed_at, p.tx, p.settled,
    coalesce(m.hidden, 0) AS hidden, coalesce(n.hidden, 0) AS hidden_names, ${PAINTERS}
  FROM blocks AS b JOIN agents AS a ON a.id = b.agent JOIN payments AS p ON p.id = b.payment
  LEFT JOIN moderated AS m ON m.block = b.i LEFT JOIN moderated_agents AS n ON n.agent = b.agent
  ${JOIN_PAINTERS}
  WHERE b.i = $1`

const AREA = `
  SELECT b.*, a.wallet FROM blocks AS b LEFT JOIN agents AS a ON a.id = b.agent
  WHERE b.i = ANY ($1::integer[]) ORDER BY b.i`

/** The blocks that somebody owns. */
export function postgresBlocks({ rows, snapshot, transaction }: Connection, check: Check): Blocks {
  return {
    async owned(block) {
      const [row] = await rows<OwnedRow & PainterRow>(OWNED, [block])
      if (row === undefined) return undefined
      check('blocks', row)
      return ownedBlock(row, painterIn(check, row))
    },
    reserved: async (block) =>
      (await rows(`SELECT 1 FROM blocks WHERE i = $1 AND state = 'reserved'`, [block])).length > 0,
    edit: (block, edit, now) => transaction(null, (queries) => repaint({ queries, check }, [block], edit, now)),
    ownerOf: (area) => snapshot((queries) => ownerOf({ queries, check }, blocksOf(area))),
    editArea: (area, edit, now) =>
      transaction(null, (queries) => repaint({ queries, check }, blocksOf(area), edit, now)),
  }
}

const ownedBlock = (row: OwnedRow, painter: Address | null): OwnedBlock => ({
  block: row.i,
  wallet: row.wallet,
  persona: visibleNames({ name: row.owner_name, framework: row.owner_framework }, hiddenNamesOf(row.hidden_names)),
  face: visible(faceOf(row), hiddenOf(row.hidden)),
  claimedAt: row.claimed_at,
  tx: row.tx,
  settled: row.settled === 1,
  painter,
})

async function ownerOf({ queries, check }: Reading, blocks: readonly BlockIndex[]): Promise<AreaOwner> {
  const rows = await queries.rows<BlockRow & { readonly wallet: Address | null }>(AREA, [`{${blocks.join(', ')}}`])
  for (const { wallet: _, ...row } of rows) check('blocks', row)
  const unowned = rows.find(({ state }) => state !== 'claimed')
  if (unowned !== undefined) return { kind: unowned.state === 'open' ? 'open' : 'held', block: unowned.i }
  const [wallet, ...others] = new Set(rows.map((row) => row.wallet))
  if (wallet === null || wallet === undefined || others.length > 0) return { kind: 'several' }
  const [painter = null, ...otherPainters] = await paintersOf({ queries, check }, blocks)
  return { kind: 'owned', wallet, painter: otherPainters.length > 0 ? null : painter }
}

/** Repaints blocks, whose pixels follow each other in the edit; the first of them remembers its message. */
async function repaint(work: Work, blocks: readonly BlockIndex[], edit: Edit, now: UnixMs): Promise<EditResult> {
  const rows = await lockBlocks(work.queries, blocks)
  for (const row of rows) work.check('blocks', row)
  const changed = rows.flatMap((row) => row.changed ?? [])
  const [top] = rows
  if (top === undefined || changed.length < rows.length) return 'not-owned'
  const subject = { block: top.i, agent: null }
  const known = await standing(work.queries, subject, edit.digest, changed)
  if (known !== 'new') return known
  if (rows.some(({ signed_at }) => isOutrun(edit.ts, signed_at))) return 'superseded'
  const hidden = await hiddenParts(work, blocks)
  if (edit.painter !== null) {
    const [painter, ...others] = await lastingPaintersOf(work, blocks)
    if (painter !== edit.painter || others.length > 0) return 'not-painter'
  }
  const { number, at } = await nextEntry(work.queries, now, { forgetEdits: true, entries: rows.length })
  const signed_at = orderingTime(edit.ts, now)
  const faceOfRow = (row: BlockRow, place: number) => faceAfter(edit, place, faceOf(row))
  const entries = rows.map((row, place) => {
    const shown = visible(faceOfRow(row, place), hidden(row.i))
    return changeRow({ number: number + place, at, kind: 'repaint', block: row.i, ...shown })
  })
  await writeAll(
    work.queries,
    [
      ...putAll('changes', entries),
      ...amendAll('blocks', rows, (row, place) => ({ ...faceOfRow(row, place), changed: number + place, signed_at })),
      keep(subject, edit, number),
    ],
    true,
  )
  if (await isBanned(work, Number(top.agent)))
    for (const block of blocks) await moderate(work, block, 'hide', saidParts(FACE_PARTS, edit), now)
  return 'applied'
}
