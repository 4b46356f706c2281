/**
 * Wraps the stock x402 client so that it pays once. A signed payment is saved before it is sent, sent again unchanged
 * while its outcome is open (by the next process if need be), and deleted once its receipt was handed on.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { LocalAccount } from 'viem/accounts'
import type { AreaReceipt } from '../../shared/contract/area-order.ts'
import type { Receipt } from '../../shared/contract/block.ts'
import { lock, type Lock } from './lock.ts'
import {
  type Order,
  type SavedPayment,
  signedPayments,
  type SignedPayments,
  type SignedRequest,
} from './signed-payments.ts'
import { bodyIn, errorIn, unreachable, WallError } from './wall-error.ts'

/** How a buyer behaves. */
export type BuyerOptions = {
  /** The most to sign for one payment, in dollars, such as "1.00"; the stock client's own cap is one dollar. */
  readonly maxDollars?: string | undefined
  /** Told each time the same signed request is about to be sent again; 0 stands for no answer. */
  readonly onWait?: ((status: number) => void) | undefined
  /** Told of a purchase that an earlier process left unfinished and that is finished now. */
  readonly onEarlier?: ((receipt: Receipt | AreaReceipt) => void) | undefined
  /** Told of a purchase of an earlier process that is still open, or that was paid and did not get what was asked. */
  readonly onOpen?: ((error: WallError) => void) | undefined
  /** Told when another process is buying with the same wallet, and has to end first. */
  readonly onLocked?: (() => void) | undefined
}

type BuyerDeps = BuyerOptions & {
  readonly account: Pick<LocalAccount, 'address' | 'signTypedData'>
  readonly payments: SignedPayments // of this wallet at this wall
  readonly lock: Lock
  readonly fetch?: Fetch
  readonly pause?: (ms: number) => Promise<unknown>
}

type Fetch = (request: Request) => Promise<Response>

/** What a buyer keeps in a folder. */
export const keptIn = (folder: string): Pick<BuyerDeps, 'payments' | 'lock'> => ({
  payments: signedPayments(folder),
  lock: (onWait) => lock(folder, onWait),
})

/** A purchase whose payment stays on disk until `done`, so that a caller who dies on the way is given it again. */
export type Bought<Got extends Receipt | AreaReceipt = Receipt> = { readonly receipt: Got; done(): Promise<void> }

/** Buys; throws a `WallError` where that fails. */
export type Buyer = {
  /** Buys what is ordered, or takes up the unfinished purchase of the very same order. Signs at most one payment. */
  buy<Got extends Receipt | AreaReceipt = Receipt>(order: Order): Promise<Bought<Got>>
  /** Finishes what an earlier process left; `onEarlier` is told of each. */
  finish(): Promise<void>
}

type FinishedPurchase = { readonly saved: SavedPayment; readonly receipt: Receipt | AreaReceipt }

/** A purchase of an earlier process that did not end in a receipt. */
type OpenPurchase = { readonly saved: SavedPayment; readonly error: WallError }

/** What the calls under way share: the lock, and the purchases of earlier processes that none of them asked for yet. */
type Session = {
  readonly earlier: FinishedPurchase[]
  readonly open: OpenPurchase[]
  readonly unlock: () => Promise<void>
}

