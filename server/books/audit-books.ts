/** Checks that the books balance: compares the sales in the store with the money on the chain. */

import pLimit from 'p-limit'
import { compareBooks, type Balance, type BookedOpen } from '../domain/purchase/balance.ts'
import type { Address, UnixMs } from '../domain/purchase/payment.ts'
import type { ChainStatus } from '../domain/purchase/purchase.ts'
import type { Audit } from '../operator-ports.ts'
import type { Chain, Clock, KeptReceipts, ReceiptArchive, Transfer } from '../ports.ts'

const AT_ONCE = 8

// One failed request among hundreds must not end the audit.
const TRIES = 4
const BETWEEN_TRIES_MS = 1000

// Blocks that a reorganisation may still replace are read again.
const READ_AGAIN = 1000n

/** The inputs of the audit. `payTo` is the current payment address, `archive` the cache of earlier audits. */
export type AuditDeps = {
  readonly audit: Audit
  readonly chain: Chain
  readonly clock: Clock
  readonly archive: ReceiptArchive
  readonly payTo: Address
}

/** An open purchase with the status of its payment on the chain. */
export type OpenFinding = BookedOpen & { readonly ageMs: number; readonly evidence: ChainStatus }

/** The result of an audit between two chain heights. */
export type Stock = {
  readonly at: UnixMs
  readonly from: bigint | undefined // `undefined` if there was never a payment, and so nothing to search
  readonly through: bigint | undefined
  readonly balance: Balance
  readonly open: readonly OpenFinding[]
}

/**
 * Audits everything from height `from` on, by default since the first payment; `silent` if the chain does not respond.
 * Reuses the cache of an earlier audit if its books balanced. Calls `onward` with each height it has reached.
 */
export async function auditBooks(
  { audit, chain, clock, archive, payTo }: AuditDeps,
  from?: bigint,
  onward: (height: bigint) => void = () => {},
): Promise<Stock | 'silent'> {
  const before = await audit.readStatement()
  const start = from ?? before.from
  const archived = start === undefined ? [] : await archive.read()
  const read: KeptReceipts[] = []
  for (const payee of new Set([payTo, ...before.payees])) {
    if (start === undefined) break
    const kept = archived.find((one) => one.payee === payee && one.from <= start && one.through >= start)
    const receipts = await readReceipts(chain, clock, kept ?? createEmptyReceipts(payee, start), onward)
    if (receipts === 'silent') return 'silent'
    read.push(receipts)
  }
  const arrivals = read.flatMap(({ transfers }) => transfers.filter(({ height }) => height >= (start ?? 0n)))
  const after = await audit.readStatement()
  const limit = pLimit(AT_ONCE)
  const open = await Promise.all(
    after.open.map(async ({ purchase, since }) => {
      const evidence = await limit(() => chain.readPaymentStatus(purchase.payment, purchase.head))
      return { purchase, since, ageMs: Math.max(0, clock.now() - since), evidence }
    }),
  )
  const balance = compareBooks(before, arrivals, after, start)
  // If the books do not balance, what was read may be wrong, so it is not cached and the next audit reads it again.
  if (balance.balances && read.length > 0) await archive.write(read.map(keepFinalTransfers))
  return { at: clock.now(), from: start, through: read.at(-1)?.through, balance, open }
}

const createEmptyReceipts = (payee: Address, from: bigint): KeptReceipts => ({
  payee,
  from,
  through: from - 1n,
  transfers: [],
})

/** The part of the transfers that no reorganisation can replace. */
function keepFinalTransfers({ payee, from, through, transfers }: KeptReceipts): KeptReceipts {
  const last = through - READ_AGAIN < from - 1n ? from - 1n : through - READ_AGAIN
  return { payee, from, through: last, transfers: transfers.filter(({ height }) => height <= last) }
}

/** Reads the transfers to a payee, starting where the cached transfers end. */
async function readReceipts(
  chain: Chain,
  clock: Clock,
  { payee, from, through, transfers: known }: KeptReceipts,
  onward: (height: bigint) => void,
): Promise<KeptReceipts | 'silent'> {
  const transfers: Transfer[] = [...known]
  let tries = 0
  for (let next = through + 1n; ;) {
    const receipts = await chain.readTransfers(payee, next)
    if (receipts === 'silent') {
      if (++tries === TRIES) return 'silent'
      await clock.wait(BETWEEN_TRIES_MS)
      continue
    }
    tries = 0
    transfers.push(...receipts.transfers)
    next = receipts.next
    onward(next - 1n)
    if (receipts.isAll) return { payee, from, through: next - 1n, transfers }
  }
}
