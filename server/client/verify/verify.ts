/** Checks a wall against the chain, through endpoints of the user's choice. Trusts no response of the wall. */

import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { toLowerHex } from '../../../shared/chain/arrivals.ts'
import { isNetwork, networks } from '../../../shared/usdc.ts'
import { stateFolder } from '../state-folder.ts'
import { type ChainFacts, type ChainPayment, type Hex, parsePayments } from './chain-facts.ts'
import { type ChainReader, openChain } from './chain.ts'
import { type Claims, readClaims } from './claims.ts'
import { selectHeightsToDate, judgeClaims } from './judge.ts'
import { readKeptPayments, writeKeptPayments } from './kept-payments.ts'
import { checkToken } from './payment-check.ts'
import { NOTHING_PROVED, type Verdict } from './verdict.ts'

/** The options of a check. */
export type VerifyOptions = {
  /** JSON-RPC endpoints of the wall's network, queried in this order; a public one by default. */
  readonly rpc?: readonly string[] | undefined
  /**
   * Looks up only the payments of deeds with a number above this one, and searches the chain from the first of these
   * payments on.
   */
  readonly since?: number | undefined
  /** Reads everything from the chain again, ignoring the cache. */
  readonly all?: boolean | undefined
  /** The folder for the cache of chain data; `stateFolder()` by default. */
  readonly folder?: string | undefined
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
}

/** The progress of a check: deeds read, payments looked up, or heights searched. */
export type VerifyProgress = {
  readonly stage: 'deeds' | 'payments' | 'search'
  readonly done: number
  readonly total?: number
}

/** The result of a check, and the searched range. */
export type WallReport = Verdict & {
  readonly url: string
  readonly network: string // CAIP-2
  readonly head: bigint // height of the newest block
  /** The searched heights; none if there is no payment. */
  readonly searched: { readonly from: bigint; readonly through: bigint } | undefined
  readonly requests: { readonly payments: number; readonly search: number } // requests to the endpoints
}

// A sale, a new block or a cache may make two reads differ. A real problem is still found after this time.
const SECOND_LOOK_MS = 5000

// The newest blocks may still be replaced, so this many are read again.
const READ_AGAIN = 1000n

// After this many ranges, the progress of the search is saved, so that an interrupted search continues near where it
// stopped.
const SAVE_EVERY = 8

/** Checks a wall. Throws a `WallError` if the wall or the chain does not respond. */
export async function verify(address: string | URL, options: VerifyOptions = {}): Promise<WallReport> {
  const url = new URL(address)
  const first = await checkOnce(url, options)
  if (first.findings.length === 0) return first
  await wait(SECOND_LOOK_MS)
  const second = await checkOnce(url, { ...options, all: false })
  const seen = new Set(first.findings.map(({ message }) => message))
  return { ...second, findings: second.findings.filter(({ message }) => seen.has(message)) }
}

async function checkOnce(
  url: URL,
  { rpc, since = 0, all, folder, onProgress = () => {} }: VerifyOptions,
): Promise<WallReport> {
  const claims = await readClaims(url, (done) => onProgress({ stage: 'deeds', done }))
  const { network } = claims
  const about = { url: url.origin, network }
  const wrong = checkToken(claims)
  if (wrong !== undefined || !isNetwork(network))
    return { ...NOTHING_PROVED, ...about, ...NOWHERE, findings: wrong === undefined ? [] : [wrong] }
  const chain = await openChain(rpc ?? [networks[network].publicUrl], network)
  const place = join(folder ?? stateFolder(), encodeURIComponent(url.origin))
  const { facts, ...searched } = await readChain(chain, claims, {
    since,
    isAll: all === true,
    folder: place,
    onProgress,
  })
  const heights = selectHeightsToDate(claims, facts)
  const dates = await chain.readTimes(heights)
  const times = new Map(heights.map((height, at) => [height, dates[at] ?? 0]))
  return { ...judgeClaims(claims, { ...facts, times }, since), ...about, ...searched, head: facts.head.height }
}