/** Makes a buyer. Its calls may run at the same time; those of other processes with the same folder wait. */
export function buyer({
  account,
  payments,
  lock,
  maxDollars,
  fetch = inTime,
  pause = wait,
  ...told
}: BuyerDeps): Buyer {
  const { onWait, onEarlier, onOpen, onLocked } = told
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
  if (maxDollars !== undefined) client.setSpendControls({ maxAmountPerPayment: `$${maxDollars}` })
  const send = sender({ onWait, fetch, pause })

  const open = async (): Promise<Session> => {
    const unlock = await lock(onLocked)
    try {
      return { unlock, ...(await finishAll(payments, send)) }
    } catch (error) {
      await unlock()
      throw error
    }
  }
  const close = async ({ earlier, open, unlock }: Session) => {
    for (const { saved, receipt } of earlier) {
      onEarlier?.(receipt)
      await saved.remove()
    }
    for (const { error } of open) onOpen?.(error)
    await unlock()
  }
  const { enter, leave } = shared(open, close)

  const pay = payer(client, payments, fetch, send)
  return {
    async buy<Got extends Receipt | AreaReceipt = Receipt>(order: Order) {
      const { earlier, open } = await enter()
      try {
        const unfinished = takeOrdered(open, order)
        if (unfinished?.error.kind === 'paid') throw unfinished.error
        // Nothing is signed anew while the same order may yet be paid for.
        const again = unfinished && (await endOf(unfinished.saved, await send(unfinished.saved)))
        const { receipt, saved } = again ?? takeOrdered(earlier, order) ?? (await pay(order))
        const done = async () => {
          await saved.remove()
          await leave()
        }
        // What is ordered tells which receipt there is.
        return { receipt: receipt as Got, done }
      } catch (error) {
        await leave()
        throw error
      }
    },
    async finish() {
      await enter()
      await leave()
    },
  }
}

type Send = (request: SignedRequest, triesMax?: number) => Promise<Response>

/** Signs one payment for an order, and sends it until the wall has said its last word. */
function payer(
  client: x402Client,
  payments: SignedPayments,
  fetch: Fetch,
  send: Send,
): (order: Order) => Promise<FinishedPurchase> {
  return async (order) => {
    let saved: SavedPayment | undefined
    const saveThenSend = async (input: string | URL | Request, init?: RequestInit) => {
      const request = input instanceof Request ? new Request(input, init) : new Request(input.toString(), init)
      const payment = request.headers.get('payment-signature')
      if (payment === null) return await fetch(request).catch(() => Promise.reject(unreachable(order.url)))
      saved = await payments.save({ ...order, payment })
      return await send(saved)
    }
    // What some runtimes' `fetch` has beside being called.
    const fetchPaying = wrapFetchWithPayment(Object.assign(saveThenSend, globalThis.fetch), client)
    const response = await fetchPaying(order.url, requestOf(order)).catch(async (error: unknown) => {
      if (error instanceof WallError) throw error
      if (saved !== undefined) throw await outcomeUnknown(undefined)
      const reason = error instanceof Error ? error.message : String(error)
      throw new WallError('refused', 'not_signed', `Nothing was signed or paid: ${reason}`)
    })
    if (saved === undefined) throw (await errorOf(response)) ?? unreachable(order.url)
    return await endOf(saved, response)
  }
}

