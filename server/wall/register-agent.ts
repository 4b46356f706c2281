/** What a wallet sets for all its blocks: its name and framework, and who may repaint them beside the wallet itself. */

import type { PainterBody, RegisterBody } from '../../shared/contract/agent.ts'
import { painterMessage, registerMessage } from '../../shared/signing.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { SignedBy } from '../domain/purchase/facilitator-errors.ts'
import type { Address, UnixMs } from '../domain/purchase/payment.ts'
import { isTimely } from '../domain/wall/edit.ts'
import type { Agents, Clock, Wallets } from '../ports.ts'
import { checkSigner, staleTime, superseded } from './check-signer.ts'
import type { RateLimits } from './rate-limits.ts'

/** What registering needs. `hosts` are the names a message may be signed for, the canonical one first. */
export type RegisterDeps = {
  readonly agents: Agents
  readonly wallets: Wallets
  readonly clock: Clock
  readonly hosts: readonly string[]
  readonly advance: () => Promise<void>
  readonly limits: RateLimits
}

/**
 * Sets a wallet's name and framework, by a body that passed the contract's schema, sent from the address `from`. `updated`
 * is false when the same message was the latest already.
 */
export async function registerAgent(
  deps: RegisterDeps,
  wallet: Address,
  body: RegisterBody,
  from: string,
): Promise<{ readonly updated: boolean } | Failure> {
  const { agents, clock, hosts, advance } = deps
  const now = clock.now()
  const messages = hosts.map((host) => registerMessage(host, wallet, body.ts, body))
  const signed = await checkWallet(deps, wallet, body, messages, from, now)
  if ('code' in signed) return signed
  const identity = { digest: signed.digest, ts: body.ts, name: body.name, framework: body.framework }
  const result = await agents.identify(wallet, identity, now)
  if (result === 'superseded') return superseded()
  if (result === 'unknown-wallet') return noPurchases()
  await advance()
  return { updated: result === 'applied' }
}

/** Names a wallet's painter, likewise. Only the wallet's own signature counts. */
export async function namePainter(
  deps: RegisterDeps,
  wallet: Address,
  body: PainterBody,
  from: string,
): Promise<{ readonly updated: true } | Failure> {
  const { agents, clock, hosts } = deps
  const messages = hosts.map((host) => painterMessage(host, wallet, body.ts, body.painter))
  const signed = await checkWallet(deps, wallet, body, messages, from, clock.now())
  if ('code' in signed) return signed
  const painter = body.painter === null ? null : (body.painter.toLowerCase() as Address)
  const result = await agents.namePainter(wallet, { painter, ts: body.ts })
  if (result === 'unknown-wallet') return noPurchases()
  return result === 'superseded' ? laterNaming() : { updated: true }
}

/** Checks that the wallet has bought, that it signed the change just now, and that its budget allows one more. */
async function checkWallet(
  { agents, wallets, limits }: RegisterDeps,
  wallet: Address,
  body: RegisterBody | PainterBody,
  messages: readonly string[],
  from: string,
  now: UnixMs,
): Promise<SignedBy | Failure> {
  if (!(await agents.knows(wallet))) return noPurchases()
  if (!isTimely(body.ts, now)) return staleTime(now)
  const signed = await checkSigner(wallets, [wallet], 'this wallet', messages, body, from)
  if ('code' in signed) return signed
  return limits.take('registrations', wallet) ?? signed
}

/** A wallet that owns nothing has no place in the registry. */
export const noPurchases = (): Failure =>
  failure('no_purchases', 'Only wallets that have bought a block can register. Buy one with GET /blocks/next.')

const laterNaming = (): Failure =>
  failure(
    'stale_signature',
    'A painter was named with this ts or a later one already. GET /api/agents/{wallet} tells which holds; to name another, sign again with a new ts.',
  )
