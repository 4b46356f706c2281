/**
 * Buys over x402, and pays once. A signed payment is saved before it is sent. While its outcome is open, it is sent
 * again unchanged, by the next process if need be. It is deleted once its receipt has been handed on. `next-step.ts`
 * decides each step, and this module carries it out.
 */

import { setTimeout as wait } from 'node:timers/promises'
import type { AreaReceipt } from '../../shared/contract/area-order.ts'
import type { Receipt } from '../../shared/contract/block.ts'
import { parseObject } from './json.ts'
import { lockFolder, type Lock } from './lock.ts'
import {
  type Answer,
  estimateCost,
  createEmptyWalletFailure,
  decideNextStep,
  createNotResentFailure,
  createNotSavedFailure,
  createNotSignedFailure,
  type Step,
  addNothingPaid,
} from './next-step.ts'
import type { OrderToPay } from './orders.ts'
import { parseAuthorization, createSalt, signPayment, type Signer, type Terms } from './payment.ts'
import {
  NotSavedError,
  type OrderRequest,
  type SavedPayment,
  openSignedPayments,
  type SignedPayments,
  type SignedRequest,
} from './signed-payments.ts'
import { WallError } from './wall-error.ts'

/** How a buyer behaves. */
export type BuyerOptions = {
  /**
   * The most that one call may spend, in dollars, such as "12.00"; one dollar by default. It covers the call's own
   * purchase and any unfinished purchases of earlier processes that the call completes.
   */
  readonly maxDollars?: string | undefined
  /**
   * Called with a status and an explanation before each resend of the same signed request, and once if a request takes
   * long. Status 0 means no response.
   */
  readonly onWait?: ((status: number, message: string) => void) | undefined
  /** Called with a purchase that an earlier process left unfinished and that is finished now. */
  readonly onEarlier?: ((receipt: Receipt | AreaReceipt) => void) | undefined
  /**
   * Called with the error of an earlier process's payment that may still be taken, or was taken without buying the
   * order.
   */
  readonly onOpen?: ((error: WallError) => void) | undefined
  /** Called if another process is buying with the same wallet, and has to finish first. */
  readonly onLocked?: (() => void) | undefined
}

type BuyerDeps = BuyerOptions & {
  readonly account: Signer
  readonly payments: SignedPayments // the payments of this wallet at this wall
  readonly lock: Lock
  /** The wallet's balance of the requested asset on the chain; throws a `WallError` if the chain cannot be queried. */
  readonly readBalance?: ((terms: Terms) => Promise<bigint>) | undefined
  /** Whether the wallet owns the area of the wall with this name. */
  readonly isOwnArea?: (area: string) => Promise<boolean>
  readonly fetch?: Fetch
  readonly pause?: (ms: number) => Promise<unknown>
  readonly now?: () => number // Unix milliseconds
  readonly slowMs?: number // the time after which a request counts as slow
}

type Fetch = (request: Request) => Promise<Response>

/** The stored data of a buyer. */
export const openPaymentStore = (folder: string): Pick<BuyerDeps, 'payments' | 'lock'> => ({
  payments: openSignedPayments(folder),
  lock: (onWait) => lockFolder(folder, onWait),
})

/** A purchase. Its payment stays on disk until `done`, so that a caller that crashes earlier gets the receipt again. */
export type Bought<Got extends Receipt | AreaReceipt = Receipt> = { readonly receipt: Got; done(): Promise<void> }

/** Buys; throws a `WallError` if that fails. */
export type Buyer = {
  /** Buys an order, or resumes the unfinished purchase of the very same order. At most one payment is taken for it. */
  buy<Got extends Receipt | AreaReceipt = Receipt>(order: OrderToPay): Promise<Bought<Got>>
  /** Finishes purchases that earlier processes left, within the maximum. Reports them to `onEarlier` or `onOpen`. */
  finish(): Promise<void>
}

