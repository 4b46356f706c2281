/** Claimed blocks: who owns them, what they show, and their owners' edits. */

import type { Edit, EditResult } from '../../server/domain/edit.ts'
import type { AgentId, LogNumber, OwnedBlock } from '../../server/domain/log.ts'
import { visible } from '../../server/domain/moderation.ts'
import type { Address, Hash, UnixMs } from '../../server/domain/payment.ts'
import type { Blocks } from '../../server/ports.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { edited } from '../edited.ts'
import { faceOf, type FaceRow } from '../rows.ts'
import { changeOne, type Connection } from './connection.ts'
import { digests } from './edits.ts'
import { logWriter } from './log.ts'
import { hiddenParts } from './moderation.ts'
import { paintersOf } from './painters.ts'

type OwnedRow = FaceRow & {
  readonly agent: number
  readonly payment: number
  readonly wallet: Address
  readonly name: string | null
  readonly framework: string | null
  readonly claimed_at: UnixMs
  readonly tx: Hash
  readonly settled: 0 | 1
}

/** The blocks that somebody owns. */
export function sqliteBlocks(connection: Connection): Blocks {
  const sql = statements(connection)
  return {
    owned: async (block) => connection.read(() => owned(sql, block)),
    reserved: async (block) => connection.read(() => sql.reserved.get({ block }) !== null),
    edit: async (block, edit, now) => connection.writeTogether(() => repaint(sql, block, edit, now)),
  }
}

type Sql = ReturnType<typeof statements>

function statements(connection: Connection) {
  return {
    owned: connection.prepare<OwnedRow, { block: number }>(`
      SELECT b.agent, b.payment, b.pixels, b.message, b.link, a.wallet, a.name, a.framework, p.claimed_at, p.tx, p.settled
      FROM blocks AS b JOIN agents AS a ON a.id = b.agent JOIN payments AS p ON p.id = b.payment
      WHERE b.i = $block`),
    reserved: connection.prepare<unknown, { block: number }>(
      `SELECT 1 FROM blocks WHERE i = $block AND state = 'reserved'`,
    ),
    face: connection.prepare<FaceRow & { changed: LogNumber; payment: number; agent: AgentId }, { block: number }>(
      `SELECT pixels, message, link, changed, payment, agent FROM blocks WHERE i = $block AND state = 'claimed'`,
    ),
    repaint: connection.prepare<unknown, FaceRow & { block: number; number: number; before: number }>(`
      UPDATE blocks SET pixels = $pixels, message = $message, link = $link, changed = $number
      WHERE i = $block AND state = 'claimed' AND changed = $before`),
    hidden: hiddenParts(connection),
    painters: paintersOf(connection),
    digests: digests(connection),
    log: logWriter(connection),
    check: connection.check,
  }
}

function owned(sql: Sql, block: BlockIndex): OwnedBlock | undefined {
  sql.check('blocks', block)
  const row = sql.owned.get({ block })
  if (row === null) return undefined
  sql.check('agents', row.agent)
  sql.check('payments', row.payment)
  return {
    block,
    wallet: row.wallet,
    persona: { name: row.name, framework: row.framework },
    face: visible(faceOf(row), sql.hidden(block)),
    claimedAt: row.claimed_at,
    tx: row.tx,
    settled: row.settled === 1,
    painter: sql.painters.of(row.payment, row.agent),
  }
}

function repaint(sql: Sql, block: BlockIndex, edit: Edit, now: UnixMs): EditResult {
  sql.check('blocks', block)
  const row = sql.face.get({ block })
  if (row === null) return 'not-owned'
  const standing = sql.digests.standing({ block, agent: null }, edit.digest, row.changed)
  if (standing !== 'new') return standing
  if (edit.painter !== null && edit.painter !== sql.painters.of(row.payment, row.agent)) return 'not-painter'
  const before = faceOf(row)
  const face = {
    pixels: edited(edit.pixels, before.pixels),
    message: edited(edit.message, before.message),
    link: edited(edit.link, before.link),
  }
  const entry = sql.log.next(now)
  sql.log.repaint(entry, block, visible(face, sql.hidden(block)))
  changeOne(sql.repaint, { block, ...face, number: entry.number, before: row.changed }, 'a block to repaint')
  sql.digests.keep({ block, agent: null }, edit, entry.number, now)
  return 'applied'
}
