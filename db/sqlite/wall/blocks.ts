/** Claimed blocks: who owns them, what they show, and their owners' edits. */

import type { Address, Hash, UnixMs } from '../../../server/domain/purchase/payment.ts'
import { isOutrun, orderingTime, type Edit, type EditResult } from '../../../server/domain/wall/edit.ts'
import type { AgentId, AreaOwner, LogNumber, OwnedBlock } from '../../../server/domain/wall/log.ts'
import { FACE_PARTS, saidParts, visible, visibleNames } from '../../../server/domain/wall/moderation.ts'
import type { Blocks } from '../../../server/ports.ts'
import { blocksOf } from '../../../shared/area.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { faceAfter } from '../../edits.ts'
import { faceOf, type FaceRow } from '../../rows.ts'
import { changeOne, one, type Connection } from '../connection.ts'
import { keep, standing } from './edits.ts'
import { nextEntry, writeEntry } from './log.ts'
import { hiddenParts, moderate } from './moderation.ts'
import { painterOf } from './painters.ts'
import { hiddenNames, isBanned } from './wallet-moderation.ts'

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

type ClaimedRow = FaceRow & {
  readonly changed: LogNumber
  readonly payment: number
  readonly agent: AgentId
  readonly signed_at: UnixMs | null
}

const OWNED = `
  SELECT b.agent, b.payment, b.pixels, b.message, b.link, a.wallet, a.name, a.framework, p.claimed_at, p.tx, p.settled
  FROM blocks AS b JOIN agents AS a ON a.id = b.agent JOIN payments AS p ON p.id = b.payment
  WHERE b.i = $block`

const REPAINT = `
  UPDATE blocks SET pixels = $pixels, message = $message, link = $link, changed = $number, signed_at = $signedAt
  WHERE i = $block AND state = 'claimed' AND changed = $before`

/** The blocks that somebody owns. */
export function sqliteBlocks(connection: Connection): Blocks {
  const { read, writeTogether } = connection
  return {
    owned: async (block) => read(() => owned(connection, block)),
    reserved: async (block) => read(() => isReserved(connection, block)),
    edit: async (block, edit, now) => writeTogether(() => repaint(connection, [block], edit, now)),
    ownerOf: async (area) => read(() => ownerOf(connection, blocksOf(area))),
    editArea: async (area, edit, now) => writeTogether(() => repaint(connection, blocksOf(area), edit, now)),
  }
}

const isReserved = ({ prepare }: Connection, block: BlockIndex): boolean =>
  prepare(`SELECT 1 FROM blocks WHERE i = $block AND state = 'reserved'`).get({ block }) !== null

/** A block that somebody owns. Throws `StoreUnavailable` when its row is damaged. */
function claimed({ prepare, check }: Connection, block: BlockIndex): ClaimedRow | null {
  check('blocks', block)
  return prepare<ClaimedRow>(
    `SELECT pixels, message, link, changed, payment, agent, signed_at FROM blocks WHERE i = $block AND state = 'claimed'`,
  ).get({ block })
}

function owned(connection: Connection, block: BlockIndex): OwnedBlock | undefined {
  connection.check('blocks', block)
  const row = connection.prepare<OwnedRow>(OWNED).get({ block })
  if (row === null) return undefined
  connection.check('agents', row.agent)
  connection.check('payments', row.payment)
  return {
    block,
    wallet: row.wallet,
    persona: visibleNames({ name: row.name, framework: row.framework }, hiddenNames(connection, row.agent)),
    face: visible(faceOf(row), hiddenParts(connection, block)),
    claimedAt: row.claimed_at,
    tx: row.tx,
    settled: row.settled === 1,
    painter: painterOf(connection, row.payment, row.agent),
  }
}

function ownerOf(connection: Connection, blocks: readonly BlockIndex[]): AreaOwner {
  const painterOfRow = eachOnce(connection)
  const owners = new Map<AgentId, Set<Address | null>>()
  for (const block of blocks) {
    const row = claimed(connection, block)
    if (row === null) return { kind: isReserved(connection, block) ? 'held' : 'open', block }
    const painters = owners.get(row.agent) ?? new Set()
    owners.set(row.agent, painters.add(painterOfRow(row)))
  }
  const [owner, ...others] = owners
  if (owner === undefined || others.length > 0) return { kind: 'several' }
  const [agent, painters] = owner
  connection.check('agents', agent)
  const { wallet } = one(connection.prepare<{ wallet: Address }>('SELECT wallet FROM agents WHERE id = $agent'), {
    agent,
  })
  const [painter = null, ...otherPainters] = painters
  return { kind: 'owned', wallet, painter: otherPainters.length > 0 ? null : painter }
}

/** Who paints what was bought with a payment, looked up once for all of its blocks. */
function eachOnce(connection: Connection) {
  const known = new Map<number, Address | null>()
  return ({ payment, agent }: ClaimedRow): Address | null => {
    const painter = known.get(payment)
    if (painter !== undefined) return painter
    const found = painterOf(connection, payment, agent)
    known.set(payment, found)
    return found
  }
}

/** Repaints blocks, whose pixels follow each other in the edit; the first of them remembers its message. */
function repaint(connection: Connection, blocks: readonly BlockIndex[], edit: Edit, now: UnixMs): EditResult {
  const before = blocks.flatMap((block) => {
    const row = claimed(connection, block)
    return row === null ? [] : [{ block, row }]
  })
  const [top] = before
  if (top === undefined || before.length < blocks.length) return 'not-owned'
  const subject = { block: top.block, agent: null }
  const changed = before.map(({ row }) => row.changed)
  const known = standing(connection, subject, edit.digest, changed)
  if (known !== 'new') return known
  if (before.some(({ row }) => isOutrun(edit.ts, row.signed_at))) return 'superseded'
  const painterOfRow = eachOnce(connection)
  if (edit.painter !== null && !before.every(({ row }) => edit.painter === painterOfRow(row))) return 'not-painter'
  const first = nextEntry(connection, now)
  const write = connection.prepare(REPAINT)
  const signedAt = orderingTime(edit.ts, now)
  for (const [place, { block, row }] of before.entries()) {
    const entry = { ...first, number: first.number + place }
    const face = faceAfter(edit, place, faceOf(row))
    writeEntry(connection, { ...entry, kind: 'repaint', block, ...visible(face, hiddenParts(connection, block)) })
    const values = { block, ...face, number: entry.number, signedAt, before: row.changed }
    changeOne(write, values, 'a block to repaint')
  }
  keep(connection, subject, edit, first.number, now)
  if (isBanned(connection, top.row.agent))
    for (const block of blocks) moderate(connection, block, 'hide', saidParts(FACE_PARTS, edit), now)
  return 'applied'
}
