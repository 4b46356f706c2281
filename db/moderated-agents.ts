/** What is withheld of wallets, in rows; how an act changes a row, and what the log tells of names then. */

import type { Address } from '../server/domain/purchase/payment.ts'
import type { AgentId, Change, LogNumber } from '../server/domain/wall/log.ts'
import {
  NAME_PARTS,
  visibleNames,
  type HiddenNames,
  type ModeratedWallet,
  type NamePart,
  type WalletAct,
} from '../server/domain/wall/moderation.ts'

/** A row of `moderated_agents`. */
export type ModeratedAgent = {
  readonly agent: AgentId
  readonly hidden: number
  readonly ever: number
  readonly through: LogNumber
  readonly banned: 0 | 1
}

/** Of a wallet of which nothing was ever withheld. */
export const unmoderated = (agent: AgentId): ModeratedAgent => ({ agent, hidden: 0, ever: 0, through: 0, banned: 0 })

/** What is hidden, from a column of bits. */
export const hiddenNamesOf = (mask: number): HiddenNames => ({
  name: (mask & 1) !== 0,
  framework: (mask & 2) !== 0,
})

const maskOf = (parts: readonly NamePart[]): number =>
  NAME_PARTS.reduce((mask, part, at) => (parts.includes(part) ? mask | (1 << at) : mask), 0)

/** The row once an act is done, but for the entry that tells of it. */
export function afterAct(before: ModeratedAgent, act: WalletAct): ModeratedAgent {
  switch (act.act) {
    case 'ban':
      return { ...before, banned: 1 }
    case 'unban':
      return { ...before, banned: 0 }
    case 'hide': {
      const mask = maskOf(act.parts)
      return { ...before, hidden: before.hidden | mask, ever: before.ever | mask }
    }
    case 'unhide':
      return { ...before, hidden: before.hidden & ~maskOf(act.parts) }
  }
}

/** What an act did to a row, or that it did nothing. */
export const resultOf = (before: ModeratedAgent, { hidden, banned }: ModeratedAgent) => ({
  kind: hidden === before.hidden && banned === before.banned ? ('unchanged' as const) : ('applied' as const),
  hidden: hiddenNamesOf(hidden),
  isBanned: banned === 1,
})

/** Reads the wallets of which something is withheld now. */
export const MODERATED_WALLETS = `
  SELECT m.*, a.wallet FROM moderated_agents AS m JOIN agents AS a ON a.id = m.agent
  WHERE m.hidden > 0 OR m.banned = 1 ORDER BY m.agent`

/** A row of them. */
export type ModeratedWalletRow = ModeratedAgent & { readonly wallet: Address }

/** What such a row says. */
export const moderatedWallet = ({ wallet, hidden, banned }: ModeratedWalletRow): ModeratedWallet => ({
  wallet,
  hidden: hiddenNamesOf(hidden),
  isBanned: banned === 1,
})

/** Reads what is on record, oldest first. */
export const RECORDS = 'SELECT at, who, act, what, parts, why FROM moderation_acts ORDER BY id'

/** Entries as they are told: what is hidden of a wallet's names now, or was hidden after an entry was written, is left out. */
export function withoutNames(changes: readonly Change[], moderated: readonly ModeratedAgent[]): readonly Change[] {
  if (moderated.length === 0) return changes
  const rows = new Map(moderated.map((row) => [row.agent, row]))
  return changes.map((change) => {
    const row = 'agent' in change ? rows.get(change.agent) : undefined
    if (row === undefined || !('agent' in change)) return change
    const mask = row.hidden | (change.number < row.through ? row.ever : 0)
    const told = { ...change, persona: visibleNames(change.persona, hiddenNamesOf(mask)) }
    return told.kind === 'identity' && change.number === row.through
      ? { ...told, withheld: hiddenNamesOf(row.ever) }
      : told
  })
}
