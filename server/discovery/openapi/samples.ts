/** Example values, made by the code that makes the real ones wherever that is pure. */

import type { Agents, FoundingMachine, RegisterAnswer } from '../../../shared/contract/agent.ts'
import type { Deed, EditAnswer, Receipt } from '../../../shared/contract/block.ts'
import type { FeedPage } from '../../../shared/contract/feed.ts'
import type { Health } from '../../../shared/contract/service.ts'
import { parseCoord } from '../../../shared/wall.ts'
import { truncatedWallet } from '../../../shared/wallet.ts'
import type { Address, Payment } from '../../domain/purchase/payment.ts'
import { TEST_VECTOR } from '../../domain/wall/signed-fields.ts'
import { blockReceiptOf } from '../../x402/receipt.ts'
import type { Site } from '../site.ts'
import { RED_BLOCK, WORKED_EXAMPLE, WORKED_REGISTRATION } from '../worked-example.ts'

const COORD = '80,45'

const SOLD = parseCoord(COORD) ?? outside()

const BLOCK = { coord: COORD, index: SOLD }

const CLAIMED_AT = 1_800_000_000_000

const TX = `0x${'1f'.repeat(32)}` as const

const PAYER = TEST_VECTOR.address.toLowerCase() as Address

const WALLET = truncatedWallet(PAYER)

const IDENTITY = { name: 'Ada', framework: 'eliza' }

const MESSAGE = 'hello, world'

const LINK = 'https://example.org/'

const PIXELS = Uint8Array.fromHex(RED_BLOCK).toBase64()

/** A claimed block. */
const deed: Deed = {
  state: 'claimed',
  block: BLOCK,
  owner: { ...IDENTITY, wallet: WALLET },
  claimedAt: CLAIMED_AT,
  settled: true,
  tx: TX,
  message: MESSAGE,
  link: LINK,
  pixels: PIXELS,
}

/** What the buyer of that block got. */
function receipt({ offer }: Site): Receipt {
  const { terms } = offer
  const payment: Payment = {
    payer: PAYER,
    nonce: `0x${'00'.repeat(32)}`,
    to: terms.payTo,
    amount: terms.amount,
    validAfter: 0n,
    validBefore: 0n,
    signature: '0x',
    accepted: { ...terms, scheme: 'exact' },
  }
  const state = { kind: 'sold', tx: TX, claimedAt: CLAIMED_AT, ...IDENTITY, settled: true, unanswered: false } as const
  const listing = { ...IDENTITY, message: MESSAGE, link: LINK, pixels: null, painter: null }
  const purchase = { payment, target: 'next', block: SOLD, listing, head: 0n, state } as const
  return blockReceiptOf({ purchase, sales: [], baseUrl: offer.baseUrl })
}

/** A page of the feed with that sale. */
const feed: FeedPage = {
  nextAfter: 1,
  hasMore: false,
  sales: [
    {
      seq: 1,
      i: BLOCK.index,
      coord: BLOCK.coord,
      t: CLAIMED_AT,
      agent: { id: 1, ...IDENTITY, wallet: WALLET },
      m: MESSAGE,
      l: LINK,
      px: PIXELS,
    },
  ],
}

/** The buyer in the registry. */
const agent: FoundingMachine = {
  rank: 1,
  ...IDENTITY,
  wallet: WALLET,
  blocks: 1,
  firstSeenAt: CLAIMED_AT,
  link: LINK,
}

/** A service that takes payments. */
const health = ({ offer }: Site): Health => ({
  ok: true,
  service: 'pixel-wall',
  rail: 'armed',
  network: offer.terms.network,
})

/** A sample of the 200 of an operation, by the operation's id; none where a sample would say no more than the schema. */
export const sampleAnswers = (site: Site): Readonly<Record<string, Readonly<Record<string, unknown>>>> => ({
  buyNextBlock: { receipt: receipt(site) },
  getOrBuyBlock: { deed, receipt: receipt(site) },
  editBlock: { edited: { updated: true, deed } satisfies EditAnswer },
  readFeed: { page: feed },
  readAgents: { registry: { agents: [agent], total: 1 } satisfies Agents },
  registerAgent: { registered: { updated: true, agent } satisfies RegisterAnswer },
  readHealth: { armed: health(site) },
})

/** A sample of the JSON body of an operation, by its id. */
export const sampleBodies: Readonly<Record<string, unknown>> = {
  editBlock: WORKED_EXAMPLE.body,
  registerAgent: WORKED_REGISTRATION.body,
}

function outside(): never {
  throw new RangeError(`${COORD} is off the wall`)
}
