/** Sets who may repaint a wallet's blocks beside the wallet itself. */

import type { PainterBody } from '../../shared/contract/agent.ts'
import { painterMessage } from '../../shared/signing.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { isTimely } from '../domain/wall/edit.ts'
import { notSigned, signatureOf, staleTime, walletUnchecked } from './edit-block.ts'
import { noPurchases, type Registering } from './register-agent.ts'

/** Applies a word that passed the contract's schema, sent from the address `from`. Only the wallet's own signature counts. */
export async function namePainter(
  { agents, wallets, clock, hosts, limits }: Omit<Registering, 'advance'>,
  wallet: Address,
  body: PainterBody,
  from: string,
): Promise<{ readonly updated: true } | Failure> {
  const now = clock.now()
  if (!(await agents.knows(wallet))) return noPurchases()
  if (!isTimely(body.ts, now)) return staleTime(now)

  const messages = hosts.map((host) => painterMessage(host, wallet, body.ts, body.painter))
  const signed = await wallets.signed([wallet], messages, signatureOf(body), from)
  if (signed === 'busy' || signed === 'silent') return walletUnchecked(signed)
  if (signed === 'not-signed') return notSigned('this wallet', messages)

  const beyond = limits.take('registrations', wallet)
  if (beyond !== undefined) return beyond
  const painter = body.painter === null ? null : (body.painter.toLowerCase() as Address)
  const result = await agents.namePainter(wallet, { painter, ts: body.ts })
  if (result === 'unknown-wallet') return noPurchases()
  return result === 'superseded' ? laterNaming() : { updated: true }
}

const laterNaming = (): Failure =>
  failure(
    'stale_signature',
    'A painter was named with this ts or a later one already. GET /api/agents/{wallet} tells which holds; to name another, sign again with a new ts.',
  )
