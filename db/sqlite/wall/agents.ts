/** Wallets that have bought, and what they say of themselves. */

import type { Address, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Identity, IdentityResult, NamingResult, PainterNaming } from '../../../server/domain/wall/edit.ts'
import type { Persona } from '../../../server/domain/wall/log.ts'
import { NAME_PARTS, saidParts } from '../../../server/domain/wall/moderation.ts'
import type { Agents } from '../../../server/ports.ts'
import { edited } from '../../edits.ts'
import { changeOne, type Connection } from '../connection.ts'
import { agentFinder } from './agent-rows.ts'
import { digests } from './edits.ts'
import { logWriter } from './log.ts'
import { paintersOf } from './painters.ts'
import { walletModeration } from './wallet-moderation.ts'

/** The wallets' register. */
export function sqliteAgents(connection: Connection): Agents {
  const sql = statements(connection)
  return {
    knows: async (wallet) => connection.read(() => sql.isKnown.get({ wallet }) !== null),
    identify: async (wallet, identity, now) => connection.writeTogether(() => identify(sql, wallet, identity, now)),
    namePainter: async (wallet, naming) => connection.writeTogether(() => namePainter(sql, wallet, naming)),
  }
}

type Sql = ReturnType<typeof statements>

function statements(connection: Connection) {
  return {
    isKnown: connection.prepare<unknown, { wallet: Address }>('SELECT 1 FROM agents WHERE wallet = $wallet'),
    find: agentFinder(connection),
    rename: connection.prepare<unknown, Persona & { id: number; number: number; before: number }>(
      `UPDATE agents SET name = $name, framework = $framework, changed = $number
       WHERE id = $id AND changed = $before`,
    ),
    digests: digests(connection),
    painters: paintersOf(connection),
    wallets: walletModeration(connection),
    log: logWriter(connection),
  }
}

function identify(sql: Sql, wallet: Address, identity: Identity, now: UnixMs): IdentityResult {
  const agent = sql.find(wallet)
  if (agent === null) return 'unknown-wallet'
  const { id, changed: before } = agent
  const standing = sql.digests.standing({ block: null, agent: id }, identity.digest, [before])
  if (standing !== 'new') return standing
  const persona = {
    name: edited(identity.name, agent.name),
    framework: edited(identity.framework, agent.framework),
  }
  const entry = sql.log.next(now)
  sql.log.write({ ...entry, kind: 'identity', agent: id, ...persona })
  changeOne(sql.rename, { id, ...persona, number: entry.number, before }, 'a wallet to rename')
  sql.digests.keep({ block: null, agent: id }, identity, entry.number, now)
  if (sql.wallets.isBanned(id))
    sql.wallets.moderate(wallet, { act: 'hide', parts: saidParts(NAME_PARTS, identity) }, now)
  return 'applied'
}

function namePainter(sql: Sql, wallet: Address, naming: PainterNaming): NamingResult {
  const agent = sql.find(wallet)
  return agent === null ? 'unknown-wallet' : sql.painters.nameForWallet(agent.id, naming)
}
