/** Floods from another process, which keeps its own work out of what is measured of the wall. */

import { join } from 'node:path'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { privateKeyToAccount } from 'viem/accounts'
import { buyerOf, keyOf } from '../../../bench/servers/seed.ts'
import { agentsOf } from '../../../bench/servers/servers.ts'
import { CLAIM_ORDER, coordOf } from '../../../shared/wall.ts'
import { type At, get } from '../../support/e2e/buyer.ts'
import type { FloodName, Target } from './floods.ts'

/** What to do: for `ms`, over so many connections from so many addresses. */
export type FloodOrder = {
  readonly flood: FloodName
  readonly connections: number
  readonly addresses: number
  readonly ms: number
  readonly target: Target
}

/** How many answers had each status, how many connections failed, and how many streams were told to read the canvas. */
export type FloodCounts = {
  readonly statuses: Readonly<Record<string, number>>
  readonly broken: number
  readonly resets: number
}

/** A process of its own that floods, one order after the other. */
export type Flooder = { flood(order: FloodOrder): Promise<FloodCounts>; stop(): Promise<void> }

/** Starts one. */
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

/** What floods of a seeded wall aim at, of which so many blocks are sold: a block of the agent that has most. */
export async function targetOf(wall: At, sold: number): Promise<Target> {
  const demand = decodePaymentRequiredHeader((await get(wall, 'next')).headers.get('payment-required') ?? '')
  const [terms] = demand.accepts
  const sale = CLAIM_ORDER.findIndex((_, at) => buyerOf(at + 1, agentsOf(sold)) === 1)
  const block = CLAIM_ORDER[sale]
  if (terms === undefined || block === undefined) throw new Error('a wall that sells nothing, or has sold nothing')
  const key = keyOf(1)
  return { host: new URL(wall.url).host, terms, block: coordOf(block), key, wallet: privateKeyToAccount(key).address }
}
