/** What the operator withholds of wallets, and what was done, by whom; every function must be called inside a read or a transaction. */

import type { Address, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { AgentId } from '../../../server/domain/wall/log.ts'
import {
  visibleNames,
  type HiddenNames,
  type ModeratedWallet,
  type RecordedAct,
  type WalletAct,
  type WalletActResult,
} from '../../../server/domain/wall/moderation.ts'
import {
  afterAct,
  hiddenNamesOf,
  MODERATED_WALLETS,
  moderatedWallet,
  RECORDS,
  resultOf,
  unmoderated,
  type ModeratedAgent,
  type ModeratedWalletRow,
} from '../../moderated-agents.ts'
import type { Connection } from '../connection.ts'
import { findAgent } from './agent-rows.ts'
import { nextEntry, writeEntry } from './log.ts'

/** What is withheld of a wallet. Throws `StoreUnavailable` when its row is damaged. */
function rowOf({ prepare, check }: Connection, agent: AgentId): ModeratedAgent {
  check('moderated_agents', agent)
  const row = prepare<ModeratedAgent>(
    'SELECT agent, hidden, ever, through, banned FROM moderated_agents WHERE agent = $agent',
  )
  return row.get({ agent }) ?? unmoderated(agent)
}

/** What is withheld of a wallet's names. */
export const hiddenNames = (connection: Connection, agent: AgentId): HiddenNames =>
  hiddenNamesOf(rowOf(connection, agent).hidden)

export const isBanned = (connection: Connection, agent: AgentId): boolean => rowOf(connection, agent).banned === 1

/** Does an act, and tells readers of it where it changes what they see. */
export function moderateWallet(connection: Connection, wallet: Address, act: WalletAct, now: UnixMs): WalletActResult {
  const agent = findAgent(connection, wallet)
  if (agent === null) return { kind: 'unknown-wallet' }
  const before = rowOf(connection, agent.id)
  const after = afterAct(before, act)
  const result = resultOf(before, after)
  if (result.kind === 'unchanged') return result
  const keep = connection.prepare<unknown, ModeratedAgent>(KEEP)
  if (after.hidden === before.hidden) keep.run(after)
  else {
    const entry = nextEntry(connection, now)
    writeEntry(connection, { ...entry, kind: 'identity', agent: agent.id, ...visibleNames(agent, result.hidden) })
    keep.run({ ...after, through: entry.number })
  }
  return result
}

const KEEP = `
  INSERT INTO moderated_agents (agent, hidden, ever, through, banned) VALUES ($agent, $hidden, $ever, $through, $banned)
  ON CONFLICT (agent) DO UPDATE SET hidden = $hidden, ever = $ever, through = $through, banned = $banned`

/** Wallets of which something is withheld now. */
export const moderatedWallets = ({ prepare }: Connection): readonly ModeratedWallet[] =>
  prepare<ModeratedWalletRow>(MODERATED_WALLETS).all({}).map(moderatedWallet)

/** Keeps an act on record. */
export function record({ prepare }: Connection, act: RecordedAct): void {
  prepare(
    'INSERT INTO moderation_acts (at, who, act, what, parts, why) VALUES ($at, $who, $act, $what, $parts, $why)',
  ).run(act)
}

/** What is on record, oldest first. */
export const records = ({ prepare }: Connection): readonly RecordedAct[] => prepare<RecordedAct>(RECORDS).all({})
