/** Floods from another process, so that the work of flooding does not affect the measurements of the wall. */

import { join } from 'node:path'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { privateKeyToAccount } from 'viem/accounts'
import { chooseBuyer, toPrivateKey } from '../../../bench/servers/seed.ts'
import { countAgents } from '../../../bench/servers/servers.ts'
import { CLAIM_ORDER, formatCoord } from '../../../shared/wall.ts'
import { type At, fetchBlock } from '../../support/e2e/buyer.ts'
import type { FloodName, Target } from './floods.ts'

/** An order to flood the wall for `ms` milliseconds, over this many connections from this many addresses. */
export type FloodOrder = {
  readonly flood: FloodName
  readonly connections: number
  readonly addresses: number
  readonly ms: number
  readonly target: Target
}

/**
 * How many responses had each status, how many connections failed, and how many `reset` events the streams received.
 */
export type FloodCounts = {
  readonly statuses: Readonly<Record<string, number>>
  readonly broken: number
  readonly resets: number
}

/** A separate process that carries out one flood order after another. */
export type Flooder = { flood(order: FloodOrder): Promise<FloodCounts>; stop(): Promise<void> }

/** Starts a flooder. */
export function startFlooder(): Flooder {
  let counted = Promise.withResolvers<FloodCounts>()
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'run-flooder.ts')], {
    ipc: (counts: FloodCounts) => counted.resolve(counts),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return {
    flood(order) {
      counted = Promise.withResolvers()
      child.send(order)
      return counted.promise
    },
    async stop() {
      child.kill()
      await child.exited
    },
  }
}

/** The target of floods on a seeded wall with this many sold blocks: a block of the agent with the most blocks. */
export async function readTarget(wall: At, sold: number): Promise<Target> {
  const demand = decodePaymentRequiredHeader((await fetchBlock(wall, 'next')).headers.get('payment-required') ?? '')
  const [terms] = demand.accepts
  const sale = CLAIM_ORDER.findIndex((_, at) => chooseBuyer(at + 1, countAgents(sold)) === 1)
  const block = CLAIM_ORDER[sale]
  if (terms === undefined || block === undefined) throw new Error('the wall offers no terms, or has sold no block')
  const key = toPrivateKey(1)
  return {
    host: new URL(wall.url).host,
    terms,
    block: formatCoord(block),
    key,
    wallet: privateKeyToAccount(key).address,
  }
}
