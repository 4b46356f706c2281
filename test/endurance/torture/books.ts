/** Checks the invariants that must hold once no purchase is in progress. */

import type { LocalNetwork } from '../../../server/local/network.ts'
import type { Chain, Transfer } from '../../../server/ports.ts'
import type { Deed } from '../../../shared/contract/block.ts'
import type { Canvas } from '../../../shared/contract/canvas.ts'
import { sendOrder, listBlocks, readNonce, type Buyer } from './buyers.ts'
import { createReader, type Door, type Editor, type Reader } from './bystanders.ts'
import { computePrice } from './plan.ts'

/** The walls as they are now, and all participants. */
export type Scene = {
  readonly urls: readonly string[]
  readonly door: Door
  readonly payTo: `0x${string}`
  readonly network: LocalNetwork
  readonly chain: Chain
  readonly buyers: readonly Buyer[]
  readonly editors: readonly Editor[]
  readonly follower: Reader
  /** Problems of the tables themselves, in words. */
  readonly checkAllTables: () => Promise<readonly string[]>
}

/** The totals: the number of transfers and their dollars, sold blocks, and owed dollars. */
export type Sums = {
  readonly transfers: number
  readonly dollars: number
  readonly claimed: number
  readonly credits: number
}

/** All current problems, in words; none if all is well. The `recent` buyers request their receipts again. */
export async function checkBooks(scene: Scene, recent: readonly Buyer[]): Promise<{ wrong: string[]; sums: Sums }> {
  const wrong: string[] = []
  const bodies = await readCanvases(scene)
  if (new Set(bodies).size > 1) wrong.push('the walls show different canvases')
  const canvas = JSON.parse(bodies[0] ?? '') as Canvas
  const transfers = await listReceivedTransfers(scene.chain, scene.payTo)
  const bought = listBoughtBlocks(scene.buyers)
  const owed = scene.buyers.filter(({ refusal }) => refusal === 'payment_credited')
  const credits = owed.reduce((sum, buyer) => sum + computePrice(buyer), 0)
  const balance = await scene.network.readBalance(scene.payTo)
  const dollars = Number(balance) / DOLLAR
  const sums = { transfers: transfers.length, dollars, claimed: canvas.stats.claimed, credits }

  if (dollars !== sums.claimed + credits)
    wrong.push(`received ${balance}, but ${sums.claimed} blocks are claimed and ${credits} dollars owed`)
  if (bought.length !== sums.claimed) wrong.push(`${bought.length} blocks have receipts, ${sums.claimed} are claimed`)
  wrong.push(...checkMoney(transfers, scene.buyers))
  if (new Set(bought).size !== bought.length) wrong.push('two receipts are for the same block')
  for (const buyer of scene.buyers) if (buyer.refusal === 'no end') wrong.push(`no end for ${formatNonces(buyer)}`)
  wrong.push(...(await checkFeeds(scene, canvas)))
  for (const buyer of recent) wrong.push(...(await checkResend(scene, buyer, collectNonces(transfers))))
  for (const editor of scene.editors) wrong.push(...(await checkRepaints(scene, editor)))
  wrong.push(...(await scene.checkAllTables()))
  return { wrong, sums }
}

const DOLLAR = 1_000_000

/** Every block for which a buyer has the receipt. */
export const listBoughtBlocks = (buyers: readonly Buyer[]): readonly string[] =>
  buyers.flatMap(({ receipt }) => (receipt === undefined ? [] : listBlocks(receipt)))

/** The canvas that each wall returns, as text. */
export const readCanvases = ({ urls }: Scene): Promise<readonly string[]> =>
  Promise.all(urls.map(async (url) => await (await fetch(`${url}/api/canvas`)).text()))

/** All payments that a buyer signed. */
const listSignedPayments = ({ abandoned, payload }: Buyer) =>
  [...new Set([abandoned, payload])].filter((one) => one !== undefined)

const formatNonces = (buyer: Buyer): string => listSignedPayments(buyer).map(readNonce).join(' or ')

/**
 * Checks that each transfer is of the whole price, and is either owed back or has a receipt with its transaction.
 * Nobody may pay twice, or have a receipt without a transfer.
 */
