/** The possible replies to each request of a purchase script, reduced to the cases that differ. */

import { createFailure, StoreUnavailable } from '../../../server/domain/failure.ts'
import type { SettleResult, SignatureCheck, VerifyResult } from '../../../server/domain/purchase/facilitator-errors.ts'
import type { Payment, Availability, Target } from '../../../server/domain/purchase/payment.ts'
import type {
  ScriptAnswer,
  AvailabilityCheck,
  ClaimResult,
  BuyOrder,
  Purchase,
  ScriptRequest,
  SoldPurchase,
  ChainStatus,
} from '../../../server/domain/purchase/purchase.ts'
import { isBlock, getPosition } from '../../../server/domain/purchase/target.ts'
import { trustPixels } from '../../../shared/pixels.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { toAddress, parseBlockOrThrow, toHash, createModelPayment, PLAIN, TERMS } from '../../endurance/sim/samples.ts'
import type { Reply } from './every-path.ts'

export const HERE = parseBlockOrThrow('3,4')
export const ELSEWHERE = parseBlockOrThrow('9,9')
export const HEAD = 100n
export const NOW = 1_700_000_000_000
export const PAID_TX = toHash(0xaa)
export const CLAIMED_TX = toHash(0xbb) // the facilitator's transaction, which may differ from the chain's

const payer = toAddress(1)
export const PAYMENT = createModelPayment(payer, 1, 1_700_000_300n)
export const OLDER_PAYMENT = createModelPayment(payer, 2, 1_700_000_200n)

/** A valid order. */
export const createOrder = (target: Target): BuyOrder => ({
  target,
  payment: PAYMENT,
  listing: PLAIN,
  terms: TERMS,
  now: NOW,
  armed: true,
  isDenied: false,
  contact: 'wall@example.org',
  payees: new Set([TERMS.payTo]),
})

/**
 * Altered copies of `PAYMENT` with its payer and nonce. Anybody can see a payment's payer and nonce, and send such a
 * copy.
 */
export const REPEATS = {
  'other signature': { ...PAYMENT, signature: `0x${'07'.repeat(65)}` },
  'other time': { ...PAYMENT, validBefore: PAYMENT.validBefore + 1n },
  'other money': { ...PAYMENT, amount: PAYMENT.amount + 1n },
} as const satisfies Readonly<Record<string, Payment>>

/** Orders that each have one reason to be refused. */
export const createFlawedOrders = (target: Target): Readonly<Record<string, BuyOrder>> => ({
  denied: { ...createOrder(target), isDenied: true },
  unarmed: { ...createOrder(target), armed: false },
  unfit: { ...createOrder(target), now: NOW + 3_600_000 },
  'bad listing': { ...createOrder(target), listing: createFailure('invalid_listing', 'link: must be an https URL') },
})

/** Orders with altered copies of a payment. */
export const createRepeatedOrders = (target: Target): Readonly<Record<string, BuyOrder>> =>
  Object.fromEntries(Object.entries(REPEATS).map(([name, payment]) => [name, { ...createOrder(target), payment }]))

export type State = Purchase['state']

export const RESERVED: State = { kind: 'reserved', uncertain: false, attempt: 1 }
export const UNCERTAIN: State = { kind: 'reserved', uncertain: true, attempt: 1 }
export const RELEASED: State = { kind: 'released', isFinal: false }
export const FINAL: State = { kind: 'released', isFinal: true }
export const CREDITED: State = { kind: 'credited', tx: PAID_TX }

export const createSoldState = (tx: `0x${string}`, settled: boolean, unanswered: boolean): SoldPurchase['state'] => ({
  kind: 'sold',
  tx,
  claimedAt: NOW,
  name: 'Ada',
  framework: null,
  settled,
  unanswered,
})

export const SOLD = createSoldState(PAID_TX, true, false)
export const SOLD_UNSEEN = createSoldState(CLAIMED_TX, false, false)
export const SOLD_UNANSWERED = createSoldState(PAID_TX, true, true)

export const createPurchase = (payment: Payment, target: Target, block: BlockIndex, state: State): Purchase => ({
  payment,
  target,
  block,
  listing: PLAIN,
  head: HEAD,
  state,
})

const createReply = (label: string, answer: ScriptAnswer): Reply => ({ label, answer })

/** The position of a target, or `next` if it has none. */
function resolvePosition(target: Target, next: BlockIndex): BlockIndex {
  const { at } = getPosition(target)
  return at === 'next' ? next : at
}