type FinishedPurchase = { readonly saved: SavedPayment; readonly receipt: Receipt | AreaReceipt }

/**
 * A payment of an earlier process: its outcome if it was sent again, or whether it was skipped because it exceeds the
 * budget.
 */
type Leftover = { readonly saved: SavedPayment; end?: Promise<FinishedPurchase>; isPassedOver?: true }

/** The shared state of concurrent calls: the lock, and payments of earlier processes that no call has claimed yet. */
type Session = { readonly left: Leftover[]; readonly unlock: () => Promise<void> }

const TRIES_MAX = 30
const EARLIER_TRIES_MAX = 3

// The first signature, and one more if the terms changed before the first one was used.
const SIGNATURES_MAX = 2

/** Makes a buyer. Its calls may run concurrently; calls of other processes with the same folder wait. */
export function createBuyer(deps: BuyerDeps): Buyer {
  const { payments, lock, onLocked, now = Date.now } = deps
  const max = parseDollars(deps.maxDollars ?? '1.00')
  const pursue = createPursuer(deps, max)
  const finishEarlier = createFinisher(deps, pursue)

  const openSession = async (): Promise<Session> => {
    const unlock = await lock(onLocked)
    try {
      return { unlock, left: (await payments.list()).map((saved) => ({ saved })) }
    } catch (error) {
      await unlock()
      throw error
    }
  }
  const closeSession = async ({ left, unlock }: Session) => {
    for (const { end } of left) {
      const finished = await end?.catch(() => undefined)
      await finished?.saved.remove()
    }
    await unlock()
  }
  const { enter, leave } = createSharedSession(openSession, closeSession)

  const buyInSession = async (session: Session, order: OrderToPay): Promise<FinishedPurchase> => {
    const own = takeLeftover(session.left, order)
    // Another call of this process may already be finishing this purchase.
    const finished = await own?.end?.catch(ignoreRefusal)
    if (finished !== undefined) return finished
    const saved = own?.end === undefined ? own?.saved : undefined
    if (saved !== undefined)
      await finishEarlier(session, max - (estimateCost(parseSavedAuthorization(saved), now()) ?? max))
    const finishBeforeSigning = (price: bigint) => finishEarlier(session, max - price)
    return await pursue({
      order,
      saved,
      beforeSigning: finishBeforeSigning,
      triesMax: TRIES_MAX,
      signaturesMax: SIGNATURES_MAX,
    })
  }

  return {
    async buy<Got extends Receipt | AreaReceipt = Receipt>(order: OrderToPay) {
      const session = await enter()
      try {
        const { receipt, saved } = await buyInSession(session, order)
        const closeAndFinish = async () => {
          await saved.remove()
          await leave()
        }
        // The order determines the form of the receipt.
        return { receipt: receipt as Got, done: closeAndFinish }
      } catch (error) {
        await leave()
        throw error
      }
    },
    async finish() {
      const session = await enter()
      try {
        await finishEarlier(session, max)
      } finally {
        await leave()
      }
    },
  }
}

/** Makes a function that resends payments of earlier processes, within a budget. */
function createFinisher({ onEarlier, onOpen, now = Date.now }: BuyerDeps, pursue: Pursue) {
  return async ({ left }: Session, budget: bigint): Promise<void> => {
    let rest = budget
    for (const leftover of left.slice()) {
      const { saved } = leftover
      // Another call of this process may have claimed this payment in the meantime.
      if (leftover.end !== undefined || leftover.isPassedOver === true || !left.includes(leftover)) continue
      const cost = estimateCost(parseSavedAuthorization(saved), now())
      if (cost === undefined || cost > rest) {
        leftover.isPassedOver = true
        onOpen?.(new WallError(createNotResentFailure(saved.url, parseSavedAuthorization(saved), now())))
        continue
      }
      leftover.end = pursue({ order: toOrder(saved), saved, triesMax: EARLIER_TRIES_MAX, signaturesMax: 0 })
      const end = await leftover.end.catch(toWallError)
      if (!(end instanceof WallError)) onEarlier?.(end.receipt)
      else if (end.kind === 'unknown' || end.kind === 'paid') onOpen?.(end)
      else continue // the payment was not taken, and no longer can be
      rest -= cost
    }
  }
}

