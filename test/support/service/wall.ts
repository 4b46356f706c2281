/** The whole service with a real database in memory, and fakes for its surroundings. */

import { decodePaymentRequiredHeader } from '@x402/core/http'
import type { Engine } from '../../../db/engine.ts'
import { systemClock } from '../../../server/adapters/clock.ts'
import { createWorkerPictures } from '../../../server/adapters/pictures/pictures.ts'
import { createApp, type App, type Service } from '../../../server/app.ts'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { type Outages, createReadiness, trackOutages } from '../../../server/health/outages.ts'
import { createPaymentHealth } from '../../../server/health/payment-health.ts'
import { loadViewerFiles } from '../../../server/http/answer/viewer-files.ts'
import { createCanvasReads } from '../../../server/http/canvas/canvas-read.ts'
import { createLiveStream, type Live } from '../../../server/http/live.ts'
import { followLog } from '../../../server/instances/follow-log.ts'
import type { Ledger } from '../../../server/ports.ts'
import { createSeller } from '../../../server/purchase/seller.ts'
import type { Offer } from '../../../server/x402/terms.ts'
import { openBlankWall } from '../blank-wall.ts'
import { createFakeChain, type FakeChain } from '../fakes/chain.ts'
import { createFakeClock, type FakeClock } from '../fakes/clock.ts'
import { createFakeFacilitator, type FakeFacilitator } from '../fakes/facilitator.ts'
import { unlimited } from '../fakes/limits.ts'
import { createFakeLogger, type FakeLogger } from '../fakes/logger.ts'
import { fakeWallets } from '../fakes/wallets.ts'
import { OFFER as EXAMPLE } from '../offer.ts'
import { NOW, createTestPayment, TERMS } from '../samples.ts'
import { createClient } from './client.ts'
import { expectDocumented, findOperation } from './documented.ts'

export const HOST = 'wall.test'
export const BASE_URL = `https://${HOST}`

export const OFFER: Offer = { ...EXAMPLE, baseUrl: BASE_URL }

/** The operator's contact. */
export const CONTACT = 'ops@wall.test'

/** A store on either engine. */
type Store = Omit<Engine, 'close'> & { close(): void | Promise<void> }

/** A wall, and every part of its surroundings that a test may want to change. */
export type Wall = {
  readonly app: App
  readonly db: Store
  readonly chain: FakeChain
  readonly facilitator: FakeFacilitator
  readonly clock: FakeClock
  readonly logger: FakeLogger
  readonly live: Live
  readonly outages: Outages
  readonly probe: () => Promise<void>
  readonly denied: Set<string> // payers that the operator denies
  /** Resolves once every purchase has ended, including writes after its response. */
  readonly waitUntilIdle: () => Promise<void>
  /** Sends a request; each response of an operation is checked against the OpenAPI document. */
  sendRequest(request: string, init?: RequestInit): Promise<Response>
  /** Sends requests like `sendRequest`, through a typed client that knows the routes. */
  readonly client: ReturnType<typeof createClient>
  /** Buys a block for the `payer`-th wallet, as an honest client would. */
  buyBlock(path: string, payer: number, nonce?: number): Promise<Response>
}

