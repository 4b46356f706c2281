/** Wallets that have bought, and what they say of themselves. */

import type { Address, UnixMs } from '../../../server/domain/purchase/payment.ts'
import {
  isOutrun,
  orderingTime,
  type Identity,
  type IdentityResult,
  type NamingResult,
  type PainterNaming,
} from '../../../server/domain/wall/edit.ts'
import { NAME_PARTS, saidParts } from '../../../server/domain/wall/moderation.ts'
import type { Agents } from '../../../server/ports.ts'
import { edited } from '../../edits.ts'
import { changeOne, type Connection } from '../connection.ts'
import { findAgent } from './agent-rows.ts'
import { keep, standing } from './edits.ts'
import { nextEntry, writeEntry } from './log.ts'
import { nameForWallet } from './painters.ts'
import { isBanned, moderateWallet } from './wallet-moderation.ts'

/** The wallets' register. */
export function sqliteAgents(connection: Connection): Agents {
  const { read, writeTogether } = connection
  const known = connection.prepare('SELECT 1 FROM agents WHERE wallet = $wallet')
  return {
    knows: async (wallet) => read(() => known.get({ wallet }) !== null),
    identify: async (wallet, identity, now) => writeTogether(() => identify(connection, wallet, identity, now)),
    namePainter: async (wallet, naming) => writeTogether(() => namePainter(connection, wallet, naming)),
  }
}

const RENAME = `
  UPDATE agents SET name = $name, framework = $framework, changed = $number, signed_at = $signedAt
  WHERE id = $id AND changed = $before`

function identify(connection: Connection, wallet: Address, identity: Identity, now: UnixMs): IdentityResult {
  const agent = findAgent(connection, wallet)
  if (agent === null) return 'unknown-wallet'
  const { id, changed: before } = agent
  const subject = { block: null, agent: id }
  const known = standing(connection, subject, identity.digest, [before])
  if (known !== 'new') return known
  if (isOutrun(identity.ts, agent.signed_at)) return 'superseded'
  const persona = {
    name: edited(identity.name, agent.name),
    framework: edited(identity.framework, agent.framework),
  }
  const { number, at } = nextEntry(connection, now)
  writeEntry(connection, { number, at, kind: 'identity', agent: id, ...persona })
  const signedAt = orderingTime(identity.ts, now)
  changeOne(connection.prepare(RENAME), { id, ...persona, number, signedAt, before }, 'a wallet to rename')
  keep(connection, subject, identity, number, now)
  if (isBanned(connection, id))
    moderateWallet(connection, wallet, { act: 'hide', parts: saidParts(NAME_PARTS, identity) }, now)
  return 'applied'
}

function namePainter(connection: Connection, wallet: Address, naming: PainterNaming): NamingResult {
  const agent = findAgent(connection, wallet)
  return agent === null ? 'unknown-wallet' : nameForWallet(connection, agent.id, naming)
}