/** The older purchase of the same payer for the same target. */
const createOlderPurchase = (target: Target, state: State): Purchase =>
  createPurchase(OLDER_PAYMENT, target, resolvePosition(target, HERE), state)

/** The possible states of the payment in the ledger. */
export const listLookUpReplies = (target: Target): readonly Reply[] => [
  createReply('unknown', undefined),
  createReply('reserved', createPurchase(PAYMENT, target, HERE, RESERVED)),
  createReply('uncertain', createPurchase(PAYMENT, target, HERE, UNCERTAIN)),
  createReply('sold', createPurchase(PAYMENT, target, HERE, SOLD)),
  createReply('sold, unseen', createPurchase(PAYMENT, target, HERE, SOLD_UNSEEN)),
  createReply('sold, unanswered', createPurchase(PAYMENT, target, HERE, SOLD_UNANSWERED)),
  createReply('released', createPurchase(PAYMENT, target, HERE, RELEASED)),
  createReply('final', createPurchase(PAYMENT, target, HERE, FINAL)),
  createReply('credited', createPurchase(PAYMENT, target, HERE, CREDITED)),
]

export function listAvailabilityReplies(target: Target): readonly Reply[] {
  // For a single block, any open block is enough space.
  const crowded: readonly Availability[] = isBlock(target) ? [] : ['crowded']
  const spaces: readonly Availability[] = ['open', 'reserved', 'claimed', ...crowded, 'full']
  const priors: readonly (readonly [string, AvailabilityCheck['prior']])[] = [
    ['', undefined],
    ['prior open, ', createOlderPurchase(target, RESERVED)],
    ['prior sold, ', createOlderPurchase(target, SOLD_UNANSWERED)],
    ['prior sold elsewhere, ', { ...createOlderPurchase(target, SOLD_UNANSWERED), block: ELSEWHERE }],
  ]
  // With a prior purchase, the open and the claimed state represent all others.
  return priors.flatMap(([name, prior]) =>
    (prior === undefined ? spaces : (['open', 'claimed'] as const)).map((space) =>
      createReply(`${name}${space}`, { space, prior }),
    ),
  )
}

const verifications: readonly Reply[] = [
  createReply('valid', { kind: 'valid' } satisfies VerifyResult),
  createReply('bad signature', { kind: 'invalid', reason: 'invalid_exact_evm_signature' } satisfies VerifyResult),
  createReply('invalid', { kind: 'invalid', reason: 'invalid_exact_evm_insufficient_balance' } satisfies VerifyResult),
  createReply('unavailable', { kind: 'unavailable' } satisfies VerifyResult),
  createReply('busy', { kind: 'busy' } satisfies VerifyResult),
]

export const DEFINITE = 'invalid_exact_evm_transaction_simulation_failed'
export const VAGUE = 'invalid_exact_evm_nonce_already_used'

const settlings: readonly Reply[] = [
  createReply('success', { kind: 'success', tx: CLAIMED_TX } satisfies SettleResult),
  createReply('definite refusal', { kind: 'refused', reason: DEFINITE } satisfies SettleResult),
  createReply('vague refusal', { kind: 'refused', reason: VAGUE } satisfies SettleResult),
  createReply('unsent', { kind: 'unsent' } satisfies SettleResult),
  createReply('unclear', { kind: 'unclear' } satisfies SettleResult),
  createReply('busy', { kind: 'busy' } satisfies SettleResult),
]

const statuses: readonly Reply[] = [
  createReply('paid', { kind: 'paid', tx: PAID_TX } satisfies ChainStatus),
  createReply('unspent', { kind: 'unspent' } satisfies ChainStatus),
  createReply('paid for good', { kind: 'paid', tx: PAID_TX, final: true } satisfies ChainStatus),
  createReply('void', { kind: 'void', why: 'the payer cancelled it' } satisfies ChainStatus),
  createReply('void for good', { kind: 'void', why: 'it expired unused', final: true } satisfies ChainStatus),
  createReply('silent', { kind: 'silent' } satisfies ChainStatus),
]

