/** Purchases: the wall's own time for one purchase, and whether buyers wait for each other's settlements. */

import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { waitUntilArmed } from '../../server/local/wall-process.ts'
import { createWallet } from '../../server/local/wallets.ts'
import type { Scenario } from '../findings.ts'
import { runLoad, encodeRequest } from '../measure/load.ts'
import { computePercentile } from '../measure/pair.ts'
import type { Server } from '../servers/servers.ts'
import { startStubServices } from '../servers/stub-services.ts'

const BUYERS = 50

// The duration of a settlement on Base.
const SETTLE_MS = 2000

// The calls per second that a small plan of a chain endpoint allows, and the buyers per minute for whom these calls
// must suffice.
const CALLS_PER_SECOND = 50
const BUYERS_PER_MINUTE = 300

export const measurePurchases: Scenario = async (servers, { steadyMs }) => {
  const stubs = startStubServices()
  try {
    const wall = await servers.getWall(1000, 'market', stubs.settings)
    await waitUntilArmed(`http://127.0.0.1:${wall.port}`)
    const payments = await signPayments(wall, 3 * BUYERS)
    // The first purchases are slower, because no code is compiled yet.
    await buyBlocks(wall, payments.splice(0, BUYERS), 1)
    const callsBefore = stubs.countChainCalls()
    const alone = await buyBlocks(wall, payments.splice(0, BUYERS), 1)
    // The calls per purchase are rounded down, because a probe sometimes adds a few calls.
    const calls = Math.floor((stubs.countChainCalls() - callsBefore) / BUYERS)
    stubs.setSettleTime(SETTLE_MS)
    const together = await buyBlocks(wall, payments, BUYERS)
    const metered = await servers.getWall(1000, 'metered', {
      ...stubs.settings,
      RPC_CALLS_PER_SECOND: String(CALLS_PER_SECOND),
    })
    await waitUntilArmed(`http://127.0.0.1:${metered.port}`)
    const steady = await buySteadily(metered, Math.min(2 * steadyMs, MINUTE_MS))
    const createRow = (what: string, { p50, p99 }: typeof alone) => ({
      what,
      figures: { 'p50 ms': p50, 'p99 ms': p99 },
    })
    return {
      rows: [
        createRow('one by one, settled immediately', alone),
        createRow(`${BUYERS} at once, settled in 2 s`, together),
        createRow(`${BUYERS_PER_MINUTE} buyers per minute, ${CALLS_PER_SECOND} chain calls per second`, steady),
      ],
      ratios: {
        'purchase: 50 at once over one settlement': together.p99 / SETTLE_MS,
        'purchase: chain calls before the response': calls,
        'purchase: share served of 300 per minute, 50 calls per second': steady.served,
      },
    }
  } finally {
    await stubs.stop()
  }
}

/** Sends paid requests, `atOnce` of them in parallel; returns percentiles of the response times. */
async function buyBlocks({ port }: Server, payments: readonly string[], atOnce: number) {
  const requests = payments.map((payment) => encodeRequest('GET', '/blocks/next', { 'PAYMENT-SIGNATURE': payment }))
  const { latenciesMs, statuses } = await runLoad({
    port,
    getNextRequest: () => requests.pop(),
    connections: atOnce,
    ms: 60_000,
  })
  if (statuses.get(200) !== payments.length)
    throw new Error(`purchases ended with the statuses ${JSON.stringify([...statuses])}`)
  return { p50: computePercentile(latenciesMs, 0.5), p99: computePercentile(latenciesMs, 0.99) }
}

const MINUTE_MS = 60_000

/**
 * Simulates buyers who arrive at a constant rate for `ms` milliseconds; returns how long they waited, and the share of
 * them that was served.
 */
async function buySteadily(wall: Server, ms: number) {
  const gapMs = MINUTE_MS / BUYERS_PER_MINUTE
  const payments = await signPayments(wall, Math.max(1, Math.floor(ms / gapMs)))
  const latenciesMs: number[] = []
  const statuses = await Promise.all(
    payments.map(async (payment, at) => {
      await Bun.sleep(at * gapMs)
      const startedAt = performance.now()
      const headers = { 'PAYMENT-SIGNATURE': payment }
      const response = await fetch(`http://127.0.0.1:${wall.port}/blocks/next`, { headers })
      await response.arrayBuffer()
      latenciesMs.push(performance.now() - startedAt)
      return response.status
    }),
  )
  const served = statuses.filter((status) => status === 200).length / statuses.length
  return { p50: computePercentile(latenciesMs, 0.5), p99: computePercentile(latenciesMs, 0.99), served }
}

/** Payments of `count` wallets for the next block, signed for the wall's own terms. */
export const signPayments = async ({ port }: Server, count: number): Promise<string[]> =>
  await signTerms(await fetch(`http://127.0.0.1:${port}/blocks/next`), count)

/** Payments of `count` wallets, signed for the terms of a demand. */
export async function signTerms(demand: Response, count: number): Promise<string[]> {
  const terms = decodePaymentRequiredHeader(demand.headers.get('payment-required') ?? '')
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const client = new x402Client().register('eip155:8453', new ExactEvmScheme(createWallet()))
      client.setSpendControls({ maxAmountPerPayment: '$400' })
      return encodePaymentSignatureHeader(await client.createPaymentPayload(terms))
    }),
  )
}
