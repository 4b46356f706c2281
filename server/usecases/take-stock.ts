/** Checks that the books balance: what the store says was sold against what arrived on the chain. */

import pLimit from 'p-limit'
import { type Address, type UnixMs } from '../domain/payment.ts'
import type { Verdict } from '../domain/purchase.ts'
import { balanceOf, type Arrival, type Balance, type BookedOpen } from '../domain/statement.ts'
import type { Audit, Chain, Clock } from '../ports.ts'

const AT_ONCE = 8

// An endpoint that misses one question of hundreds is not to blame the whole look on.
const TRIES = 4
const BETWEEN_TRIES_MS = 1000

/** What taking stock needs. `price` is what a block costs, `payTo` who is paid now. */
export type Stocktaking = {
  readonly audit: Audit
  readonly chain: Chain
  readonly clock: Clock
  readonly price: bigint
  readonly payTo: Address
}

/** An open purchase with what the chain says of its payment. */
export type OpenFinding = BookedOpen & { readonly ageMs: number; readonly evidence: Verdict }

/** What was found, between two heights. */
export type Stock = {
  readonly at: UnixMs
  readonly from: bigint | undefined // `undefined` when nothing was ever paid for, and there was nothing to look for
  readonly through: bigint | undefined
  readonly balance: Balance
  readonly open: readonly OpenFinding[]
}

/**
 * Looks at everything from `from` on, else since the first payment that was ever seen; `silent` when the chain does not
 * answer. Tells `onward` of the height it has come to.
 */
export async function takeStock(
  { audit, chain, clock, price, payTo }: Stocktaking,
  from?: bigint,
  onward: (height: bigint) => void = () => {},
): Promise<Stock | 'silent'> {
  const before = await audit.statement()
  const start = from ?? before.from
  const arrivals: Arrival[] = []
  let through: bigint | undefined
  for (const payee of new Set([payTo, ...before.payees])) {
    if (start === undefined) break
    const read = await readReceipts(chain, clock, payee, start, onward)
    if (read === 'silent') return 'silent'
    arrivals.push(...read.arrivals)
    through = read.through
  }
  const after = await audit.statement()
  const limit = pLimit(AT_ONCE)
  const open = await Promise.all(
    after.open.map(async ({ purchase, since }) => {
      const evidence = await limit(() => chain.verdict(purchase.payment, purchase.head))
      return { purchase, since, ageMs: Math.max(0, clock.now() - since), evidence }
    }),
  )
  return { at: clock.now(), from: start, through, balance: balanceOf(before, arrivals, after, price), open }
}

async function readReceipts(
  chain: Chain,
  clock: Clock,
  payee: Address,
  from: bigint,
  onward: (height: bigint) => void,
): Promise<{ readonly arrivals: readonly Arrival[]; readonly through: bigint } | 'silent'> {
  const arrivals: Arrival[] = []
  let tries = 0
  for (let next = from; ;) {
    const receipts = await chain.transfersTo(payee, next)
    if (receipts === 'silent') {
      if (++tries === TRIES) return 'silent'
      await clock.wait(BETWEEN_TRIES_MS)
      continue
    }
    tries = 0
    arrivals.push(...receipts.transfers)
    next = receipts.next
    onward(next - 1n)
    if (receipts.isAll) return { arrivals, through: next - 1n }
  }
}
