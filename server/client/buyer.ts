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
import { lock } from './lock.ts'
import { signedPayments, type Order, type SavedPayment, type SignedRequest } from './signed-payments.ts'
import { ask, errorIn, unreachable, WallError } from './wall-error.ts'

/** How a buyer behaves. */
export type BuyerOptions = {
  /** The most to sign for one payment, in dollars, such as "1.00"; the stock client's own cap is one dollar. */
  readonly maxDollars?: string | undefined
  /** Told each time the same signed request is about to be sent again; 0 stands for no answer. */
  readonly onWait?: ((status: number) => void) | undefined
  /** Told of a purchase that an earlier process left unfinished and that is finished now. */
  readonly onEarlier?: ((receipt: Receipt | AreaReceipt) => void) | undefined
  /** Told when another process is buying with the same wallet, and has to end first. */
  readonly onLocked?: (() => void) | undefined
}

type BuyerDeps = BuyerOptions & {
  readonly account: LocalAccount
  readonly folder: string // for the signed payments of this wallet at this wall
  readonly pause?: (ms: number) => Promise<unknown>
}

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

/** What the calls under way share: the lock, and the purchases of earlier processes that none of them asked for yet. */
type Session = { readonly earlier: FinishedPurchase[]; readonly unlock: () => Promise<void> }

/** Makes a buyer. Its calls may run at the same time; those of other processes with the same folder wait. */
export function buyer({ account, folder, maxDollars, onWait, onEarlier, onLocked, pause = wait }: BuyerDeps): Buyer {
  const payments = signedPayments(folder)
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
  if (maxDollars !== undefined) client.setSpendControls({ maxAmountPerPayment: `$${maxDollars}` })
  const send = (request: SignedRequest) => sendUntilFinal(request, { onWait, pause })

  const open = async (): Promise<Session> => {
    const unlock = await lock(folder, onLocked)
    try {
      return { unlock, earlier: await finishAll(payments, send) }
    } catch (error) {
      await unlock()
      throw error
    }
  }
  const close = async ({ earlier, unlock }: Session) => {
    for (const { saved, receipt } of earlier) {
      onEarlier?.(receipt)
      await saved.remove()
    }
    await unlock()
  }
  const { enter, leave } = shared(open, close)

  const pay = async (order: Order): Promise<FinishedPurchase> => {
    let saved: SavedPayment | undefined
    const saveThenSend = async (input: string | URL | Request, init?: RequestInit) => {
      const request = input instanceof Request ? new Request(input, init) : new Request(input.toString(), init)
      const payment = request.headers.get('payment-signature')
      if (payment === null) return await ask(request)
      saved = await payments.save({ ...order, payment })
      return await send(saved)
    }
    // What some runtimes' `fetch` has beside being called.
    const fetchPaying = wrapFetchWithPayment(Object.assign(saveThenSend, fetch), client)
    const response = await fetchPaying(order.url, requestOf(order)).catch(async (error: unknown) => {
      if (error instanceof WallError) throw error
      if (saved !== undefined) throw await outcomeUnknown(undefined)
      const reason = error instanceof Error ? error.message : String(error)
      throw new WallError('refused', 'not_signed', `Nothing was signed or paid: ${reason}`)
    })
    const receipt = await receiptIn(response)
    if (saved !== undefined && receipt instanceof WallError) await saved.remove()
    if (receipt instanceof WallError) throw receipt
    if (saved === undefined) throw unreachable(order.url)
    return { saved, receipt }
  }
  return {
    async buy<Got extends Receipt | AreaReceipt = Receipt>(order: Order) {
      const { earlier } = await enter()
      try {
        const at = earlier.findIndex(({ saved }) => saved.url === order.url && saved.body === order.body)
        const { receipt, saved } = earlier.splice(at, at < 0 ? 0 : 1)[0] ?? (await pay(order))
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

/** Sends again what earlier processes left. What the wall will not take any more cost nothing, and is dropped. */
async function finishAll(
  payments: ReturnType<typeof signedPayments>,
  send: (request: SignedRequest) => Promise<Response>,
): Promise<FinishedPurchase[]> {
  const finished: FinishedPurchase[] = []
  for (const saved of await payments.list()) {
    const receipt = await receiptIn(await send(saved))
    if (receipt instanceof WallError) await saved.remove()
    else finished.push({ saved, receipt })
  }
  return finished
}

const TRIES_MAX = 30
const WAIT_SECONDS = 2
const WAIT_MAX_SECONDS = 30
const ANSWER_MAX_MS = 240_000 // above the longest settlement that a wall waits for

type RetryOptions = Pick<BuyerOptions, 'onWait'> & { readonly pause: (ms: number) => Promise<unknown> }

/** Sends a signed request until its answer is the wall's last word. Throws `unknown` where none comes. */
async function sendUntilFinal(request: SignedRequest, { onWait, pause }: RetryOptions): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await answerTo(request)
    if (response !== undefined && (await isFinal(response))) return response
    if (tries >= TRIES_MAX) throw await outcomeUnknown(response)
    onWait?.(response?.status ?? 0)
    const seconds = Number(response?.headers.get('retry-after') ?? WAIT_SECONDS)
    await pause(Math.min(Number.isFinite(seconds) ? seconds : WAIT_SECONDS, WAIT_MAX_SECONDS) * 1000)
  }
}

/** An answer with its whole body; `undefined` where it was lost on the way. */
async function answerTo(request: SignedRequest): Promise<Response | undefined> {
  const init = requestOf(request, { 'payment-signature': request.payment })
  try {
    const response = await fetch(request.url, { ...init, signal: AbortSignal.timeout(ANSWER_MAX_MS) })
    return new Response(await response.text(), { status: response.status, headers: response.headers })
  } catch {
    return undefined
  }
}

// What a wall says of a payment for good; whoever stands before it has other statuses for what it does not know.
const FINAL_STATUSES: readonly number[] = [400, 402, 409, 410]

/** Whether these are the wall's words and it will not change them: a proxy's page says nothing about a payment. */
async function isFinal(response: Response): Promise<boolean> {
  if (response.ok) return (await isJson(response)) || response.headers.has('payment-response')
  return FINAL_STATUSES.includes(response.status) && (await errorIn(response)) !== undefined
}

const isJson = (response: Response) =>
  response
    .clone()
    .json()
    .then(
      () => true,
      () => false,
    )

async function outcomeUnknown(response: Response | undefined): Promise<WallError> {
  const said = response === undefined ? undefined : await errorIn(response)
  const what = said === undefined ? 'The wall does not answer.' : said.message
  return new WallError(
    'unknown',
    said?.code ?? 'outcome_unknown',
    `${what} The signed payment is kept. Do the same again: it is not paid twice.`,
    response?.status,
  )
}

/** An order as `fetch` takes it. */
function requestOf({ body }: Order, headers: Readonly<Record<string, string>> = {}): RequestInit {
  const accepting = { accept: 'application/json', ...headers }
  if (body === undefined) return { headers: accepting }
  return { method: 'POST', headers: { ...accepting, 'content-type': 'application/json' }, body }
}

/** The receipt in an answer, or why there is none. */
async function receiptIn(response: Response): Promise<Receipt | AreaReceipt | WallError> {
  if (response.ok && response.headers.has('payment-response')) return (await response.json()) as Receipt | AreaReceipt
  if (response.ok) return new WallError('refused', 'block_taken', 'That block is sold already. Nothing was paid.', 200)
  return (
    (await errorIn(response)) ??
    new WallError('unavailable', 'no_wall', `No wall answers there: ${response.status}. Nothing was paid.`)
  )
}
