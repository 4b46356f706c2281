/** Whether the claimed payments are on the chain: payer, amount, token and payee. */

import { toLowerHex, type MatchedArrivals, matchArrivals } from '../../../shared/chain/arrivals.ts'
import type { OwedMoney, SaleDeed } from '../../../shared/contract/deeds.ts'
import { formatMoney } from '../../../shared/money.ts'
import { isNetwork, networks } from '../../../shared/usdc.ts'
import { truncateWallet } from '../../../shared/wallet.ts'
import type { ChainFacts, ChainPayment, Hex } from './chain-facts.ts'
import type { Claims } from './claims.ts'
import type { Finding, Flaw } from './verdict.ts'

/** A deed or credit, reduced to its payment. */
type Paid = Pick<SaleDeed, 'wallet' | 'nonce' | 'tx' | 'amount'> & { readonly payTo?: string }

/** Owed money, with its payment. */
export type Credit = OwedMoney & Paid

export const isCredit = (owed: OwedMoney): owed is Credit => owed.tx !== null && owed.amount !== null

/** All payments, matched with the claims. */
export type Payments = {
  readonly matched: MatchedArrivals<ChainPayment>
  /** The payment on the chain with a claim's payer, nonce and amount. */
  findPayment(claim: Paid): ChainPayment | undefined
  /** How a claim's payment on the chain differs from the claim; `undefined` if it does not. */
  findFlaw(claim: Paid): Flaw | undefined
  /** Whether a credit's refund is on the chain. */
  isPaidBack(credit: Credit): boolean
}

/** Matches the payments on the chain with all claims of a wall. */
export function matchPayments({ asset, payTo, deeds, owed }: Claims, facts: ChainFacts): Payments {
  const token = toLowerHex(asset as Hex)
  const payees = new Set(payTo.map((address) => address.toLowerCase()))
  const inTransaction = new Map<string, ChainPayment[]>()
  for (const payment of facts.payments)
    inTransaction.set(payment.tx, [...(inTransaction.get(payment.tx) ?? []), payment])
  // Of two claims to one payment, the first counts.
  const claimed = [...deeds, ...owed.filter(isCredit)].toReversed()
  const recorded = {
    amounts: new Map(claimed.map((claim) => [toClaimKey(claim), BigInt(claim.amount)])),
    unfinished: new Set<string>(),
    noted: new Map(owed.map((entry) => [toClaimKey(entry), 'resolved' as const])),
  }
  const arrivals = facts.payments.filter((payment) => payment.token === token && payees.has(payment.to))
  const matched = matchArrivals(arrivals, recorded, toChainPaymentKey)
  const booked = new Map(matched.booked.map((arrival) => [toChainPaymentKey(arrival), arrival]))
  const findBooked = (claim: Paid) => booked.get(toClaimKey(claim))
  return {
    matched,
    findPayment: findBooked,
    findFlaw(claim) {
      const { nonce, tx, payTo: payee } = claim
      const arrival = findBooked(claim)
      if (arrival !== undefined && arrival.tx !== tx)
        return ['another_transaction', `its payment is in transaction ${arrival.tx}, not in ${tx}`]
      if (arrival !== undefined && (payee === undefined || arrival.to === payee.toLowerCase())) return undefined
      if (facts.failed.has(tx as Hex)) return ['failed_transaction', `its transaction ${tx} failed`]
      if (facts.missing.has(tx as Hex)) return ['not_on_chain', `its transaction ${tx} is not on the chain`]
      const withNonce = (inTransaction.get(tx) ?? []).filter((payment) => payment.nonce === nonce)
      const found = withNonce.find((payment) => payment.token === token) ?? withNonce[0]
      if (found === undefined) return ['no_payment', `transaction ${tx} has no payment with its nonce ${nonce}`]
      return findDifference(claim, found, token)
    },
    isPaidBack: (credit) =>
      (inTransaction.get(credit.paidOut ?? '') ?? []).some(
        (payment) =>
          payment.token === token &&
          payment.to === findBooked(credit)?.payer &&
          payment.amount >= BigInt(credit.amount),
      ),
  }
}

/** How a payment with a claim's nonce differs from the claim. */
function findDifference({ wallet, tx, amount, payTo }: Paid, found: ChainPayment, token: string): Flaw {
  if (found.token !== token) return ['another_token', `it was paid in another token, ${found.token}, in ${tx}`]
  if (truncateWallet(found.payer) !== wallet)
    return ['another_payer', `it shows ${wallet}, but ${truncateWallet(found.payer)} paid, in ${tx}`]
  if (found.amount !== BigInt(amount))
    return [
      'another_amount',
      `it says ${formatMoney(BigInt(amount))}, but ${formatMoney(found.amount)} was paid, in ${tx}`,
    ]
  if (found.to === payTo?.toLowerCase())
    return ['another_address', `${found.to}, which is not one of the wall’s addresses, was paid in ${tx}`]
  return ['another_address', `it says that ${payTo ?? 'the wall'} was paid, but ${found.to} was paid, in ${tx}`]
}

/** The key of a deed's or credit's payment. */
export const toClaimKey = ({ wallet, nonce }: Pick<Paid, 'wallet' | 'nonce'>): string => `${wallet}:${nonce}`

// A wall shows wallets shortened, so only the shortened form can be compared.
const toChainPaymentKey = ({ payer, nonce }: { readonly payer: Hex; readonly nonce: Hex | null }) =>
  `${truncateWallet(payer)}:${nonce}`

/** The finding about a payment to the wall that the wall does not mention. */
export const createNoDeedFinding = ({ payer, nonce, amount, tx }: ChainPayment): Finding => ({
  kind: 'payment_without_deed',
  message: `${truncateWallet(payer)} paid ${formatMoney(amount)} in ${tx}, but the wall lists no deed, credit or note for that payment`,
  ...(nonce === null ? {} : { nonce }),
  tx,
})

/**
 * The finding that a wall is not paid in its network's dollar, so that nothing can be proved; otherwise `undefined`.
 */
export function checkToken({ network, asset }: Pick<Claims, 'network' | 'asset'>): Finding | undefined {
  const known = isNetwork(network) ? networks[network] : undefined
  if (known?.token.address === asset.toLowerCase()) return undefined
  const message = `the wall is paid in ${asset} on ${network}, which is not a dollar that this client knows`
  return { kind: 'another_network', message }
}