/** An order to complete, with the payment that an earlier process signed for it, if any. */
type Pursuit = {
  readonly order: OrderToPay
  readonly saved?: SavedPayment | undefined
  readonly triesMax: number
  readonly signaturesMax: number
  readonly beforeSigning?: (price: bigint) => Promise<void>
}

type Pursue = (pursuit: Pursuit) => Promise<FinishedPurchase>

const SLOW_MS = 10_000
const STILL_WAITING =
  'The wall has not responded yet. A payment can take minutes while the chain or a facilitator is slow.'

/**
 * Makes a function that takes step after step until an order has its receipt, and that throws if the next step is to
 * stop.
 */
function createPursuer(deps: BuyerDeps, max: bigint): Pursue {
  const { account, onWait, isOwnArea, fetch = fetchWithTimeout, pause = wait, now = Date.now, slowMs = SLOW_MS } = deps
  return async ({ order, triesMax, signaturesMax, beforeSigning, ...pursuit }) => {
    let { saved } = pursuit
    let [isEarlier, tries, signaturesLeft] = [true, 0, signaturesMax]
    let isOwn = order.place === undefined ? false : undefined
    for (;;) {
      const slow = setTimeout(() => onWait?.(0, STILL_WAITING), slowMs)
      const answer = await fetchAnswer(fetch, saved ?? order)
      clearTimeout(slow)
      tries += 1
      const decideStep = () => {
        const sent = saved && { ...parseSavedAuthorization(saved), tries, triesMax, isEarlier }
        const { url, blocks } = order
        return decideNextStep(answer, {
          url,
          blocks,
          wallet: account.address,
          max,
          now: now(),
          signaturesLeft,
          isOwn,
          sent,
        })
      }
      let step = decideStep()
      if (step.do === 'check-owner') {
        isOwn = await isOwnArea?.(order.place ?? '').catch(() => false)
        isOwn ??= false
        step = decideStep()
      }
      if (step.do === 'deliver' && saved !== undefined) return { saved, receipt: step.receipt as Receipt | AreaReceipt }
      if (step.do === 'stop') throw await handleStop(step, saved)
      if (step.do === 'resend') {
        onWait?.(answer?.status ?? 0, step.why)
        await pause(step.afterMs)
      }
      if (step.do === 'ask') {
        await saved?.remove()
        saved = undefined
      }
      if (step.do === 'sign') {
        await beforeSigning?.(step.terms.amount)
        await checkBalance(deps, step.terms)
        saved = await signAndSave(deps, order, step.terms)
        ;[isEarlier, tries, signaturesLeft] = [false, 0, signaturesLeft - 1]
      }
    }
  }
}

/** Throws if the wallet cannot pay the amount it is about to sign, or if the balance cannot be read. */
async function checkBalance({ account, readBalance }: BuyerDeps, terms: Terms): Promise<void> {
  const balance = await readBalance?.(terms).catch((error: unknown) => {
    throw new WallError(addNothingPaid(toWallError(error)))
  })
  if (balance !== undefined && balance < terms.amount)
    throw new WallError(createEmptyWalletFailure(account.address, balance, terms))
}

/** Signs a payment for an order, and saves it before it is sent anywhere. */
async function signAndSave(
  { account, payments, now = Date.now }: BuyerDeps,
  { url, body, text }: OrderToPay,
  terms: Terms,
): Promise<SavedPayment> {
  const salt = createSalt()
  const payment = await signPayment(account, terms, { text, salt, now: now() }).catch((error: unknown) => {
    throw new WallError(createNotSignedFailure(error instanceof Error ? error.message : String(error)))
  })
  const request = { url, ...(body === undefined ? {} : { body }), payment, salt }
  return await payments.save(request).catch((error: unknown) => {
    throw error instanceof NotSavedError ? new WallError(createNotSavedFailure(error.message, error.leftAt)) : error
  })
}

