/**
 * Clients that store their payments: the real client, with a folder that outlives its processes. They are judged by the
 * money that left the wallet: one wish is paid once, and the client reports every payment that was taken.
 */

import { createBuyer } from '../../../../server/client/buyer.ts'
import type { SavedPayment, SignedRequest } from '../../../../server/client/signed-payments.ts'
import { WallError, type FailureKind } from '../../../../server/client/wall-error.ts'
import { statusOf, type Failure, type FailureCode } from '../../../../server/domain/failure.ts'
import { toPaymentKey, computeTerms, type Payment, type Target } from '../../../../server/domain/purchase/payment.ts'
import type { Outcome } from '../../../../server/domain/purchase/purchase.ts'
import type { OfferState } from '../../../../server/purchase/seller.ts'
import type { BlockIndex } from '../../../../shared/wall.ts'
import { Violation } from '../check.ts'
import type { Book } from '../ledger-model.ts'
import { SIGNED } from '../samples.ts'
import { isCharged, readTerms, computeTime, type World } from '../world.ts'
import { signPayment, type Crowd, type Payer } from './payers.ts'

/** Sends requests to a wall; the callback gets the response, or `undefined` if there is none. */
export type Line = {
  requestOffer(target: Target, onAnswer: (space: OfferState | undefined) => void): void
  sendPayment(target: Target, payment: Payment, onOutcome: (outcome: Outcome | undefined) => void): void
}

/** A wish, which may take several processes of the client. */
export type Errand = { readonly target: Target; readonly signed: Payment[]; end: FailureKind | 'served' | undefined }

export type Keeper = {
  readonly payer: Payer
  readonly folder: Map<string, SignedRequest> // signed requests, by payment header
  readonly payments: Map<string, Payment> // the payment in each header
  readonly reported: Set<string> // payments that the client reported as taken
  readonly errands: Errand[]
  process: object | undefined // `undefined` while none is running
}

export const createKeeper = (payer: Payer): Keeper => ({
  payer,
  folder: new Map(),
  payments: new Map(),
  reported: new Set(),
  errands: [],
  process: undefined,
})

/** Whether a client has something left to do. */
export const isBusy = ({ process, errands, folder }: Keeper): boolean =>
  process !== undefined || folder.size > 0 || errands.some(({ end }) => end === undefined)

/** Starts a process of the client: for a wish, or else to finish earlier purchases. */
export function startKeeper(
  world: World,
  crowd: Crowd,
  keeper: Keeper,
  line: Line,
  errand: Errand | undefined,
  failed: (error: unknown) => void,
): void {
  const process = {}
  keeper.process = process
  world.trace(() => `client: ${keeper.payer.wallet.slice(-4)} starts for ${errand?.target ?? 'earlier purchases'}`)
  // A dead process does nothing more.
  const runWhileAlive = <T>(act: () => Promise<T>) =>
    keeper.process === process ? act() : Promise.withResolvers<T>().promise
  const parsePayment = (header: string): Payment => {
    const known = keeper.payments.get(header)
    if (known !== undefined) return known
    if (errand === undefined) throw new Violation('a client that only finishes purchases signs nothing')
    const payment = signPayment(world, crowd, keeper.payer, errand.target, drawPen(world))
    keeper.payments.set(header, payment)
    errand.signed.push(payment)
    return payment
  }
  const recordEnd = (end: 'served' | 'paid', payment: string) => {
    world.trace(() => `client: reports ${payment.slice(-4)} as ${end}`)
    keeper.reported.add(payment)
    for (const one of keeper.errands) if (one.signed.some((of) => toPaymentKey(of) === payment)) one.end ??= end
  }
  const toSavedPayment = (request: SignedRequest): SavedPayment => ({
    ...request,
    remove: () => runWhileAlive(() => world.scheduler.call(process, () => void keeper.folder.delete(request.payment))),
    setAside: () =>
      runWhileAlive(() =>
        world.scheduler.call(process, () => {
          keeper.folder.delete(request.payment)
          recordEnd('paid', toPaymentKey(parsePayment(request.payment)))
          return 'a folder'
        }),
      ),
  })
  const client = createBuyer({
    account: { address: keeper.payer.wallet, signTypedData: () => Promise.resolve(SIGNED) },
    payments: {
      save: (request) =>
        runWhileAlive(() =>
          world.scheduler.call(process, () => {
            parsePayment(request.payment)
            keeper.folder.set(request.payment, request)
            return toSavedPayment(request)
          }),
        ),
      list: () =>
        runWhileAlive(() => world.scheduler.call(process, () => [...keeper.folder.values()].map(toSavedPayment))),
    },
    lock: () => Promise.resolve(() => Promise.resolve()),
    pause: (ms) => runWhileAlive(() => world.scheduler.wait(process, ms)),
    fetch: (request) => runWhileAlive(() => respondTo(world, line, request, parsePayment)),
    now: () => computeTime(world),
    maxDollars: '1000000',
    onEarlier: (receipt) => recordEnd('served', readPaymentKey(receipt)),
  })
  const createPurchase = async (target: Target) => {
    const { receipt, done } = await client.buy({ url: `http://wall/${target}`, text: String(target), blocks: 1 })
    recordEnd('served', readPaymentKey(receipt))
    if (errand !== undefined) errand.end = 'served'
    await done()
  }
  const ended = errand === undefined ? client.finish() : createPurchase(errand.target)
  ended
    .catch((error: unknown) => {
      if (!(error instanceof WallError)) throw error
      world.trace(() => `client: ends with ${error.kind} ${error.code}`)
      if (errand !== undefined && isOver(error)) errand.end = error.kind
    })
    .catch(failed)
    .finally(() => {
      if (keeper.process === process) keeper.process = undefined
    })
}

