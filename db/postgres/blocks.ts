/** Claimed blocks: who owns them, what they show, and their owners' edits. */

import type { Edit, EditResult } from '../../server/domain/edit.ts'
import type { OwnedBlock } from '../../server/domain/log.ts'
import { visible } from '../../server/domain/moderation.ts'
import type { Address, Hash, UnixMs } from '../../server/domain/payment.ts'
import type { Blocks } from '../../server/ports.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { edited } from '../edited.ts'
import { faceOf, hiddenOf, type FaceRow } from '../rows.ts'
import type { Connection } from './connection.ts'
import { nextEntry } from './counters.ts'
import { keep, standing } from './edits.ts'
import { lockBlock, type Work } from './holds.ts'
import { changeRow } from './log.ts'
import { hiddenParts } from './moderation.ts'
import { JOIN_PAINTERS, lastingPainterOf, painterIn, PAINTERS, type PainterRow } from './painters.ts'
import { amend, put, writeAll, type Check, type Stored } from './writes.ts'

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
  }

const OWNED = `
  SELECT b.*, a.wallet, a.name AS owner_name, a.framework AS owner_framework, p.claimed_at, p.tx, p.settled,
    coalesce(m.hidden, 0) AS hidden, ${PAINTERS}
  FROM blocks AS b JOIN agents AS a ON a.id = b.agent JOIN payments AS p ON p.id = b.payment
  LEFT JOIN moderated AS m ON m.block = b.i
  ${JOIN_PAINTERS}
  WHERE b.i = $1`

/** The blocks that somebody owns. */
export function postgresBlocks({ rows, transaction }: Connection, check: Check): Blocks {
  return {
    async owned(block) {
      const [row] = await rows<OwnedRow & PainterRow>(OWNED, [block])
      if (row === undefined) return undefined
      check('blocks', row)
      return ownedBlock(row, painterIn(check, row))
    },
    reserved: async (block) =>
      (await rows(`SELECT 1 FROM blocks WHERE i = $1 AND state = 'reserved'`, [block])).length > 0,
    edit: (block, edit, now) => transaction(null, (queries) => repaint({ queries, check }, block, edit, now)),
  }
}

const ownedBlock = (row: OwnedRow, painter: Address | null): OwnedBlock => ({
  block: row.i,
  wallet: row.wallet,
  persona: { name: row.owner_name, framework: row.owner_framework },
  face: visible(faceOf(row), hiddenOf(row.hidden)),
  claimedAt: row.claimed_at,
  tx: row.tx,
  settled: row.settled === 1,
  painter,
})

async function repaint(work: Work, block: BlockIndex, edit: Edit, now: UnixMs): Promise<EditResult> {
  const row = await lockBlock(work.queries, block)
  work.check('blocks', row)
  if (row.changed === null) return 'not-owned'
  const subject = { block, agent: null }
  const known = await standing(work.queries, subject, edit.digest, row.changed)
  if (known !== 'new') return known
  const before = faceOf(row)
  const face = {
    pixels: edited(edit.pixels, before.pixels),
    message: edited(edit.message, before.message),
    link: edited(edit.link, before.link),
  }
  const hidden = await hiddenParts(work, block)
  if (edit.painter !== null && edit.painter !== (await lastingPainterOf(work, block))) return 'not-painter'
  const { number, at } = await nextEntry(work.queries, now, { forgetEdits: true })
  await writeAll(
    work.queries,
    [
      put('changes', changeRow({ number, at, kind: 'repaint', block, ...visible(face, hidden) })),
      amend('blocks', row, { ...face, changed: number }),
      keep(subject, edit, number),
    ],
    true,
  )
  return 'applied'
}