/** Handles the saved payment as the step requires; returns the failure to throw. */
async function handleStop(
  { failure, saved: what }: Extract<Step, { do: 'stop' }>,
  saved?: SavedPayment,
): Promise<WallError> {
  if (what === 'removed') await saved?.remove()
  if (what !== 'set aside' || saved === undefined) return new WallError(failure)
  const message = `${failure.message} The signed payment is saved at ${await saved.setAside()}.`
  return new WallError({ ...failure, message })
}

// An order of an earlier process is only sent again, never signed again, so its text and block count are not used.
const toOrder = ({ url, body }: SavedPayment): OrderToPay => ({
  url,
  ...(body === undefined ? {} : { body }),
  text: '',
  blocks: 1,
})

/** The amount of a saved payment, and until when it is valid. */
const parseSavedAuthorization = ({ payment }: SavedPayment) =>
  parseAuthorization(payment) ?? { amount: undefined, until: undefined }

/** Opens a session for the first caller, and closes it after the last one. */
function createSharedSession<T>(open: () => Promise<T>, close: (opened: T) => Promise<void>) {
  let inside = 0
  let opened: Promise<T> | undefined
  return {
    async enter(): Promise<T> {
      inside += 1
      opened ??= open()
      const mine = opened
      return await mine.catch((error: unknown) => {
        inside -= 1
        if (opened === mine) opened = undefined
        throw error
      })
    },
    async leave(): Promise<void> {
      inside -= 1
      if (inside > 0 || opened === undefined) return
      const last = opened
      opened = undefined
      await close(await last)
    },
  }
}

/** Takes the payment of the very same order out of the leftover payments. */
function takeLeftover(left: Leftover[], order: OrderToPay): Leftover | undefined {
  const at = left.findIndex(({ saved }) => saved.url === order.url && saved.body === order.body)
  return left.splice(at, at < 0 ? 0 : 1)[0]
}

/** Ignores a `refused` error, because that payment has ended; throws any other error. */
function ignoreRefusal(error: unknown): undefined {
  if (toWallError(error).kind !== 'refused') throw error
}

function toWallError(error: unknown): WallError {
  if (error instanceof WallError) return error
  throw error
}

const dollarsPattern = /^\d{1,9}(?:\.\d{1,6})?$/
const DECIMALS = 6

/** Converts dollars to atomic units. */
function parseDollars(dollars: string): bigint {
  if (!dollarsPattern.test(dollars)) throw new TypeError('maxDollars must be an amount in dollars, such as 1.00.')
  const [whole = '', fraction = ''] = dollars.split('.')
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

const ANSWER_MAX_MS = 240_000 // longer than the longest settlement that a wall waits for

const fetchWithTimeout: Fetch = (request) => fetch(request, { signal: AbortSignal.timeout(ANSWER_MAX_MS) })

/** The response to a request, with its whole body; `undefined` if no complete response arrived. */
async function fetchAnswer(fetch: Fetch, request: OrderRequest | SignedRequest): Promise<Answer | undefined> {
  try {
    const response = await fetch(createRequest(request))
    const readHeader = (name: string) => response.headers.get(name) ?? undefined
    return {
      status: response.status,
      body: parseObject(await response.text()),
      terms: readHeader('payment-required'),
      settlement: readHeader('payment-response'),
      retryAfter: readHeader('retry-after'),
    }
  } catch {
    return undefined
  }
}

function createRequest({ url, body, ...rest }: OrderRequest | SignedRequest): Request {
  const paying = 'payment' in rest ? { 'payment-signature': rest.payment } : {}
  const headers = { accept: 'application/json', ...paying }
  if (body === undefined) return new Request(url, { headers })
  return new Request(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
}
