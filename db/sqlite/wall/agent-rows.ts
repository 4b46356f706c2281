/** Rows of wallets that have bought; every function must be called inside a read or a transaction. */

import type { Address } from '../../../server/domain/purchase/payment.ts'
import type { AgentId, LogNumber, Persona } from '../../../server/domain/wall/log.ts'
import { one, type Connection } from '../connection.ts'
import type { Entry } from './log.ts'

type AgentRow = Persona & { readonly id: AgentId; readonly changed: LogNumber }

/** Finds a wallet that has bought. Throws `StoreUnavailable` when its row is damaged. */
export function agentFinder(connection: Connection) {
  const find = connection.prepare<AgentRow, { wallet: Address }>(
    'SELECT id, name, framework, changed FROM agents WHERE wallet = $wallet',
  )
  return (wallet: Address): AgentRow | null => {
    const agent = find.get({ wallet })
    if (agent !== null) connection.check('agents', agent.id)
    return agent
  }
}

/** Enters a buyer at a sale: what the listing says of the wallet is its identity from then on, the rest stays. */
export function agentRegister(connection: Connection) {
  const upsert = connection.prepare<Omit<AgentRow, 'changed'>, Persona & Entry & { wallet: Address }>(`
    INSERT INTO agents (wallet, name, framework, first_seen_at, changed) VALUES ($wallet, $name, $framework, $at, $number)
    ON CONFLICT (wallet) DO UPDATE SET
      name = coalesce(excluded.name, name),
      framework = coalesce(excluded.framework, framework),
      changed = iif(excluded.name IS NULL AND excluded.framework IS NULL, changed, excluded.changed)
    RETURNING id, name, framework`)
  return (wallet: Address, { name, framework }: Persona, entry: Entry) => {
    const { id, ...persona } = one(upsert, { wallet, name, framework, ...entry })
    return { id, persona }
  }
}
