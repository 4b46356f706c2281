/** A chain in memory: which authorizations were spent, and by which transaction. */

import { keyOf, type Hash, type Payment, type PaymentKey } from '../../server/domain/payment.ts'
import type { Verdict } from '../../server/domain/purchase.ts'
import type { Chain } from '../../server/ports.ts'
import { hash, HEAD } from '../ports/samples.ts'

export type FakeChain = Chain & {
  /** Moves the money, and answers the transaction. */
  land(payment: Payment): Hash
  /** Ends an authorization without moving money. */
  cancel(key: PaymentKey): void
  /** Lets an authorization end unused. */
  expire(key: PaymentKey): void
  silent: boolean // whether the endpoint is down
  wrong: string | null // what can never work about it
}

export function fakeChain(): FakeChain {
  const spent = new Map<string, Verdict>()
  const expired = new Set<string>()
  let transactions = 0
  const chain: FakeChain = {
    silent: false,
    wrong: null,
    land(payment) {
      const tx = hash(++transactions)
      spent.set(keyOf(payment), { kind: 'paid', tx })
      return tx
    },
    cancel(key) {
      spent.set(keyOf(key), { kind: 'void', why: 'the authorization was cancelled' })
    },
    expire(key) {
      expired.add(keyOf(key))
    },
    read: async (key) => (chain.silent ? 'silent' : { head: HEAD, spent: spent.has(keyOf(key)) }),
    async verdict(payment, head) {
      if (chain.silent || head > HEAD) return { kind: 'silent' }
      const key = keyOf(payment)
      const unused: Verdict = expired.has(key)
        ? { kind: 'void', why: 'the authorization expired without being used' }
        : { kind: 'unspent' }
      return spent.get(key) ?? unused
    },
    async fault() {
      if (chain.silent) return { kind: 'silent' }
      return chain.wrong === null ? { kind: 'none' } : { kind: 'fault', what: chain.wrong }
    },
  }
  return chain
}
