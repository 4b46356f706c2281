/** A chain in memory: which authorizations were spent, and by which transaction. */

import {
  toPaymentKey,
  type Address,
  type Hash,
  type Payment,
  type PaymentKey,
} from '../../../server/domain/purchase/payment.ts'
import type { ChainStatus } from '../../../server/domain/purchase/purchase.ts'
import type { Chain, Transfer } from '../../../server/ports.ts'
import { toHash, HEAD } from '../samples.ts'

export type FakeChain = Chain & {
  /** Moves the money of a payment, and returns the transaction's hash. */
  transferPayment(payment: Payment): Hash
  /** Moves money without an authorization, and returns the transaction's hash. */
  transferDirectly(payer: Address, payTo: Address, amount: bigint): Hash
  /** Ends an authorization without moving money. */
  cancelAuthorization(key: PaymentKey): void
  /** Lets an authorization expire unused. */
  expireAuthorization(key: PaymentKey): void
  holds: bigint // the initial balance of every wallet
  silent: boolean // whether the endpoint is down
  stands: boolean // whether the chain makes blocks only for transactions
  wrong: string | null // the fault that the health check reports
}

const ELSEWHERE = { kind: 'void', why: 'the authorization was used for another transfer' } as const

export function createFakeChain(): FakeChain {
  const spent = new Map<string, ChainStatus>()
  const expired = new Set<string>()
  const received: (Transfer & { readonly payTo: Address })[] = []
  let transactions = 0
  let empty = 0
  const looked = new Set<string>()
  // There is one block per transaction and, unless `stands` is true, one more block before each repeated read of an
  // authorization.
  const computeHead = () => HEAD + BigInt(transactions + empty)
  const chain: FakeChain = {
    holds: 1_000_000_000n,
    silent: false,
    stands: false,
    wrong: null,
    transferPayment(payment) {
      const tx = toHash(++transactions)
      spent.set(toPaymentKey(payment), { kind: 'paid', tx })
      const { payer, nonce, amount, to: payTo } = payment
      received.push({ payer, nonce, amount, tx, height: computeHead(), payTo })
      return tx
    },
    transferDirectly(payer, payTo, amount) {
      const tx = toHash(++transactions)
      received.push({ payer, nonce: null, amount, tx, height: computeHead(), payTo })
      return tx
    },
    cancelAuthorization(key) {
      spent.set(toPaymentKey(key), { kind: 'void', why: 'the authorization was cancelled' })
    },
    expireAuthorization(key) {
      expired.add(toPaymentKey(key))
    },
    async readAuthorization(key) {
      if (chain.silent) return 'silent'
      if (looked.has(toPaymentKey(key)) && !chain.stands) empty += 1
      looked.add(toPaymentKey(key))
      return { head: computeHead(), spent: spent.has(toPaymentKey(key)) }
    },
    async readPaymentStatus(payment, seen) {
      if (chain.silent || seen > computeHead()) return { kind: 'silent' }
      const key = toPaymentKey(payment)
      const unused: ChainStatus = expired.has(key)
        ? { kind: 'void', why: 'the authorization expired without being used', final: true }
        : { kind: 'unspent' }
      const paid = received.find(({ payer, nonce }) => nonce === payment.nonce && payer === payment.payer)
      const isOurs = paid?.payTo === payment.to && paid.amount === (payment.amount ?? paid.amount)
      const end = paid === undefined || isOurs ? spent.get(key) : ELSEWHERE
      if (end === undefined) return unused
      // An outcome is final once the authorization has expired, because no other outcome is possible then.
      return expired.has(key) && (end.kind === 'paid' || end.kind === 'void') ? { ...end, final: true } : end
    },
    async readBalance(wallet) {
      if (chain.silent) return 'silent'
      return received.reduce((left, { payer, amount }) => (payer === wallet ? left - amount : left), chain.holds)
    },
    async checkHealth() {
      if (chain.silent) return { kind: 'silent' }
      return chain.wrong === null ? { kind: 'none' } : { kind: 'fault', what: chain.wrong }
    },
    async readTransfers(asked, from) {
      if (chain.silent) return 'silent'
      if (from > computeHead()) return { transfers: [], next: from, isAll: true }
      const ours = received.filter(({ payTo, height }) => payTo === asked && height >= from)
      return {
        transfers: ours.map(({ payTo: _payTo, ...transfer }) => transfer),
        next: computeHead() + 1n,
        isAll: true,
      }
    },
  }
  return chain
}
