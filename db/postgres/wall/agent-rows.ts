/** Rows of wallets that have bought. */

import type { Address, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { AgentId, Persona } from '../../../server/domain/wall/log.ts'
import type { SummedRow } from '../../row-checksums.ts'
import type { Entry } from '../counters.ts'
import type { Stored, Work } from '../writes.ts'

/** A wallet with all of its columns. */
export type AgentRow = Stored<'agents'> & {
  readonly id: AgentId
  readonly wallet: Address
  readonly name: string | null
  readonly framework: string | null
  readonly changed: number
  readonly signed_at: UnixMs | null
}

/** A wallet that has bought. Throws `StoreUnavailable` when its row is damaged. */
export async function findAgent({ queries, check }: Work, wallet: string): Promise<AgentRow | undefined> {
  const [row] = await queries.rows<AgentRow>('SELECT * FROM agents WHERE wallet = $1', [wallet])
  if (row !== undefined) check('agents', row)
  return row
}

/** The row of a buyer after a sale: what the listing says of the wallet is its identity from then on, the rest stays. */
export function agentAfter(
  { payer, name, framework }: Persona & Pick<SummedRow<'payments'>, 'payer'>,
  before: AgentRow | undefined,
  { number, at, agent }: Entry,
): SummedRow<'agents'> & Persona & { readonly id: AgentId } {
  if (before === undefined) return { id: agent, wallet: payer, name, framework, first_seen_at: at, changed: number }
  const isSilent = name === null && framework === null
  return {
    ...before,
    name: name ?? before.name,
    framework: framework ?? before.framework,
    changed: isSilent ? before.changed : number,
  }
}
