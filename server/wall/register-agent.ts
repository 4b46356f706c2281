/** Sets a wallet's identity: the name and framework all its blocks show. */

import type { RegisterBody } from '../../shared/contract/agent.ts'
import { registerMessage } from '../../shared/signing.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { isTimely, keepUntil } from '../domain/wall/edit.ts'
import type { Agents, Clock, Wallets } from '../ports.ts'
import { notSigned, signatureOf, staleTime, superseded, walletUnchecked } from './edit-block.ts'
import type { RateLimits } from './rate-limits.ts'

/** What registering needs. `hosts` are the names a message may be signed for, the canonical one first. */
export type Registering = {
  readonly agents: Agents
  readonly wallets: Wallets
  readonly clock: Clock
  readonly hosts: readonly string[]
  readonly advance: () => Promise<void>
  readonly limits: RateLimits
}

/** Applies a word that passed the contract's schema, sent from the address `from`. `updated` is false when the same message was the latest already. */
export async function registerAgent(
  { agents, wallets, clock, hosts, advance, limits }: Registering,
  wallet: Address,
  body: RegisterBody,
  from: string,
): Promise<{ readonly updated: boolean } | Failure> {
  const now = clock.now()
  if (!(await agents.knows(wallet))) return noPurchases()
  if (!isTimely(body.ts, now)) return staleTime(now)

  const messages = hosts.map((host) => registerMessage(host, wallet, body.ts, body))
  const signed = await wallets.signed([wallet], messages, signatureOf(body), from)
  if (signed === 'busy' || signed === 'silent') return walletUnchecked(signed)
  if (signed === 'not-signed') return notSigned('this wallet', messages)

  const beyond = limits.take('registrations', wallet)
  if (beyond !== undefined) return beyond
  const identity = { digest: signed.digest, keepUntil: keepUntil(body.ts), name: body.name, framework: body.framework }
  const result = await agents.identify(wallet, identity, now)
  if (result === 'superseded') return superseded()
  if (result === 'unknown-wallet') return noPurchases()
  await advance()
  return { updated: result === 'applied' }
}

/** A wallet that owns nothing has no place in the registry. */
export const noPurchases = (): Failure =>
  failure('no_purchases', 'Only wallets that have bought a block can register. Buy one with GET /blocks/next.')
