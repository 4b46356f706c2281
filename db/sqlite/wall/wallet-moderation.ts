/** What the operator withholds of wallets, and what was done, by whom. Every function must be called inside a read or a transaction. */

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
import { agentFinder } from './agent-rows.ts'
import { logWriter } from './log.ts'

/** The operator's hand on wallets. */
export function walletModeration(connection: Connection) {
  const of = moderatedAgent(connection)
  const find = agentFinder(connection)
  const keep = connection.prepare<unknown, ModeratedAgent>(`
    INSERT INTO moderated_agents (agent, hidden, ever, through, banned) VALUES ($agent, $hidden, $ever, $through, $banned)
    ON CONFLICT (agent) DO UPDATE SET hidden = $hidden, ever = $ever, through = $through, banned = $banned`)
  const standing = connection.prepare<ModeratedWalletRow>(MODERATED_WALLETS)
  const record = connection.prepare<unknown, RecordedAct>(
    'INSERT INTO moderation_acts (at, who, act, what, parts, why) VALUES ($at, $who, $act, $what, $parts, $why)',
  )
  const records = connection.prepare<RecordedAct>(RECORDS)
  const log = logWriter(connection)
  return {
    isBanned: (agent: AgentId): boolean => of(agent).banned === 1,
    /** Does an act, and tells readers of it where it changes what they see. */
    moderate(wallet: Address, act: WalletAct, now: UnixMs): WalletActResult {
      const agent = find(wallet)
      if (agent === null) return { kind: 'unknown-wallet' }
      const before = of(agent.id)
      const after = afterAct(before, act)
      const result = resultOf(before, after)
      if (result.kind === 'unchanged') return result
      if (after.hidden === before.hidden) keep.run(after)
      else {
        const entry = log.next(now)
        log.write({ ...entry, kind: 'identity', agent: agent.id, ...visibleNames(agent, result.hidden) })
        keep.run({ ...after, through: entry.number })
      }
      return result
    },
    wallets: (): readonly ModeratedWallet[] => standing.all({}).map(moderatedWallet),
    record: (act: RecordedAct): void => {
      record.run(act)
    },
    records: (): readonly RecordedAct[] => records.all({}),
  }
}

/** Tells what is withheld of a wallet's names. */
export function hiddenNames(connection: Connection): (agent: AgentId) => HiddenNames {
  const of = moderatedAgent(connection)
  return (agent) => hiddenNamesOf(of(agent).hidden)
}

function moderatedAgent(connection: Connection): (agent: AgentId) => ModeratedAgent {
  const find = connection.prepare<ModeratedAgent, { agent: AgentId }>(
    'SELECT agent, hidden, ever, through, banned FROM moderated_agents WHERE agent = $agent',
  )
  return (agent) => {
    connection.check('moderated_agents', agent)
    return find.get({ agent }) ?? unmoderated(agent)
  }
}
