/** What the operator withholds of wallets, and what was done, by whom. */

import type { Address, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { AgentId } from '../../../server/domain/wall/log.ts'
import {
  visibleNames,
  type ModeratedWallet,
  type RecordedAct,
  type WalletAct,
  type WalletActResult,
} from '../../../server/domain/wall/moderation.ts'
import { changeRow } from '../../changes.ts'
import {
  afterAct,
  MODERATED_WALLETS,
  moderatedWallet,
  RECORDS,
  resultOf,
  unmoderated,
  type ModeratedAgent,
  type ModeratedWalletRow,
} from '../../moderated-agents.ts'
import { nextEntry } from '../counters.ts'
import type { Queries } from '../pool.ts'
import { amend, put, writeAll, type Reading, type Stored, type Work } from '../writes.ts'
import { findAgent } from './agent-rows.ts'

type AgentRow = Stored<'moderated_agents'> & ModeratedAgent

/** What is withheld of a wallet. Throws `StoreUnavailable` when its row is damaged. */
async function rowOf({ queries, check }: Reading, agent: AgentId): Promise<AgentRow | undefined> {
  const [row] = await queries.rows<AgentRow>('SELECT * FROM moderated_agents WHERE agent = $1', [agent])
  if (row !== undefined) check('moderated_agents', row)
  return row
}

export const isBanned = async (work: Work, agent: AgentId): Promise<boolean> => (await rowOf(work, agent))?.banned === 1

/** Does an act, and tells readers of it where it changes what they see; to be called under the lock of the wallet. */
export async function moderateWallet(
  work: Work,
  wallet: Address,
  act: WalletAct,
  now: UnixMs,
): Promise<WalletActResult> {
  const agent = await findAgent(work, wallet)
  if (agent === undefined) return { kind: 'unknown-wallet' }
  const row = await rowOf(work, agent.id)
  const before = row ?? unmoderated(agent.id)
  const after = afterAct(before, act)
  const result = resultOf(before, after)
  if (result.kind === 'unchanged') return result
  const kept = (through: number) =>
    row === undefined
      ? put('moderated_agents', { ...after, through })
      : amend('moderated_agents', row, { ...after, through })
  if (after.hidden === before.hidden) {
    await writeAll(work.queries, [kept(before.through)])
    return result
  }
  const { number, at } = await nextEntry(work.queries, now)
  const persona = visibleNames(agent, result.hidden)
  await writeAll(
    work.queries,
    [put('changes', changeRow({ number, at, kind: 'identity', agent: agent.id, ...persona })), kept(number)],
    true,
  )
  return result
}

/** Wallets of which something is withheld now. */
export const moderatedWallets = async ({ rows }: Queries): Promise<readonly ModeratedWallet[]> =>
  (await rows<ModeratedWalletRow>(MODERATED_WALLETS)).map(moderatedWallet)

/** Keeps an act on record. */
export async function record({ queries }: Work, { at, who, act, what, parts, why }: RecordedAct): Promise<void> {
  await queries.rows('LOCK TABLE moderation_acts IN EXCLUSIVE MODE')
  await queries.write(
    `INSERT INTO moderation_acts (id, at, who, act, what, parts, why)
     SELECT coalesce(max(id), 0) + 1, $1, $2, $3, $4, $5, $6 FROM moderation_acts RETURNING 1`,
    [at, who, act, what, parts, why],
  )
}

/** What is on record, oldest first. */
export const records = ({ rows }: Queries): Promise<readonly RecordedAct[]> => rows<RecordedAct>(RECORDS)