const NOWHERE = { head: 0n, searched: undefined, requests: { payments: 0, search: 0 } }

type Reading = {
  readonly since: number
  readonly isAll: boolean
  readonly folder: string
  readonly onProgress: (progress: VerifyProgress) => void
}

/** Looks up every payment that the wall lists, then searches the chain for other payments. */
async function readChain(
  chain: ChainReader,
  { network, asset, payTo, deeds, owed }: Claims,
  { since, isAll, folder, onProgress }: Reading,
): Promise<{ readonly facts: ChainFacts } & Pick<WallReport, 'searched' | 'requests'>> {
  const [token, payees] = [toLowerHex(asset as Hex), payTo.map((address) => toLowerHex(address as Hex)).toSorted()]
  const of = [network, token, ...payees].join(' ')
  const kept = isAll ? undefined : await readKeptPayments(folder, of)
  const payments: ChainPayment[] = [...(kept?.payments ?? [])]
  const [failed, missing] = [new Set<Hex>(), new Set<Hex>()]
  const known = new Set(payments.map(({ tx }) => tx))
  /** Looks up the transactions that are not known yet. */
  const lookUpReceipts = async (txs: readonly Hex[], onward: (done: number, total: number) => void = () => {}) => {
    const unknown = [...new Set(txs)].filter((tx) => !known.has(tx))
    const receipts = await chain.readReceipts(unknown, (done) => onward(done, unknown.length))
    for (const [at, tx] of unknown.entries()) {
      const receipt = receipts[at] ?? null
      known.add(tx)
      if (receipt === null) missing.add(tx)
      else if (receipt.status === '0x0') failed.add(tx)
      else payments.push(...parsePayments(receipt))
    }
  }

  const head = await chain.readHead()
  const refunds = new Set(owed.flatMap(({ paidOut }) => (paidOut === null ? [] : [paidOut as Hex])))
  const credited = owed.flatMap(({ tx }) => (tx === null ? [] : [tx as Hex]))
  const named = [...deeds.flatMap(({ seq, tx }) => (seq > since ? [tx as Hex] : [])), ...credited]
  await lookUpReceipts([...named, ...refunds], (done, total) => onProgress({ stage: 'payments', done, total }))
  const requests = { payments: chain.countRequests(), search: 0 }

  const isOurs = ({ token: of, to }: ChainPayment) => of === token && payees.includes(to)
  const wanted = new Set(named)
  const heights = payments.filter((payment) => isOurs(payment) && wanted.has(payment.tx)).map(({ height }) => height)
  if (heights.length === 0)
    return { facts: { head, payments, failed, missing, times: new Map() }, searched: undefined, requests }
  const first = heights.reduce((one, other) => (one < other ? one : other))
  const isKept = kept !== undefined && kept.from <= first && kept.through >= kept.from
  const from = isKept ? kept.from : first
  let through = isKept ? kept.through : first - 1n

  const saveProgress = () => {
    const last = head.height > READ_AGAIN ? head.height - READ_AGAIN : 0n
    const isLasting = (payment: ChainPayment) =>
      payment.height <= last && (isOurs(payment) || (payment.token === token && refunds.has(payment.tx)))
    const reached = through < last ? through : last
    const lasting = { of, from, through: reached, payments: payments.filter(isLasting) }
    // If the cache cannot be written, the data is read again next time.
    return writeKeptPayments(folder, lasting).catch(() => {})
  }
  await saveProgress()
  let stretches = 0
  try {
    for await (const stretch of chain.findTransfers(token, payees, through + 1n, head.height)) {
      await lookUpReceipts(stretch.txs)
      through = stretch.through
      onProgress({ stage: 'search', done: Number(through - from), total: Number(head.height - from) })
      if (++stretches % SAVE_EVERY === 0) await saveProgress()
    }
  } finally {
    await saveProgress()
  }
  requests.search = chain.countRequests() - requests.payments
  return { facts: { head, payments, failed, missing, times: new Map() }, searched: { from, through }, requests }
}