/** Opens a wall that accepts payments, with a store in memory by default. `changes` replace parts of the service. */
export async function openWall(
  { ledger: ledgerParts, ...changes }: Partial<Omit<Service, 'ledger'>> & { readonly ledger?: Partial<Ledger> } = {},
  on?: Store,
): Promise<Wall> {
  const { offer = OFFER } = changes
  const db = on ?? (await openBlankWall())
  const chain = createFakeChain()
  const facilitator = createFakeFacilitator(chain)
  const clock = createFakeClock(NOW)
  const logger = createFakeLogger()
  const outages = trackOutages({ clock, logger })
  const rail = createPaymentHealth({ facilitator, chain, clock, logger })
  rail.markReconciled()
  await rail.probe()
  const { view, applyNewEntries, subscribe } = await followLog(db.log)
  // The canvas reads may advance their clock at any time, so they have a separate clock.
  const reads = createCanvasReads({ view, terms: offer.terms, clock: createFakeClock(NOW), everyMs: 0 })
  subscribe(reads.announceChange)
  const stream = createLiveStream({
    log: db.log,
    clock: systemClock,
    readNumber: () => view.number,
    readCanvasNumber: reads.readNumber,
    applyNewEntries,
    everyMs: 0,
  })
  subscribe(stream.announceChange)
  const { limits = unlimited } = changes
  const world = { wallets: fakeWallets, clock, hosts: [HOST, `${HOST}:8402`], applyNewEntries, limits }
  const { ledger, blocks, agents, store, ledgerReader, reports } = db
  const parts: Ledger = ledgerParts === undefined ? ledger : { ...ledger, ...ledgerParts }
  const pictures = createWorkerPictures()
  const payees = new Set([offer.terms.payTo])
  const denied = new Set<string>()
  const sold = createSeller({
    ...world,
    pictures,
    ledger: parts,
    facilitator,
    chain,
    rail,
    logger,
    terms: offer.terms,
    payees,
    isDenied: (payer) => denied.has(payer),
    contact: null,
  })
  const wall = createApp({
    seller: sold,
    ledger: parts,
    blocks,
    view,
    reads,
    live: stream,
    log: db.log,
    rail,
    readiness: createReadiness({ rail, outages }),
    offer,
    contact: CONTACT,
    logger,
    store,
    ledgerReader,
    pictures,
    reports,
    payees,
    limits,
    trustedHops: undefined,
    changing: { ...world, blocks, agents, view },
    findViewerFile: await loadViewerFiles(new Map()),
    chatView: '',
    ...changes,
  })
  // Reads of the whole wall are published a moment after a change, so each read waits until it shows the test's own
  // change.
  const sendAfterPublishing = async (request: string, init?: RequestInit) => {
    if (request.includes(' /api/')) await reads.waitUntilPublished()
    return await requestApp(wall, request, init)
  }
  const client = createClient({ url: BASE_URL }, async (address, init) => {
    const { pathname, search } = new URL(address)
    return await sendAfterPublishing(`${init?.method ?? 'GET'} ${pathname}${search}`, init)
  })
  const buy = (path: string, payer: number, nonce = payer) =>
    sendAfterPublishing(`GET ${path}`, createPaidInit(createTestPayment(payer, nonce)))
  return {
    app: wall,
    db,
    chain,
    facilitator,
    clock,
    logger,
    live: stream,
    outages,
    probe: rail.probe,
    denied,
    waitUntilIdle: sold.waitUntilIdle,
    sendRequest: sendAfterPublishing,
    client,
    buyBlock: buy,
  }
}

async function requestApp(wall: App, request: string, init: RequestInit = {}): Promise<Response> {
  const [method = '', path = ''] = request.split(' ')
  const response = await wall.handle(new Request(BASE_URL + path, { ...init, method }))
  const operation = findOperation(wall, method, path)
  if (operation !== undefined) await expectDocumented(wall, response, operation)
  return response
}

/** Makes the chain report a fault, so that the wall accepts no payments until `chain.wrong` is null again. */
export async function reportChainFault({ chain, probe }: Pick<Wall, 'chain' | 'probe'>): Promise<void> {
  chain.wrong = 'the token is another one'
  await probe()
}

/** The terms in a 402, as the SDK reads its header. */
export const decodeDemand = ({ headers }: Response) =>
  decodePaymentRequiredHeader(headers.get('payment-required') ?? '')

/** The headers of a request that pays. */
export const createPaidInit = (payment: Payment): { headers: Record<string, string> } => ({
  headers: { 'PAYMENT-SIGNATURE': encodeHeader(toPayload(payment)) },
})

/** A payment for this many blocks. */
export const createPaymentFor = (blocks: number, payer: number, nonce = payer): Payment => {
  const payment = createTestPayment(payer, nonce)
  const amount = BigInt(blocks) * TERMS.amount
  return { ...payment, amount, accepted: { ...payment.accepted, amount } }
}

/** A payment as an x402 client encodes it. */
export const toPayload = ({
  payer,
  to,
  amount,
  validAfter,
  validBefore,
  nonce,
  signature,
  accepted,
  salt,
}: Payment) => ({
  x402Version: 2,
  ...(salt === undefined ? {} : { extensions: { 'order-binding': { info: { salt } } } }),
  accepted: { ...accepted, amount: accepted.amount.toString() },
  payload: {
    signature,
    authorization: {
      from: payer,
      to,
      value: amount.toString(),
      validAfter: validAfter.toString(),
      validBefore: validBefore.toString(),
      nonce,
    },
  },
})

export const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** The JSON body of a response, which stays readable. */
export async function readJson(response: Response): Promise<Record<string, unknown>> {
  return (await response.clone().json()) as Record<string, unknown>
}

/** The error code of a response. */
export const readErrorCode = async (response: Response): Promise<unknown> => (await readJson(response))['error']