/** Opens with the first that enters, and closes with the last that leaves. */
function shared<T>(open: () => Promise<T>, close: (opened: T) => Promise<void>) {
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

/** Takes the purchase of the very same order out of a list. */
function takeOrdered<T extends { readonly saved: SavedPayment }>(purchases: T[], order: Order): T | undefined {
  const at = purchases.findIndex(({ saved }) => saved.url === order.url && saved.body === order.body)
  return purchases.splice(at, at < 0 ? 0 : 1)[0]
}

/**
 * Sends again what earlier processes left. What can cost nothing any more is dropped; what has no end yet stays for later,
 * and keeps nobody from buying something else.
 */
async function finishAll(payments: SignedPayments, send: Send): Promise<Pick<Session, 'earlier' | 'open'>> {
  const [earlier, open]: [FinishedPurchase[], OpenPurchase[]] = [[], []]
  for (const saved of await payments.list()) {
    try {
      earlier.push(await endOf(saved, await send(saved, EARLIER_TRIES_MAX)))
    } catch (error) {
      if (!(error instanceof WallError)) throw error
      // One that is refused and may still move can be sold when it is sent again.
      if (error.kind !== 'refused' || error.charged === 'unknown') open.push({ saved, error })
    }
  }
  return { earlier, open }
}

/**
 * The end of a purchase by the wall's last word. A payment that was taken for nothing is set aside as a proof; one that the
 * wall still watches stays, so that it is asked after again; any other is dropped.
 */
async function endOf(saved: SavedPayment, response: Response): Promise<FinishedPurchase> {
  const error = await errorOf(response)
  if (error === undefined) return { saved, receipt: (await response.json()) as Receipt | AreaReceipt }
  if (isPaid(error)) throw paidForNothing(error, await saved.setAside())
  if (error.charged !== 'unknown') await saved.remove()
  throw error
}

const isPaid = ({ charged, code }: WallError) => charged === 'yes' || code === 'payment_credited' // of older walls

const paidForNothing = ({ code, message, status }: WallError, path: string): WallError =>
  new WallError(
    'paid',
    code,
    `You paid, but did not get what you asked for. ${message} The signed payment is saved at ${path}.`,
    status,
  )

const TRIES_MAX = 30
const EARLIER_TRIES_MAX = 3
const WAIT_SECONDS = 2
const WAIT_MAX_SECONDS = 30
const ANSWER_MAX_MS = 240_000 // above the longest settlement that a wall waits for

type RetryOptions = Pick<BuyerOptions, 'onWait'> & Required<Pick<BuyerDeps, 'fetch' | 'pause'>>

const inTime: Fetch = (request) => fetch(request, { signal: AbortSignal.timeout(ANSWER_MAX_MS) })

/** Sends signed requests, each until its answer is the wall's last word. Throws `unknown` where none comes. */
function sender({ onWait, fetch, pause }: RetryOptions): Send {
  return async (request, triesMax = TRIES_MAX) => {
    for (let tries = 1; ; tries++) {
      const response = await answerTo(fetch, request)
      if (response !== undefined && (await isFinal(response))) return response
      if (tries >= triesMax) throw await outcomeUnknown(response)
      onWait?.(response?.status ?? 0)
      const seconds = Number(response?.headers.get('retry-after') ?? WAIT_SECONDS)
      await pause(Math.min(Number.isFinite(seconds) ? seconds : WAIT_SECONDS, WAIT_MAX_SECONDS) * 1000)
    }
  }
}

/** An answer with its whole body; `undefined` where it was lost on the way. */
async function answerTo(fetch: Fetch, request: SignedRequest): Promise<Response | undefined> {
  const init = requestOf(request, { 'payment-signature': request.payment })
  try {
    const response = await fetch(new Request(request.url, init))
    return new Response(await response.text(), { status: response.status, headers: response.headers })
  } catch {
    return undefined
  }
}

// What a wall says of a payment for good; whoever stands before it has other statuses for what it does not know.
const FINAL_STATUSES: readonly number[] = [400, 402, 409, 410]

/** Whether these are the wall's words and it will not change them: a proxy's page says nothing about a payment. */
async function isFinal(response: Response): Promise<boolean> {
  if (response.ok) return await isReceipt(response)
  const error = await errorIn(response)
  if (error?.charged === 'yes' || error?.charged === 'no') return true
  return error !== undefined && FINAL_STATUSES.includes(response.status)
}

/** Whether an answer is a receipt, by what it says: not every proxy passes on the header that comes with one. */
async function isReceipt(response: Response): Promise<boolean> {
  const body = await bodyIn(response)
  return 'owner' in body && body.owner === 'you'
}

async function outcomeUnknown(response: Response | undefined): Promise<WallError> {
  const said = response === undefined ? undefined : await errorIn(response)
  const what = said === undefined ? 'The wall does not respond.' : said.message
  return new WallError(
    'unknown',
    said?.code ?? 'outcome_unknown',
    `${what} The signed payment is saved. Repeat the same purchase; you will not pay twice.`,
    response?.status,
  )
}

/** An order as `fetch` takes it. */
function requestOf({ body }: Order, headers: Readonly<Record<string, string>> = {}): RequestInit {
  const accepting = { accept: 'application/json', ...headers }
  if (body === undefined) return { headers: accepting }
  return { method: 'POST', headers: { ...accepting, 'content-type': 'application/json' }, body }
}

/** Why an answer is no receipt; `undefined` for one that is. */
async function errorOf(response: Response): Promise<WallError | undefined> {
  if (response.ok && (await isReceipt(response))) return undefined
  if (response.ok) return new WallError('refused', 'block_taken', 'That block is already sold. Nothing was paid.', 200)
  return (
    (await errorIn(response)) ??
    new WallError(
      'unavailable',
      'no_wall',
      `There is no wall at this address: it returned ${response.status}. Nothing was paid.`,
    )
  )
}