function checkMoney(transfers: readonly Transfer[], buyers: readonly Buyer[]): string[] {
  const byNonce = new Map(
    buyers.flatMap((buyer) => listSignedPayments(buyer).map((signed) => [readNonce(signed), buyer] as const)),
  )
  const wrong = transfers.flatMap(({ nonce, tx, amount }) => {
    const buyer = byNonce.get(nonce ?? '')
    if (buyer === undefined) return [`${tx} is not a payment of any buyer`]
    const paidFor = Number(amount) / DOLLAR
    if (paidFor !== computePrice(buyer)) return [`${nonce} was charged ${paidFor} dollars, not ${computePrice(buyer)}`]
    if (buyer.refusal === 'payment_credited') return []
    if (buyer.receipt === undefined) return [`${nonce} was charged and got ${buyer.refusal ?? 'nothing'}`]
    const { length } = listBlocks(buyer.receipt)
    if (length !== paidFor) return [`${nonce} was charged ${paidFor} dollars for ${length} blocks`]
    return buyer.receipt.deed.tx === tx ? [] : [`the receipt of ${nonce} contains ${buyer.receipt.deed.tx}, not ${tx}`]
  })
  const paid = collectNonces(transfers)
  if (paid.size !== transfers.length) wrong.push('an authorization was charged twice')
  for (const buyer of buyers) {
    const charged = listSignedPayments(buyer).filter((signed) => paid.has(readNonce(signed)))
    if (charged.length > 1) wrong.push(`the buyer of ${formatNonces(buyer)} was charged twice`)
    if (buyer.receipt !== undefined && charged.length === 0) wrong.push(`${formatNonces(buyer)} has a block for free`)
  }
  return wrong
}

const collectNonces = (transfers: readonly Transfer[]): ReadonlySet<string> =>
  new Set(transfers.map(({ nonce }) => nonce ?? ''))

async function listReceivedTransfers(chain: Chain, payTo: `0x${string}`): Promise<readonly Transfer[]> {
  const all: Transfer[] = []
  for (let next = 0n; ;) {
    const receipts = await chain.readTransfers(payTo, next)
    if (receipts === 'silent') throw new Error('the chain endpoint does not respond')
    all.push(...receipts.transfers)
    if (receipts.isAll) return all
    next = receipts.next
  }
}

/**
 * Checks that the whole feed of each wall equals the sales that the follower has read, and lists exactly the claimed
 * blocks of the canvas.
 */
async function checkFeeds({ urls, door, follower }: Scene, { blocks }: Canvas): Promise<string[]> {
  await follower.readFeed(door)
  const claimed = new Set(blocks.map(({ i }) => i))
  const wrong: string[] = []
  for (const url of urls) {
    const { sales, readFeed: read } = createReader()
    await read(() => url)
    if (!Bun.deepEquals(sales, follower.sales)) wrong.push('the feed differs from earlier reads')
    if (claimed.size !== sales.length || !sales.every(({ i }) => claimed.has(i)))
      wrong.push(`the feed has ${sales.length} sales, the canvas ${claimed.size} blocks`)
  }
  return wrong
}

/** Checks that the same signed payment gets the same receipt again, over either interface. */
async function checkResend({ door }: Scene, buyer: Buyer, paid: ReadonlySet<string>): Promise<string[]> {
  const payload = listSignedPayments(buyer).find((signed) => paid.has(readNonce(signed)))
  if (buyer.receipt === undefined || payload === undefined) return []
  const wrong: string[] = []
  for (const via of ['http', 'mcp'] as const) {
    const answer = await sendOrder({ ...buyer, via }, door(), payload)
    if (answer?.status !== 200 || !Bun.deepEquals(answer.body, buyer.receipt))
      wrong.push(`over ${via}, ${formatNonces(buyer)} gets ${JSON.stringify(answer)} instead of its receipt`)
  }
  return wrong
}

async function checkRepaints({ door }: Scene, { block, sent, acknowledged }: Editor): Promise<string[]> {
  const { message } = (await (await fetch(`${door()}/blocks/${block}`)).json()) as Deed
  const possible = acknowledged === 0 ? [null, ...sent] : sent.slice(acknowledged - 1)
  return possible.includes(message) ? [] : [`block ${block} says ${message}, not ${possible.join(' or ')}`]
}
