/** Wallets that have bought, and what they say of themselves. */

import type { Address, UnixMs } from '../../../server/domain/purchase/payment.ts'
import {
  isOutrun,
  orderingTime,
  type Identity,
  type IdentityResult,
  type NamingResult,
  type PainterNaming,
} from '../../../server/domain/wall/edit.ts'
import { NAME_PARTS, saidParts } from '../../../server/domain/wall/moderation.ts'
import type { Agents } from '../../../server/ports.ts'
import { changeRow } from '../../changes.ts'
import { edited } from '../../edits.ts'
import type { Connection } from '../connection.ts'
import { nextEntry } from '../counters.ts'
import { amend, put, writeAll, type Check, type Work } from '../writes.ts'
import { findAgent } from './agent-rows.ts'
import { keep, standing } from './edits.ts'
import { nameForWallet } from './painters.ts'
import { isBanned, moderateWallet } from './wallet-moderation.ts'

/** The wallets' register. */
export function postgresAgents({ rows, transaction }: Connection, check: Check): Agents {
  return {
    knows: async (wallet) => (await rows('SELECT 1 FROM agents WHERE wallet = $1', [wallet])).length > 0,
    identify: (wallet, identity, now) =>
      transaction(wallet, (queries) => identify({ queries, check }, wallet, identity, now)),
    namePainter: (wallet, naming) => transaction(wallet, (queries) => namePainter({ queries, check }, wallet, naming)),
  }
}

async function identify(work: Work, wallet: Address, identity: Identity, now: UnixMs): Promise<IdentityResult> {
  const agent = await findAgent(work, wallet)
  if (agent === undefined) return 'unknown-wallet'
  const subject = { block: null, agent: agent.id }
  const known = await standing(work.queries, subject, identity.digest, [agent.changed])
  if (known !== 'new') return known
  if (isOutrun(identity.ts, agent.signed_at)) return 'superseded'
  const persona = {
    name: edited(identity.name, agent.name),
    framework: edited(identity.framework, agent.framework),
  }
  const { number, at } = await nextEntry(work.queries, now, { forgetEdits: true })
  await writeAll(
    work.queries,
    [
      put('changes', changeRow({ number, at, kind: 'identity', agent: agent.id, ...persona })),
      amend('agents', agent, { ...persona, changed: number, signed_at: orderingTime(identity.ts, now) }),
      keep(subject, identity, number),
    ],
    true,
  )
  if (await isBanned(work, agent.id))
    await moderateWallet(work, wallet, { act: 'hide', parts: saidParts(NAME_PARTS, identity) }, now)
  return 'applied'
}

async function namePainter(work: Work, wallet: Address, naming: PainterNaming): Promise<NamingResult> {
  const agent = await findAgent(work, wallet)
  return agent === undefined ? 'unknown-wallet' : await nameForWallet(work, agent.id, naming)
}