/**
 * Whether the caller gives up the wish after this error, e.g. because of an empty wallet, though the payment may stay
 * open.
 */
const isOver = ({ kind, code }: WallError) =>
  kind === 'refused' || kind === 'paid' || (kind === 'unknown' && code === 'payment_required')

const drawPen = ({ prng }: World) => ({ seconds: prng.pick([30, 90, 300, 300]), signature: SIGNED }) as const

/** The payment key in a receipt of the model wall; empty if there is none. */
const readPaymentKey = (receipt: object): string => ('payment' in receipt ? String(receipt.payment) : '')

/** The wall's response as it reaches a client, or a gateway's response in its place. */
function respondTo(
  world: World,
  line: Line,
  { url, headers }: Request,
  paymentIn: (header: string) => Payment,
): Promise<Response> {
  const target = parseTarget(url)
  const header = headers.get('payment-signature')
  return new Promise((resolve, reject) => {
    const loseProcess = () => {
      const strange = drawStrangeAnswer(world)
      if (strange === undefined) reject(new TypeError('the connection is lost'))
      else resolve(strange)
    }
    if (header === null)
      line.requestOffer(target, (space) =>
        space === undefined ? loseProcess() : resolve(createOfferResponse(world, target, space)),
      )
    else
      line.sendPayment(target, paymentIn(header), (outcome) =>
        outcome === undefined ? loseProcess() : resolve(createOutcomeResponse(world, target, outcome)),
      )
  })
}

/**
 * A proxy's response in place of the wall's, as a page or as JSON that looks like the wall's; `undefined` if the
 * connection is lost.
 */
function drawStrangeAnswer({ prng }: World): Response | undefined {
  const status = prng.pick([0, 0, 200, 400, 404, 409, 410, 413, 429, 502, 503])
  if (status === 0) return undefined
  if (status === 200) return prng.nextBoolean(0.5) ? createDeed() : createCutResponse()
  if (prng.nextBoolean(0.5)) return new Response('<p>a proxy</p>', { status })
  return Response.json({ error: 'bad_gateway', message: 'Nothing was charged.' }, { status })
}

/** A response whose body is cut off. */
const createCutResponse = () => new Response(JSON.stringify({ owner: 'you', payment: '' }).slice(0, -2))

function parseTarget(url: string): Target {
  const name = new URL(url).pathname.slice(1)
  return (/^\d+$/.test(name) ? (Number(name) as BlockIndex) : name) as Target
}

function createOfferResponse(world: World, target: Target, space: OfferState): Response {
  if (space === 'open' || space === 'uncertain') return createRefusal(world, target, 'payment_required')
  if (space === 'claimed' && typeof target === 'number') return createDeed()
  return createRefusal(world, target, spaceCodes[space])
}

const createDeed = () => Response.json({ state: 'claimed' })

const spaceCodes = { claimed: 'sold_out', reserved: 'purchase_pending', crowded: 'no_room' } as const

function createOutcomeResponse(world: World, target: Target, outcome: Outcome): Response {
  if (outcome.kind === 'bought') return Response.json({ owner: 'you', payment: toPaymentKey(outcome.purchase.payment) })
  return createRefusal(world, target, outcome.code, outcome.details)
}

// The USDC contract, because the real client pays with no other token.
const DOLLARS = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

function createRefusal(world: World, target: Target, code: FailureCode, details?: Failure['details']): Response {
  const { network, payTo, amount } = computeTerms(readTerms(world), target)
  const terms = {
    scheme: 'exact',
    network,
    payTo,
    amount: String(amount),
    asset: DOLLARS,
    maxTimeoutSeconds: 300,
    extra: {
      name: 'USD Coin',
      version: '2',
    },
  }
  const demand = { x402Version: 2, resource: { url: 'http://wall/' }, accepts: [terms] }
  const headers = code === 'payment_required' ? { 'payment-required': btoa(JSON.stringify(demand)) } : {}
  return Response.json({ error: code, message: '', ...details }, { status: statusOf[code], headers })
}

/** Compares the money that left each wallet with the reports of its client. */
export function checkKeepers(world: World, book: Book, keepers: readonly Keeper[]): void {
  for (const { errands, payments, reported } of keepers) {
    for (const { signed } of errands) {
      const charged = signed.filter((payment) => isCharged(world, payment))
      if (charged.length > 1) throw new Violation(`one wish is paid for once: payments ${formatNonces(charged)}`)
    }
    const untold = [...payments.values()].filter((payment) => {
      const kind = book.findRow(toPaymentKey(payment))?.state.kind
      const isTaken =
        world.spendings.get(toPaymentKey(payment))?.kind === 'transfer' && !world.undone.has(toPaymentKey(payment))
      return isTaken && (kind === 'sold' || kind === 'credited') && !reported.has(toPaymentKey(payment))
    })
    if (untold.length > 0)
      throw new Violation(`a client says of what was taken that it was: payments ${formatNonces(untold)}`)
  }
}

const formatNonces = (payments: readonly Payment[]) => payments.map(({ nonce }) => nonce.slice(-4)).join(' ')
