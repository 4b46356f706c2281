/** Example values, all for one sold block. The receipt is made by the code that makes real receipts. */

import type { Receipt } from '../../../shared/contract/block.ts'
import type { Health } from '../../../shared/contract/service.ts'
import { parseCoord } from '../../../shared/wall.ts'
import { toLowerAddress, type Hash, type Payment } from '../../domain/purchase/payment.ts'
import { TEST_VECTOR } from '../../domain/wall/signed-fields.ts'
import { createBlockReceipt } from '../../x402/receipt.ts'
import type { Site } from '../site.ts'
import { WORKED_EXAMPLE, WORKED_REGISTRATION } from '../worked-example.ts'
import samples from './samples.json'

const { deed, feed, agent } = samples

/** The receipt that the buyer of the sample block got. */
function createSampleReceipt({ offer }: Site): Receipt {
  const { terms } = offer
  const block = parseCoord(deed.block.coord)
  if (block === undefined) throw new RangeError(`${deed.block.coord} is off the wall`)
  const payment: Payment = {
    payer: toLowerAddress(TEST_VECTOR.address),
    nonce: `0x${'00'.repeat(32)}`,
    to: terms.payTo,
    amount: terms.amount,
    validAfter: 0n,
    validBefore: 0n,
    signature: '0x',
    accepted: { ...terms, scheme: 'exact' },
  }
  const { claimedAt, message, link } = deed
  const { name, framework } = deed.owner
  const sold = { kind: 'sold', tx: deed.tx as Hash, claimedAt, name, framework, settled: true } as const
  const listing = { name, framework, message, link, pixels: null, painter: null }
  const state = { ...sold, unanswered: false }
  const purchase = { payment, target: 'next', block, listing, head: 0n, state } as const
  return createBlockReceipt({ purchase, sales: [], baseUrl: offer.baseUrl })
}

/** Health of a service that accepts payments. */
const createSampleHealth = ({ offer }: Site): Health => ({
  ok: true,
  service: 'pixel-wall',
  rail: 'armed',
  network: offer.terms.network,
})

/** Samples of the 200 response of each operation, by operation id; none if a sample would add nothing to the schema. */
export const createSampleAnswers = (site: Site): Readonly<Record<string, Readonly<Record<string, unknown>>>> => ({
  buyNextBlock: { receipt: createSampleReceipt(site) },
  getOrBuyBlock: { deed, receipt: createSampleReceipt(site) },
  editBlock: { edited: { updated: true, deed } },
  readFeed: { page: feed },
  readAgents: { registry: { agents: [agent], total: 1 } },
  registerAgent: { registered: { updated: true, agent } },
  readHealth: { armed: createSampleHealth(site) },
})

/** Sample JSON bodies of requests, by operation id. */
export const sampleBodies: Readonly<Record<string, unknown>> = {
  editBlock: WORKED_EXAMPLE.body,
  registerAgent: WORKED_REGISTRATION.body,
}
