/**
 * The chain over JSON-RPC: looks up the state of authorizations by payer and nonce through the operator's endpoints.
 */

import { createLru } from '../../../shared/lru.ts'
import { toPaymentKey, type PaymentKey, type WatchedPayment } from '../../domain/purchase/payment.ts'
import type { ChainStatus } from '../../domain/purchase/purchase.ts'
import type { Chain, ChainHealth, Receipts } from '../../ports.ts'
import type { Offer } from '../../x402/terms.ts'
import { EndpointBehind, type CallContext } from './endpoint.ts'
import type { Endpoints } from './endpoints.ts'
import { probeEndpoints } from './probe.ts'
import { readBalance, createStateReader } from './state.ts'
import { readStatus, type Proof } from './status.ts'
import { readTransfers } from './transfers.ts'

// If a payment's authorization was read within this time, its buyer is assumed to be waiting for the settlement.
const BUYING_MS = 60_000

// The size of the caches of payments that were read or found paid: more than are open at a time.
const REMEMBERED_MAX = 10_000

const SILENT = { kind: 'silent' } as const

/** Makes the chain port. Each query ends within eight seconds. */
export function createViemChain(endpoints: Endpoints, offer: Offer): Chain {
  const { clock, deadlineMs, machine } = endpoints
  const { asset } = offer.terms
  const states = createStateReader(machine)
  const readAt = createLru<string, number>(REMEMBERED_MAX)
  const proofs = createLru<string, Proof>(REMEMBERED_MAX)

  const chooseUrgency = (payment: PaymentKey) =>
    clock.elapsed() - (readAt.get(toPaymentKey(payment)) ?? -BUYING_MS) < BUYING_MS ? 'settlement' : 'background'
  const callBounded = <T, S>(urgency: CallContext['urgency'], work: (context: CallContext) => Promise<T>, silent: S) =>
    machine.withTimeout<T | S>(deadlineMs, (late) => work({ urgency, late }).catch(() => silent), silent)

  return {
    readAuthorization(key) {
      readAt.set(toPaymentKey(key), clock.elapsed())
      const read = (context: CallContext) =>
        endpoints.tryEach(
          context,
          async (session) => {
            const known = endpoints.findNewest()?.number ?? 0n
            const state = await states.readLatest(session, { asset, key })
            endpoints.recordBlock(state)
            if (!state.spent && state.number < known) throw new EndpointBehind('an older block')
            return { head: state.number, spent: state.spent }
          },
          'wait',
        )
      return callBounded('buyer', read, 'silent')
    },
    readPaymentStatus(payment, head, named) {
      const check = {
        endpoints,
        states,
        payment,
        head,
        named,
        proof: proofs.get(toProofKey(payment)),
        storeProof: (proof: Proof) => proofs.set(toProofKey(payment), proof),
      }
      return callBounded<ChainStatus, typeof SILENT>(
        chooseUrgency(payment),
        (context) => endpoints.tryEach(context, (session) => readStatus(session, check)),
        SILENT,
      )
    },
    readBalance: (wallet) =>
      callBounded<bigint, 'silent'>(
        'background',
        (context) => endpoints.tryEach(context, (session) => readBalance(session, asset, wallet)),
        'silent',
      ),
    checkHealth: () =>
      callBounded<ChainHealth, ChainHealth>(
        'settlement',
        (context) => probeEndpoints(endpoints, states, offer, context),
        NO_ANSWER,
      ),
    readTransfers: (payTo, from) =>
      callBounded<Receipts, 'silent'>(
        'background',
        (context) =>
          endpoints.tryEach(
            context,
            (session) => readTransfers(session, endpoints.findNewest(), asset, payTo, from),
            'wait',
          ),
        'silent',
      ),
  }
}

// A payer may sign a nonce for several amounts.
const toProofKey = (payment: WatchedPayment) => `${toPaymentKey(payment)} ${payment.to} ${payment.amount}`

const NO_ANSWER: ChainHealth = { kind: 'silent', what: 'the chain endpoint did not respond in time' }
