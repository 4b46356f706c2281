/** Claimed blocks: who owns them, what they show, and their owners' edits. */

import type { Address, Hash, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Edit, EditResult } from '../../../server/domain/wall/edit.ts'
import type { AgentId, AreaOwner, LogNumber, OwnedBlock } from '../../../server/domain/wall/log.ts'
import { FACE_PARTS, saidParts, visible, visibleNames } from '../../../server/domain/wall/moderation.ts'
import type { Blocks } from '../../../server/ports.ts'
import { blocksOf } from '../../../shared/area.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { faceAfter } from '../../edits.ts'
import { faceOf, type FaceRow } from '../../rows.ts'
import { changeOne, one, type Connection } from '../connection.ts'
import { digests } from './edits.ts'
import { logWriter } from './log.ts'
import { blockModeration, hiddenParts } from './moderation.ts'
import { paintersOf } from './painters.ts'
import { hiddenNames, walletModeration } from './wallet-moderation.ts'

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
    edit: async (block, edit, now) => connection.writeTogether(() => repaint(sql, [block], edit, now)),
    ownerOf: async (area) => connection.read(() => ownerOf(sql, blocksOf(area))),
    editArea: async (area, edit, now) => connection.writeTogether(() => repaint(sql, blocksOf(area), edit, now)),
  }
}

type Sql = ReturnType<typeof statements>

function statements(connection: Connection) {
  return {
    owned: connection.prepare<OwnedRow, { block: number }>(`
      SELECT b.agent, b.payment, b.pixels, b.message, b.link, a.wallet, a.name, a.framework, p.claimed_at, p.tx, p.settled
      FROM blocks AS b JOIN agents AS a ON a.id = b.agent JOIN payments AS p ON p.id = b.payment
      WHERE b.i = $block`),
    wallet: connection.prepare<{ wallet: Address }, { agent: AgentId }>('SELECT wallet FROM agents WHERE id = $agent'),
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
    hiddenNames: hiddenNames(connection),
    moderate: blockModeration(connection),
    isBanned: walletModeration(connection).isBanned,
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
    persona: visibleNames({ name: row.name, framework: row.framework }, sql.hiddenNames(row.agent)),
    face: visible(faceOf(row), sql.hidden(block)),
    claimedAt: row.claimed_at,
    tx: row.tx,
    settled: row.settled === 1,
    painter: sql.painters.of(row.payment, row.agent),
  }
}

function ownerOf(sql: Sql, blocks: readonly BlockIndex[]): AreaOwner {
  const painterOf = eachOnce(sql)
  const owners = new Map<AgentId, Set<Address | null>>()
  for (const block of blocks) {
    sql.check('blocks', block)
    const row = sql.face.get({ block })
    if (row === null) return { kind: sql.reserved.get({ block }) === null ? 'open' : 'held', block }
    const painters = owners.get(row.agent) ?? new Set()
    owners.set(row.agent, painters.add(painterOf(row)))
  }
  const [owner, ...others] = owners
  if (owner === undefined || others.length > 0) return { kind: 'several' }
  const [agent, painters] = owner
  sql.check('agents', agent)
  const [painter = null, ...otherPainters] = painters
  return {
    kind: 'owned',
    wallet: one(sql.wallet, { agent }).wallet,
    painter: otherPainters.length > 0 ? null : painter,
  }
}

/** Who paints what was bought with a payment, looked up once for all of its blocks. */
function eachOnce(sql: Sql) {
  const known = new Map<number, Address | null>()
  return ({ payment, agent }: { readonly payment: number; readonly agent: AgentId }): Address | null => {
    const painter = known.has(payment) ? known.get(payment) : sql.painters.of(payment, agent)
    known.set(payment, painter ?? null)
    return painter ?? null
  }
}

/** Repaints blocks, whose pixels follow each other in the edit; the first of them remembers its message. */
function repaint(sql: Sql, blocks: readonly BlockIndex[], edit: Edit, now: UnixMs): EditResult {
  const before = blocks.flatMap((block) => {
    sql.check('blocks', block)
    const row = sql.face.get({ block })
    return row === null ? [] : [{ block, row }]
  })
  const [top] = before
  if (top === undefined || before.length < blocks.length) return 'not-owned'
  const subject = { block: top.block, agent: null }
  const standing = sql.digests.standing(
    subject,
    edit.digest,
    before.map(({ row }) => row.changed),
  )
  if (standing !== 'new') return standing
  const painterOf = eachOnce(sql)
  if (edit.painter !== null && !before.every(({ row }) => edit.painter === painterOf(row))) return 'not-painter'
  const first = sql.log.next(now)
  for (const [at, { block, row }] of before.entries()) {
    const entry = { ...first, number: first.number + at }
    const face = faceAfter(edit, at, faceOf(row))
    sql.log.write({ ...entry, kind: 'repaint', block, ...visible(face, sql.hidden(block)) })
    changeOne(sql.repaint, { block, ...face, number: entry.number, before: row.changed }, 'a block to repaint')
  }
  sql.digests.keep(subject, edit, first.number, now)
  if (sql.isBanned(top.row.agent))
    for (const block of blocks) sql.moderate(block, 'hide', saidParts(FACE_PARTS, edit), now)
  return 'applied'
}
