/** Wallets that have bought, and what they say of themselves. */

import type { Address, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Identity, IdentityResult, NamingResult, PainterNaming } from '../../../server/domain/wall/edit.ts'
import type { AgentId } from '../../../server/domain/wall/log.ts'
import type { Agents } from '../../../server/ports.ts'
import { edited } from '../../edited.ts'
import type { Connection } from '../connection.ts'
import { nextEntry } from '../counters.ts'
import type { Work } from '../purchase/places.ts'
import { amend, put, writeAll, type Check, type Stored } from '../writes.ts'
import { keep, standing } from './edits.ts'
import { changeRow } from './log.ts'
import { nameForWallet } from './painters.ts'

/** A wallet with all of its columns. */
export type AgentRow = Stored<'agents'> & {
  readonly id: AgentId
  readonly name: string | null
  readonly framework: string | null
  readonly changed: number
}

/** The wallets' register. */
export function postgresAgents({ rows, transaction }: Connection, check: Check): Agents {
  return {
    knows: async (wallet) => (await rows('SELECT 1 FROM agents WHERE wallet = $1', [wallet])).length > 0,
    identify: (wallet, identity, now) =>
      transaction(wallet, (queries) => identify({ queries, check }, wallet, identity, now)),
    namePainter: (wallet, naming) => transaction(wallet, (queries) => namePainter({ queries, check }, wallet, naming)),
  }
}

/** A wallet that has bought. Throws `StoreUnavailable` when its row is damaged. */
export async function findAgent({ queries, check }: Work, wallet: string): Promise<AgentRow | undefined> {
  const [row] = await queries.rows<AgentRow>('SELECT * FROM agents WHERE wallet = $1', [wallet])
  if (row !== undefined) check('agents', row)
  return row
}

async function identify(work: Work, wallet: Address, identity: Identity, now: UnixMs): Promise<IdentityResult> {
  const agent = await findAgent(work, wallet)
  if (agent === undefined) return 'unknown-wallet'
  const subject = { block: null, agent: agent.id }
  const known = await standing(work.queries, subject, identity.digest, [agent.changed])
  if (known !== 'new') return known
  const persona = {
    name: edited(identity.name, agent.name),
    framework: edited(identity.framework, agent.framework),
  }
  const { number, at } = await nextEntry(work.queries, now, { forgetEdits: true })
  await writeAll(
    work.queries,
    [
      put('changes', changeRow({ number, at, kind: 'identity', agent: agent.id, ...persona })),
      amend('agents', agent, { ...persona, changed: number }),
      keep(subject, identity, number),
    ],
    true,
  )
  return 'applied'
}

async function namePainter(work: Work, wallet: Address, naming: PainterNaming): Promise<NamingResult> {
  const agent = await findAgent(work, wallet)
  return agent === undefined ? 'unknown-wallet' : await nameForWallet(work, agent.id, naming)
}
