/** Wallets that have bought, and their names. */

import type { Address, UnixMs } from '../../server/domain/purchase/payment.ts'
import {
  applyFieldEdit,
  isSignedBeforeLatest,
  computeOrderingTime,
  classifyMessage,
  type Identity,
  type IdentityResult,
  type NamingResult,
  type PainterNaming,
} from '../../server/domain/wall/edit.ts'
import { NAME_PARTS, pickGivenParts } from '../../server/domain/wall/moderation.ts'
import type { Agents } from '../../server/ports.ts'
import type { Agent } from '../rows.ts'
import { changeRows, queryFirst, queryRows, runTogether, type Driver, type Tx } from '../tx.ts'
import { findFirstChange, storeMessage } from './edits.ts'
import { takeNextEntry, writeEntry, type Entry } from './log.ts'
import { moderateAgent, readModeration } from './moderated-agents.ts'
import { storeWalletPainter } from './painters.ts'

/** The register of a store's wallets. */
export const createAgents = ({ query, writeTogether }: Driver): Agents => ({
  isKnown: async (wallet) => (await query(() => queryRows(KNOWS, { wallet }))).length > 0,
  register: (wallet, identity, now) => writeTogether([wallet], () => applyRegistration(wallet, identity, now)),
  namePainter: (wallet, naming) => writeTogether([wallet], () => namePainter(wallet, naming)),
})

const KNOWS = 'SELECT 1 FROM agents WHERE wallet = $wallet'
const FIND = 'SELECT id, wallet, name, framework, changed, signed_at FROM agents WHERE wallet = $wallet'

/**
 * Finds a wallet that has bought a block; `undefined` for any other wallet. Throws `StoreUnavailable` if its row is
 * damaged.
 */
export const findAgent = (wallet: Address): Tx<Agent | undefined> =>
  queryFirst<Agent>(FIND, { wallet }, { agents: 'id' })

const INSERT = `
  INSERT INTO agents (id, wallet, name, framework, first_seen_at, changed)
  VALUES ($id, $wallet, $name, $framework, $at, $changed)`
const UPDATE = `
  UPDATE agents SET name = $name, framework = $framework, changed = $changed, signed_at = $signedAt
  WHERE id = $id AND changed = $before`

/** Stores the buyer of a sale; a known wallet is updated only if the sale changed its names. */
export function* storeAgent(after: Agent, before: Agent | undefined, { at }: Entry): Tx<void> {
  if (before === undefined) return yield* changeRows('a wallet to enter', INSERT, { ...after, at })
  if (after.changed !== before.changed) yield* renameAgent(after, before)
}

function* renameAgent({ id, name, framework, changed, signed_at: signedAt }: Agent, before: Agent): Tx<void> {
  const values = { id, name, framework, changed, signedAt, before: before.changed }
  yield* changeRows('a wallet to rename', UPDATE, values)
}

function* applyRegistration(wallet: Address, identity: Identity, now: UnixMs): Tx<IdentityResult> {
  const before = yield* findAgent(wallet)
  if (before === undefined) return 'unknown-wallet'
  const subject = { block: null, agent: before.id }
  const [known, moderation] = yield* runTogether(findFirstChange(subject, identity.digest), readModeration(before.id))
  const standing = classifyMessage(known, [before.changed])
  if (standing !== 'new') return standing
  if (isSignedBeforeLatest(identity.ts, before.signed_at)) return 'superseded'
  const profile = {
    name: applyFieldEdit(identity.name, before.name),
    framework: applyFieldEdit(identity.framework, before.framework),
  }
  const { number, at } = yield* takeNextEntry(now)
  yield* runTogether(
    writeEntry({ number, at, kind: 'identity', agent: before.id, ...profile }),
    renameAgent({ ...before, ...profile, changed: number, signed_at: computeOrderingTime(identity.ts, now) }, before),
    storeMessage(subject, identity, number, now),
  )
  if (moderation.isBanned)
    yield* moderateAgent({ ...before, ...profile }, { act: 'hide', parts: pickGivenParts(NAME_PARTS, identity) }, now)
  return 'applied'
}

function* namePainter(wallet: Address, naming: PainterNaming): Tx<NamingResult> {
  const agent = yield* findAgent(wallet)
  return agent === undefined ? 'unknown-wallet' : yield* storeWalletPainter(agent.id, naming)
}
