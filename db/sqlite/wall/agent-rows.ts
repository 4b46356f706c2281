/** Rows of wallets that have bought; every function must be called inside a read or a transaction. */

import type { Address, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { AgentId, LogNumber, Persona } from '../../../server/domain/wall/log.ts'
import { one, type Connection } from '../connection.ts'
import type { Entry } from './log.ts'

type AgentRow = Persona & { readonly id: AgentId; readonly changed: LogNumber; readonly signed_at: UnixMs | null }

/** A wallet that has bought. Throws `StoreUnavailable` when its row is damaged. */
export function findAgent({ prepare, check }: Connection, wallet: Address): AgentRow | null {
  const agent = prepare<AgentRow>(
    'SELECT id, name, framework, changed, signed_at FROM agents WHERE wallet = $wallet',
  ).get({
    wallet,
  })
  if (agent !== null) check('agents', agent.id)
  return agent
}

/** Enters a buyer at a sale: what the listing says of the wallet is its identity from then on, the rest stays. */
export function enterAgent({ prepare }: Connection, wallet: Address, { name, framework }: Persona, entry: Entry) {
  const { id, ...persona } = one(prepare<Omit<AgentRow, 'changed' | 'signed_at'>>(ENTER), {
    wallet,
    name,
    framework,
    ...entry,
  })
  return { id, persona }
}

const ENTER = `
  INSERT INTO agents (wallet, name, framework, first_seen_at, changed) VALUES ($wallet, $name, $framework, $at, $number)
  ON CONFLICT (wallet) DO UPDATE SET
    name = coalesce(excluded.name, name),
    framework = coalesce(excluded.framework, framework),
    changed = iif(excluded.name IS NULL AND excluded.framework IS NULL, changed, excluded.changed)
  RETURNING id, name, framework`
