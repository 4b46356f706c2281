/** Rows of wallets that have bought. */

import type { Address } from '../../../server/domain/purchase/payment.ts'
import type { AgentId } from '../../../server/domain/wall/log.ts'
import type { Work } from '../purchase/places.ts'
import type { Stored } from '../writes.ts'

/** A wallet with all of its columns. */
export type AgentRow = Stored<'agents'> & {
  readonly id: AgentId
  readonly wallet: Address
  readonly name: string | null
  readonly framework: string | null
  readonly changed: number
}

/** A wallet that has bought. Throws `StoreUnavailable` when its row is damaged. */
export async function findAgent({ queries, check }: Work, wallet: string): Promise<AgentRow | undefined> {
  const [row] = await queries.rows<AgentRow>('SELECT * FROM agents WHERE wallet = $1', [wallet])
  if (row !== undefined) check('agents', row)
  return row
}