const listClaimReplies = ({
  target,
  payment,
  listing,
  head,
}: Extract<ScriptRequest, { do: 'claim' }>): readonly Reply[] => [
  createReply('claimed', {
    kind: 'claimed',
    purchase: { payment, target, block: resolvePosition(target, ELSEWHERE), listing, head, state: RESERVED },
  } satisfies ClaimResult),
  createReply('lost, reserved', { kind: 'lost', space: 'reserved' } satisfies ClaimResult),
  createReply('lost, claimed', { kind: 'lost', space: 'claimed' } satisfies ClaimResult),
  ...(isBlock(target) ? [] : [createReply('lost, crowded', { kind: 'lost', space: 'crowded' } satisfies ClaimResult)]),
  createReply('lost, full', { kind: 'lost', space: 'full' } satisfies ClaimResult),
  createReply('a prior one', { kind: 'prior' } satisfies ClaimResult),
  createReply('abandoned', { kind: 'abandoned' } satisfies ClaimResult),
]

/** A payment that settled late gets its block, another one, or a credit. */
const listLatePaymentReplies = ({
  purchase: { payment, target },
}: Extract<ScriptRequest, { do: 'fulfil-late-payment' }>): readonly Reply[] => [
  createReply('its block', createPurchase(payment, target, HERE, SOLD_UNANSWERED)),
  createReply('another block', createPurchase(payment, target, ELSEWHERE, SOLD_UNANSWERED)),
  createReply('credit', createPurchase(payment, target, HERE, CREDITED)),
]

const listOtherReplies = (target: Target): readonly Reply[] => [
  createReply('none', undefined),
  createReply('still open', createOlderPurchase(target, UNCERTAIN)),
  createReply('sold', createOlderPurchase(target, SOLD_UNANSWERED)),
  createReply('sold elsewhere', { ...createOlderPurchase(target, SOLD_UNANSWERED), block: ELSEWHERE }),
  createReply('released', createOlderPurchase(target, FINAL)),
  createReply('credited', createOlderPurchase(target, CREDITED)),
]

/**
 * Every possible reply to a request while the store works. `asked` is the requested target, and `used` is the target of
 * a known payment.
 */
export function listReplies(request: ScriptRequest, asked: Target, used: Target = asked): readonly Reply[] {
  switch (request.do) {
    case 'look-up':
      return listLookUpReplies(used)
    case 'check-availability':
      return listAvailabilityReplies(request.target)
    case 'read-chain':
      return [
        createReply('unspent', { head: HEAD, spent: false }),
        createReply('spent', { head: HEAD, spent: true }),
        createReply('silent', 'silent'),
      ]
    case 'verify':
      return verifications
    case 'paint':
      return [
        createReply('painted', trustPixels(new Uint8Array(1200), 12)),
        createReply('no picture', createFailure('invalid_image', 'The image cannot be read.')),
      ]
    case 'check-signature':
    case 'check-for-token':
      return [
        createReply('good', 'signed' satisfies SignatureCheck),
        createReply('bad', 'not-signed' satisfies SignatureCheck),
        createReply('busy', 'busy' satisfies SignatureCheck),
        createReply('silent', 'silent' satisfies SignatureCheck),
      ]
    case 'claim':
      return listClaimReplies(request)
    case 'settle':
      return settlings
    case 'ask-chain':
      return statuses
    case 'mark-uncertain':
      return [createReply('done', { ...request.purchase, state: UNCERTAIN })]
    case 'finalize':
      return [createReply('done', finalizePurchase(request))]
    case 'confirm':
    case 'mark-final':
    case 'mark-missing':
    case 'write-off':
    case 'release':
      return [createReply('done', undefined)]
    case 'record-unclaimed':
      return [createReply('kept', createPurchase(request.purchase.payment, request.purchase.target, HERE, RELEASED))]
    case 'fulfil-late-payment':
      return listLatePaymentReplies(request)
    case 'hand-over':
      return [createReply('given', true), createReply('taken', false)]
    case 'resolve-other':
      return listOtherReplies(asked)
  }
}

function finalizePurchase({ purchase, tx, settled }: Extract<ScriptRequest, { do: 'finalize' }>): SoldPurchase {
  return { ...purchase, state: createSoldState(tx, settled, true) }
}

/** A store that fails now and may work again in a moment. */
export const DOWN: Reply = { label: 'store fails', fault: new StoreUnavailable('the store is busy') }

/** The requests to the ledger, whose port is the only one that throws. */
export const ledgerVerbs: ReadonlySet<ScriptRequest['do']> = new Set([
  'look-up',
  'check-availability',
  'claim',
  'mark-uncertain',
  'finalize',
  'confirm',
  'mark-final',
  'mark-missing',
  'write-off',
  'release',
  'record-unclaimed',
  'fulfil-late-payment',
  'resolve-other',
])
