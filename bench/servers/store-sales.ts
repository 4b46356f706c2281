/** Sells without the service: claims and finalizes payments in the store alone. */

import { privateKeyToAccount } from 'viem/accounts'
import type { Engine } from '../../db/engine.ts'
import { toLowerHex } from '../../shared/chain/arrivals.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import { chooseBuyer, toPrivateKey, NETWORK } from './seed.ts'

type Ledger = Engine['ledger']
type Payment = Parameters<Ledger['claim']>[1]

const AT_ONCE = 16
const HEAD = 1n
const SILENT = { name: null, framework: null, message: null, link: null, pixels: null, painter: null }
const PAYEE = `0x${'11'.repeat(20)}` as const

/** Sells this many blocks to at most `agents` wallets, the same ones as on a seeded wall; returns sales per second. */
export async function sellAll({ ledger }: Pick<Engine, 'ledger'>, blocks: number, agents: number): Promise<number> {
  const orders = createOrders(blocks, agents).values()
  const startedAt = performance.now()
  const sellOrders = async () => {
    for (const { block, payment } of orders) {
      const claiming = await ledger.claim(block, payment, SILENT, HEAD, Date.now(), [])
      if (claiming.kind !== 'claimed') throw new Error(`a block was ${claiming.kind}`)
      await ledger.finalize(claiming.purchase, payment.nonce, true, Date.now())
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sellOrders))
  return blocks / ((performance.now() - startedAt) / 1000)
}

type Order = { readonly block: BlockIndex; readonly payment: Payment }

function createOrders(blocks: number, agents: number): Order[] {
  const wallets = Array.from({ length: agents }, (_, at) => privateKeyToAccount(toPrivateKey(at + 1)).address)
  return CLAIM_ORDER.slice(0, blocks).map((block, at) => {
    const number = at + 1
    const payer = wallets[chooseBuyer(number, agents) - 1]
    if (payer === undefined) throw new Error('a sale has no buyer')
    return { block, payment: createPayment(toLowerHex(payer), number) }
  })
}

function createPayment(payer: `0x${string}`, number: number): Payment {
  const terms = { network: NETWORK, asset: PAYEE, payTo: PAYEE, amount: 1_000_000n }
  return {
    payer,
    nonce: `0x${number.toString(16).padStart(64, '0')}`,
    to: PAYEE,
    amount: terms.amount,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 300),
    signature: `0x${'5a'.repeat(65)}`,
    accepted: { ...terms, scheme: 'exact' },
  }
}
