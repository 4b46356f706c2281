/** Hidden names and bans of wallets: the operator's actions, and their effect on names in the log. */

import type { Address, UnixMs } from '../../server/domain/purchase/payment.ts'
import type { AgentId, Change, LogNumber } from '../../server/domain/wall/log.ts'
import {
  applyWalletAct,
  NAME_PARTS,
  hidesSameNames,
  UNMODERATED,
  omitHiddenNames,
  type HiddenNames,
  type ModeratedWallet,
  type WalletAct,
  type WalletActResult,
  type WalletState,
} from '../../server/domain/wall/moderation.ts'
import type { Agent } from '../rows.ts'
import { changeRows, queryFirst, queryRows, runTogether, type Tx } from '../tx.ts'
import { takeNextEntry, writeEntry } from './log.ts'

/** A row of `moderated_agents`. */
export type ModeratedAgent = {
  readonly agent: AgentId
  readonly hidden: number
  readonly ever: number
  readonly through: LogNumber
  readonly banned: 0 | 1
}

/** The hidden names, from a column of bits. */
export const toHiddenNames = (mask: number): HiddenNames => ({
  name: (mask & 1) !== 0,
  framework: (mask & 2) !== 0,
})

const toMask = (hidden: HiddenNames): number =>
  NAME_PARTS.reduce((mask, part, at) => (hidden[part] ? mask | (1 << at) : mask), 0)

/** The moderation of a wallet, and the number of the last entry that hid or showed one of its names; 0 for none. */
export type AgentModeration = WalletState & { readonly through: LogNumber }

const FIND = 'SELECT agent, hidden, ever, through, banned FROM moderated_agents WHERE agent = $agent'

/** The moderation of a wallet. Throws `StoreUnavailable` if its row is damaged. */
export function* readModeration(agent: AgentId): Tx<AgentModeration> {
  const row = yield* queryFirst<ModeratedAgent>(FIND, { agent }, { moderated_agents: 'agent' })
  if (row === undefined) return { ...UNMODERATED, through: 0 }
  const { hidden, ever, through, banned } = row
  return { hidden: toHiddenNames(hidden), everHidden: toHiddenNames(ever), isBanned: banned === 1, through }
}

const KEEP = `
  INSERT INTO moderated_agents (agent, hidden, ever, through, banned) VALUES ($agent, $hidden, $ever, $through, $banned)
  ON CONFLICT (agent) DO UPDATE SET
    hidden = excluded.hidden, ever = excluded.ever, through = excluded.through, banned = excluded.banned`

const storeModeration = (
  agent: AgentId,
  { hidden, everHidden, isBanned: banned, through }: AgentModeration,
): Tx<void> =>
  changeRows('hidden names to store', KEEP, {
    agent,
    hidden: toMask(hidden),
    ever: toMask(everHidden),
    banned,
    through,
  })

/**
 * Applies an action, and adds it to the log if it changes what readers see; must be called under the lock of the
 * wallet.
 */
export function* moderateAgent(agent: Agent, act: WalletAct, now: UnixMs): Tx<WalletActResult> {
  const before = yield* readModeration(agent.id)
  const after = { ...applyWalletAct(before, act), through: before.through }
  const { hidden, isBanned } = after
  const hidesTheSame = hidesSameNames(hidden, before.hidden)
  if (hidesTheSame && isBanned === before.isBanned) return { kind: 'unchanged', hidden, isBanned }
  if (hidesTheSame) yield* storeModeration(agent.id, after)
  else {
    const { number, at } = yield* takeNextEntry(now)
    yield* runTogether(
      writeEntry({ number, at, kind: 'identity', agent: agent.id, ...omitHiddenNames(agent, hidden) }),
      storeModeration(agent.id, { ...after, through: number }),
    )
  }
  return { kind: 'applied', hidden, isBanned }
}

const MODERATED = `
  SELECT m.hidden, m.banned, a.wallet FROM moderated_agents AS m JOIN agents AS a ON a.id = m.agent
  WHERE m.hidden > 0 OR m.banned = 1 ORDER BY m.agent`

/** Wallets with hidden names or a ban. */
export function* listModeratedWallets(): Tx<readonly ModeratedWallet[]> {
  const found = yield* queryRows<Pick<ModeratedAgent, 'hidden' | 'banned'> & { readonly wallet: Address }>(MODERATED)
  return found.map(({ wallet, hidden, banned }) => ({ wallet, hidden: toHiddenNames(hidden), isBanned: banned === 1 }))
}

/**
 * Returns entries as readers get them, without names that are hidden now or were hidden after their entry was written.
 */
export function omitModeratedNames(
  changes: readonly Change[],
  moderated: readonly ModeratedAgent[],
): readonly Change[] {
  if (moderated.length === 0) return changes
  const rows = new Map(moderated.map((row) => [row.agent, row]))
  return changes.map((change) => {
    const row = 'agent' in change ? rows.get(change.agent) : undefined
    if (row === undefined || !('agent' in change)) return change
    const mask = row.hidden | (change.number < row.through ? row.ever : 0)
    const visible = { ...change, profile: omitHiddenNames(change.profile, toHiddenNames(mask)) }
    return visible.kind === 'identity' && change.number === row.through
      ? { ...visible, withheld: toHiddenNames(row.ever) }
      : visible
  })
}
