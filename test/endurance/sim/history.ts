/**
 * Plays one history: a safety phase in which anything can fail, then a quiet phase in which everything must come to
 * rest.
 */

import { drainMicrotasks } from 'bun:jsc'
import type { Failure } from '../../../server/domain/failure.ts'
import { addChargeStatus } from '../../../server/domain/purchase/charging.ts'
import { HOLDS_MAX } from '../../../server/domain/purchase/claim-rules.ts'
import { isSamePayment, toPaymentKey, type Payment, type Target } from '../../../server/domain/purchase/payment.ts'
import { isSold, type Outcome, type Purchase } from '../../../server/domain/purchase/purchase.ts'
import { createIncompleteBodyFailure } from '../../../server/domain/purchase/refusals.ts'
import { isBlock, toNameField, resolveTarget } from '../../../server/domain/purchase/target.ts'
import { addBinding } from '../../../server/purchase/order-binding.ts'
import type { OfferState } from '../../../server/purchase/seller.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../../shared/wall.ts'
import { createPrng } from '../../support/prng.ts'
import { readSettledResult } from '../../support/scheduler.ts'
import { listAreas, sellsAreas, isNext, createSmallWall, createWideWall } from './areas.ts'
import {
  checkAnswer,
  checkAtRest,
  markAttended,
  markAbandoned,
  recordReceipt,
  recordSentOrder,
  assertPromise,
  Violation,
  createServerWitness,
  createWatcher,
  type Sums,
  createWitness,
  type Witness,
} from './check.ts'
import { createCommons, type Life } from './commons.ts'
import { drawChainFaults, drawFaults, drawLaterFaults, drawSharedFaults, NO_FAULTS } from './faults.ts'
import type { Operator } from './guard.ts'
import type { Book, OpenBook, Paint, Sale } from './ledger-model.ts'
import {
  checkKeepers,
  isBusy,
  createKeeper,
  startKeeper,
  type Errand,
  type Keeper,
  type Line,
} from './people/keepers.ts'
import {
  acceptCopy,
  checkBooks,
  saveCopy,
  listOlderCopies,
  mustWait,
  createOperator,
  restoreCopy,
} from './people/operator.ts'
import { sendChange, checkPaint, createStudio, type Studio } from './people/owners.ts'
import {
  drawTarget,
  createCrowd,
  HOST,
  causeMischief,
  drawOrder,
  signPayment,
  type Crowd,
  type Order,
  type Payer,
} from './people/payers.ts'
import { checkWishes, endWish, isAsking, createWish, type Wish } from './people/shoppers.ts'
import { toAddress, PLAIN, SIGNED, TERMS } from './samples.ts'
import { startServer, type Seat, type Server } from './server.ts'
import {
  broadcastPayment,
  computeHeight,
  isSpentByLonger,
  reorganiseChain,
  stallChain,
  drawFault,
  computeTime,
  createWorld,
  type World,
} from './world.ts'

/** The result of one history. */
export type Report = Sums & {
  readonly events: number
  readonly requests: number
  readonly crashes: number
  readonly answers: ReadonlyMap<string, number>
}

type InFlight = {
  readonly at: Stand
  readonly order: Order
  readonly client: AbortController | undefined
} & Sending

/** A request without a payment, and its callback, which gets `undefined` if no response comes. */
type Asking = { readonly at: Stand; readonly onAnswer: (space: OfferState | undefined) => void }

/** A purchase that a server has begun, and the life in which it did so. */
type Running = { readonly at: Stand; readonly life: Life }

/** A server through its successive lives. */
type Stand = {
  readonly seat: Seat
  readonly witness: Witness // the observations of this server
  life: Life
  server: Server | undefined // `undefined` while it cannot be reached
}

type History = {
  readonly world: World
  readonly book: Book
  readonly paint: Paint | undefined
  readonly operator: Operator | undefined
  readonly wall: readonly BlockIndex[]
  readonly crowd: Crowd
  readonly witness: Witness
  readonly studio: Studio
  readonly polled: Sale[]
  readonly answers: Map<string, number>
  readonly inFlight: Set<InFlight>
  readonly running: Set<Running> // purchases in progress on a server, including those whose client hung up
  readonly asking: Set<Asking>
  readonly keepers: readonly Keeper[]
  readonly requestsMax: number
  readonly stands: readonly Stand[]
  readonly wishes: Wish[]
  readonly isFlooded: boolean // whether somebody keeps sending known payments for other blocks until the end
  requests: number
  crashes: number
  answeredAt: number // step of the last response that somebody waited for
}

const TWIN_EVERY = 4

const SAFETY_TURNS = 130
const OPERATED_TURNS = 250
const WIDE_TURNS = 700
const WIDE_EVERY = 500
const REST_TURNS_MAX = 400

/** Plays the history of `seed`. Throws a `Violation` if a promise is broken; `trace` gets each event. */
export function simulate(seed: number, open: OpenBook, trace: World['trace'] = () => {}): Report {
  const world = createWorld(seed, trace)
  const isWide = hasWideWall(seed)
  if (isWide) world.faults = { ...NO_FAULTS, requestLost: 1 }
  const sells = sellsAreas(seed) ? 'areas' : 'blocks'
  const wall = createWall(world, sells, isWide)
  const isTwin = hasTwoServers(seed)
  if (isTwin) world.faults = { ...world.faults, ...drawSharedFaults(createPrng(~seed)) }
  if (world.hasEndpoints) world.faults = { ...world.faults, ...drawChainFaults(createPrng(seed ^ ENDPOINTS_SEED)) }
  if (!isWide) world.faults = { ...world.faults, ...drawLaterFaults(createPrng(seed ^ LATER_SEED)) }
  if (lacksLeases(seed)) world.faults = { ...world.faults, ...WITHOUT_LEASES }
  if (hasTwoFacilitators(seed) && !isWide) world.second = drawFaults(createPrng(seed ^ SECOND_SEED))
  const book = readSettledResult(open(wall, sells))
  const areas = sells === 'areas' ? listAreas(wall) : []
  const crowd = createCrowd(world, { wall, areas }, isWide ? 1 : 1 + world.prng.nextInt(3))
  const operator = world.hasOperator && book.vault !== undefined ? createOperator(world, book.vault) : undefined
  // An older copy lacks later repaints, so a history with an operator has no owners.
  const paint = operator === undefined ? book.paint : undefined
  const witness = createWitness(world, book, wall, crowd)
  if (operator !== undefined) witness.mustWait = () => mustWait(world, operator, witness)
  const history: History = {
    world,
    book,
    paint,
    operator,
    wall,
    crowd,
    witness,
    studio: createStudio(),
    polled: [],
    answers: new Map(),
    inFlight: new Set(),
    running: new Set(),
    asking: new Set(),
    keepers: crowd.payers.filter(({ habit }) => habit === 'keeps').map(createKeeper),
    requestsMax: isWide ? 60 : 16,
    stands: createStands(world, { book, paint, operator }, witness, isTwin ? 2 : 1),
    wishes: [],
    isFlooded: world.faults.wrongTarget > 0,
    requests: 0,
    crashes: 0,
    answeredAt: 0,
  }
  try {
    runHistory(history)
    const sums = checkAtRest(witness, history.polled)
    checkKeepers(world, book, history.keepers)
    if (paint !== undefined) checkViews(history, paint)
    if (operator !== undefined) {
      runPaymentChecks(history)
      checkBooks(world, operator, witness)
    }
    const { requests, crashes, answers } = history
    return { ...sums, events: world.step, requests, crashes, answers }
  } finally {
    book.close()
  }
}

function createWall({ prng, hasOperator }: World, sells: 'blocks' | 'areas', isWide: boolean): readonly BlockIndex[] {
  if (sells === 'areas') return isWide ? createWideWall() : createSmallWall(prng)
  if (isWide) return CLAIM_ORDER.slice(0, 18)
  // An operator's wall has more blocks, because an older copy of a sold-out wall has nothing to sell twice.
  return CLAIM_ORDER.slice(0, (hasOperator ? 4 : 1) + prng.nextInt(3))
}

// Gives the second facilitator faults that differ from those of the first one.
const SECOND_SEED = 0x5ec0d
const LATER_SEED = 0x1a7e5
const ENDPOINTS_SEED = 0xe9d01

/** Whether there are two facilitators. */
const hasTwoFacilitators = (seed: number): boolean => seed % 4 === 2 || seed % 16 === 15

/** Whether the wall has more blocks than the history's only payer may hold, and no purchase completes. */
export const hasWideWall = (seed: number): boolean => seed % WIDE_EVERY === 0

/** Whether two servers sell from the same book. */
export const hasTwoServers = (seed: number): boolean => seed % TWIN_EVERY === TWIN_EVERY - 1

// If a facilitator does not respond to a verify request, the payment is not stored: only a lease shows that it was
// sent.
const WITHOUT_LEASES = { leaseUnknown: 0.7, verifyDown: 0.3 }

/** Whether the store mostly fails to grant leases to its two servers. */
const lacksLeases = (seed: number): boolean => seed % 32 === 3 || seed % 32 === 23

// How far the clock of each of two servers is off.
const OFF_MS = [0, 7000]

function createStands(
  world: World,
  shelf: Pick<Seat, 'book' | 'paint' | 'operator'>,
  witness: Witness,
  count: number,
): Stand[] {
  const commons = count > 1 ? createCommons(world) : undefined
  return Array.from({ length: count }, (_, nth) => {
    const own = count > 1 ? createServerWitness(witness) : witness
    const stand: Stand = {
      witness: own,
      life: { startedAt: 0, diedAt: undefined, skewMs: OFF_MS[nth] ?? 0 },
      server: undefined,
      seat: {
        name: `server ${nth + 1}`,
        ...shelf,
        watcher: createWatcher(own),
        commons,
        onOpened: (server) => {
          if (server.life === stand.life) stand.server = server
        },
      },
    }
    return stand
  })
}

function runHistory(history: History): void {
  for (const stand of history.stands) startStand(history, stand)
  for (let turn = 0; turn < countTurns(history); turn += 1) takeTurn(history)
  endFaults(history)
  acceptRestoredCopy(history)
  serveEverybody(history)
  checkWishes(history.world, history.book, history.wishes)
  runUntilSettled(history)
  serveKeepers(history)
  runUntilSettled(history)
  sendEverythingAgain(history)
  runUntilSettled(history)
  // A wall that waits for its operator does not come to rest.
  if (history.operator === undefined) {
    checkUselessPayments(history)
    checkUnmatchedDollars(history)
  }
}

function countTurns({ wall, operator }: History): number {
  if (operator !== undefined) return OPERATED_TURNS
  return wall.length > HOLDS_MAX ? WIDE_TURNS : SAFETY_TURNS
}

/** Plays one random event. */
function takeTurn(history: History): void {
  const { world, crowd } = history
  const { prng } = world
  restartStoppedStands(history)
  if (history.operator !== undefined) actAsOperator(history, history.operator)
  if (prng.nextBoolean(0.02) && drawFault(world, 'crash')) restartStand(history, pickStand(world, history.stands))
  if (world.isRepriced && history.stands.length === 1 && world.words.nextBoolean(REPRICED)) {
    changePrice(world)
    restartStand(history, pickStand(world, history.stands))
  }
  if (world.isReplayed && world.words.nextBoolean(REPLAYED)) replayOrder(history)
  const roll = prng.nextInt(100)
  if (roll < 72) {
    // `runNextCall` already runs everything that an event causes.
    runNextCall(history)
    return throwIfFailed(history)
  }
  if (roll < 86) makeRequest(history)
  else if (roll < 91) world.scheduler.advance(1000 * prng.pick([2, 2, 2, 10, 60]))
  else if (roll < 95) causeMischief(world, crowd)
  else if (roll < 96 && drawFault(world, 'wrongTarget')) sendToOtherBlocks(history)
  else if (roll < 97) injectFaults(history)
  else if (roll < 98) pollSales(history)
  else if (history.paint !== undefined) sendOwnersChange(history)
  runPendingEffects(history)
}

function sendOwnersChange(history: History): void {
  const { server } = pickStand(history.world, history.stands)
  if (server === undefined) return
  sendChange(history.world, history.studio, server, history.wall, (error) => {
    history.world.failed ??= new Violation(`I11: no exception, but ${String(error)}`)
  })
}

/** Picks a server; if there is only one, draws no random number. */
function pickStand({ prng }: World, stands: readonly Stand[]): Stand {
  const [only, ...others] = stands
  return only !== undefined && others.length === 0 ? only : prng.pick(stands)
}

/** Runs all pending effects, and throws if a promise is broken. */
function runPendingEffects(history: History): void {
  drainMicrotasks()
  throwIfFailed(history)
}

/** Throws if a promise is broken. */
function throwIfFailed({ world: { failed } }: History): void {
  if (failed !== undefined) throw failed
}

/** Runs the next waiting call, after letting time pass until there is one. */
function runNextCall({ world }: History): void {
  while (!world.scheduler.step(world.prng) && world.failed === undefined) {
    const waitMs = world.scheduler.getMsUntilNext()
    if (waitMs === undefined) return
    world.scheduler.advance(waitMs)
  }
}

function injectFaults(history: History): void {
  const { world, stands } = history
  if (drawFault(world, 'reorganise')) reorganiseChain(world)
  if (drawFault(world, 'clockSteps')) {
    const { life } = pickStand(world, stands)
    life.skewMs = world.prng.pick([-3_600_000, -5000, 0, 5000, 3_600_000])
    world.trace(() => `server: its clock is now off by ${life.skewMs} ms`)
    for (const wish of history.wishes) recordClockStep(history, wish)
  }
  if (drawFault(world, 'chainStalls')) stallChain(world, world.prng.pick([20_000, 90_000, 300_000]))
  if (drawFault(world, 'freeze')) freezeServer(world, pickStand(world, stands).life)
  const leaving = [...history.inFlight]
  if (leaving.length > 0 && drawFault(world, 'hangUp')) hangUp(history, world.prng.pick(leaving))
}

function freezeServer(world: World, life: Life): void {
  const ms = world.prng.pick([5000, 20_000, 60_000])
  world.trace(() => `server: freezes for ${ms / 1000} s`)
  world.scheduler.freeze(life, ms)
}

function hangUp({ world, witness, inFlight }: History, leaving: InFlight): void {
  world.trace(() => `buyer: ${leaving.order.payment.nonce.slice(-4)} hangs up`)
  inFlight.delete(leaving)
  abandonRequest(witness, inFlight, leaving)
  leaving.client?.abort()
}

/**
 * Ends a request without a response. Records that nobody is waiting for a response about its payment any more, unless
 * its payer has another request for the payment in flight, or somebody else sent the request.
 */
function abandonRequest(
  witness: Witness,
  inFlight: ReadonlySet<InFlight>,
  { order: { payment }, isStrangers, onOutcome }: InFlight,
): void {
  const isAlone = ![...inFlight].some(
    (other) => other.isStrangers !== true && toPaymentKey(other.order.payment) === toPaymentKey(payment),
  )
  if (isStrangers !== true && isAlone) markAbandoned(witness, payment)
  onOutcome?.(undefined)
}

function startStand(history: History, stand: Stand): void {
  stand.server = undefined
  stand.life = { ...stand.life, startedAt: history.world.step, diedAt: undefined }
  stand.witness.life = stand.life
  startServer(history.world, stand.seat, stand.life)
  runPendingEffects(history)
}

const COPIED = 0.1
const COPIES_MAX = 3
const PUT_BACK = 0.03
const ACCEPTED = 0.03

/** Takes the operator's next action, if any. The operator changes the file only while no server runs. */
function actAsOperator(history: History, operator: Operator): void {
  const { world, witness } = history
  const { prng } = world
  if (operator.putBack !== undefined && prng.nextBoolean(ACCEPTED))
    return runWhileStopped(history, () => acceptCopy(world, operator, witness))
  if (operator.putBack === undefined && operator.copies.length < COPIES_MAX && prng.nextBoolean(COPIED))
    return saveCopy(world, operator)
  const copies = listOlderCopies(operator)
  if (copies.length > 0 && prng.nextBoolean(PUT_BACK))
    runWhileStopped(history, () => restoreCopy(world, operator, prng.pick(copies), witness))
}

/** Stops all servers, runs `work` on their file, and starts the servers again. */
function runWhileStopped(history: History, work: () => void): void {
  for (const stand of history.stands) stopStand(history, stand)
  simulateDowntime(history)
  work()
  if (history.world.prng.nextBoolean(0.3)) simulateDowntime(history)
  history.polled.length = 0
  for (const stand of history.stands) startStand(history, stand)
}

const AWAY_MS = [0, 10_000, 60_000, 300_000]

/** Simulates the time while no server runs: settings change, time passes, and others broadcast signed payments. */
function simulateDowntime({ world, crowd }: History): void {
  const { prng } = world
  if (prng.nextBoolean(0.3)) changePrice(world)
  if (prng.nextBoolean(0.3)) changePayee(world)
  for (let n = prng.nextInt(3); n > 0; n -= 1) {
    if (crowd.signed.length > 0) broadcastPayment(world, prng.pick(crowd.signed), 'others')
    world.scheduler.advance(prng.pick(AWAY_MS))
  }
}

const LOOKS = 5
const LOOK_MS = 60_000

/** Lets enough time pass for every server to find the payments that arrived. */
function runPaymentChecks(history: History, looks = LOOKS): void {
  const { world } = history
  for (let look = 0; look < looks; look += 1) {
    while (world.scheduler.step(world.prng)) throwIfFailed(history)
    world.scheduler.advance(LOOK_MS)
    throwIfFailed(history)
  }
}

/**
 * At the end, accepts a restored copy if there is one: an operator does not ignore a wall that waits for a decision.
 */
function acceptRestoredCopy(history: History): void {
  const { world, witness, operator, stands } = history
  if (operator?.putBack === undefined) return
  restartStoppedStands(history)
  runPaymentChecks(history)
  // While the wall waits for its operator, every payer tries to buy.
  for (const payer of history.crowd.payers) sendOrder(history, drawOrder(world, history.crowd, payer))
  runPaymentChecks(history)
  const waits = stands.some(({ server }) => server?.guard?.restored.findReason() !== null)
  if (waits) runWhileStopped(history, () => acceptCopy(world, operator, witness))
}

function restartStand(history: History, stand: Stand): void {
  stopStand(history, stand)
  startStand(history, stand)
}

const REPRICED = 0.03

/** Changes the price for servers that start from now on. */
function changePrice(world: World): void {
  world.prices.push(TERMS.amount * BigInt(1 + world.prng.nextInt(3)))
}

/**
 * Changes the payment address for servers that start from now on, perhaps to an earlier one. In a history with restored
 * copies, the address is always new: a copy cannot find money at an address that only the lost history knew.
 */
function changePayee(world: World): void {
  world.payees.push(toAddress(0xb000 + (world.hasOperator ? world.payees.length : world.words.nextInt(3))))
}

function stopStand(history: History, stand: Stand): void {
  const { world, inFlight } = history
  history.crashes += 1
  stand.life.diedAt ??= world.step
  world.scheduler.dropCalls(stand.life)
  // Only a lone server may change its price, because servers that share a store should have the same price.
  const mayDiffer = (world.isVaried || world.hasOperator) && history.stands.length === 1
  if (mayDiffer && world.prng.nextBoolean(0.3)) changePrice(world)
  if (mayDiffer && !world.isRepriced && world.words.nextBoolean(0.3)) changePayee(world)
  const dropped = [...inFlight].filter((request) => request.at === stand)
  for (const request of dropped) inFlight.delete(request)
  for (const request of dropped) abandonRequest(history.witness, inFlight, request)
  for (const asking of history.asking)
    if (asking.at === stand) {
      history.asking.delete(asking)
      asking.onAnswer(undefined)
    }
}

function restartStoppedStands(history: History): void {
  for (const stand of history.stands) if (stand.life.diedAt !== undefined) restartStand(history, stand)
}

function pollSales({ book, polled }: History): void {
  polled.push(...readSettledResult(book.listSales(polled.length)).slice(0, 2))
}

/** A payer sends a request, sometimes twice in parallel. */
function makeRequest(history: History): void {
  const { world, crowd } = history
  if (history.requests >= history.requestsMax) return
  const payer = world.prng.pick(crowd.payers)
  if (payer.habit === 'asks again') return visitWall(history, drawWish(history, payer))
  const keeper = history.keepers.find((one) => one.payer === payer)
  if (keeper !== undefined) return runKeeper(history, keeper)
  const order = drawOrder(world, crowd, payer)
  for (let copies = world.prng.nextBoolean(0.2) ? 2 : 1; copies > 0; copies -= 1) sendOrder(history, order)
}

function drawWish({ world, crowd, wishes }: History, payer: Payer): Wish {
  const open = wishes.find((wish) => wish.payer === payer && isAsking(world, wish))
  if (open !== undefined) return open
  const wish = createWish(world, payer, drawTarget(world, crowd))
  wishes.push(wish)
  return wish
}

/** One round of a client that stores nothing: it requests an offer, then signs the terms and pays. */
function visitWall(history: History, wish: Wish): void {
  const { world, crowd, book, stands } = history
  const at = pickStand(world, stands)
  if (wish.isWaiting) return
  wish.isWaiting = true
  recordClockStep(history, wish)
  world.trace(() => `buyer: ${wish.payer.wallet.slice(-4)} asks for ${wish.target}`)
  askForOffer(history, at, wish.target, (space) => {
    wish.isWaiting = false
    world.trace(() => `buyer: ${wish.payer.wallet.slice(-4)} sees ${wish.target} as ${space}`)
    wish.isHeldBack = space === 'reserved'
    if (space === 'claimed') endWish(book, wish)
    if (space === 'crowded') wish.end = 'refused'
    if (space !== 'open' && space !== 'uncertain') return
    const payment = signPayment(world, crowd, wish.payer, wish.target)
    crowd.firstTarget.set(toPaymentKey(payment), wish.target)
    wish.signed.push(payment)
    wish.isWaiting = true
    sendOrder(
      history,
      { target: wish.target, payment, listing: PLAIN },
      { wish, onOutcome: () => (wish.isWaiting = false) },
    )
  })
}

// A clock may be this far off without consequences, because the wall remembers an owed receipt for minutes.
const OFF_MAX_MS = 60_000

/** Marks a wish as mistimed if a server's clock is far off while the client of the wish still sends requests. */
function recordClockStep({ world, stands }: History, wish: Wish): void {
  if (isAsking(world, wish)) wish.isMistimed ||= stands.some(({ life }) => Math.abs(life.skewMs) > OFF_MAX_MS)
}

/** Requests the price of a target, and passes the resulting offer state to the callback. */
function askForOffer(history: History, at: Stand, target: Target, onAnswer: Asking['onAnswer']): void {
  const { server, life } = at
  if (server === undefined || life.diedAt !== undefined) return onAnswer(undefined)
  const { world, inFlight, stands } = history
  const askedAt = world.step
  const hasWaitingPayer = () => inFlight.size > 0 || history.answeredAt >= askedAt
  const wasWaitedFor = hasWaitingPayer()
  history.requests += 1
  const mine: Asking = { at, onAnswer }
  history.asking.add(mine)
  const recordOffer = (space: OfferState | undefined) => {
    if (life.diedAt !== undefined || !history.asking.delete(mine)) return
    // With several servers, only a lease shows whether another server is working on the block.
    const isHeldBack = space === 'reserved' && stands.length === 1 && isHeld(history, target)
    assertPromise(!isHeldBack || wasWaitedFor || hasWaitingPayer(), 'a block for which no payer waits is offered again')
    onAnswer(space)
  }
  Promise.resolve(server.seller.readOffer(target))
    .then(recordOffer, () => recordOffer(undefined))
    .catch((error: unknown) => (world.failed ??= error))
}

/** Whether an unfinished purchase holds this target, because it was ordered or because it was assigned. */
const isHeld = ({ crowd, book }: History, target: Target): boolean =>
  crowd.signed.some((payment) => {
    const row = book.findRow(toPaymentKey(payment))
    return row?.state.kind === 'reserved' && (row.target === target || resolveTarget(row) === target)
  })

// The probabilities that a client that stores its payments is killed, and that its user wants something else meanwhile.
const KILLED = 0.3
const TURNED = 0.3

/** Acts as the user of a client that stores its payments: starts the client, or kills it. */
function runKeeper(history: History, keeper: Keeper): void {
  const { world, crowd } = history
  const { prng } = world
  if (keeper.process !== undefined) {
    if (prng.nextBoolean(KILLED)) killClient(history, keeper)
    return
  }
  const open = keeper.errands.find(({ end }) => end === undefined)
  if (open !== undefined && !prng.nextBoolean(TURNED)) return startErrand(history, keeper, open)
  const target = drawTarget(world, crowd)
  const wanted = keeper.errands.find((errand) => errand.target === target && errand.end === undefined)
  const errand = wanted ?? { target, signed: [], end: undefined }
  if (wanted === undefined) keeper.errands.push(errand)
  startErrand(history, keeper, errand)
}

function startErrand(history: History, keeper: Keeper, errand: Errand | undefined): void {
  const { world, crowd, stands } = history
  const line: Line = {
    requestOffer: (target, onAnswer) => askForOffer(history, pickStand(world, stands), target, onAnswer),
    sendPayment: (target, payment, onOutcome) =>
      sendOrder(history, { target, payment, listing: PLAIN }, { keeper, onOutcome }),
  }
  startKeeper(world, crowd, keeper, line, errand, (error) => (world.failed ??= error))
}

/** Ends a client's process, and its connections with it. */
function killClient(history: History, keeper: Keeper): void {
  const { world, inFlight } = history
  const { process } = keeper
  world.trace(() => `client: ${keeper.payer.wallet.slice(-4)} is killed`)
  keeper.process = undefined
  for (const leaving of inFlight) if (leaving.keeper === keeper) hangUp(history, leaving)
  if (process !== undefined) world.scheduler.dropCalls(process)
}

const SERVING_TURNS = 40

/**
 * Lets clients that store nothing continue, without faults, until they are served or give up, and their last requests
 * have a response.
 */
function serveEverybody(history: History): void {
  const { world, wishes } = history
  restartStoppedStands(history)
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    const open = wishes.filter((wish) => (turn < SERVING_TURNS ? isAsking(world, wish) : wish.isWaiting))
    if (open.length === 0) return
    for (const wish of open) visitWall(history, wish)
    while (world.scheduler.step(world.prng)) throwIfFailed(history)
    world.scheduler.advance(2000)
    throwIfFailed(history)
  }
}

// Later turns are longer: a server whose clock was an hour off treats its sales as new for a long time.
const LONG_MS = 15_000

/** Lets clients that store their payments continue, without faults, until each wish has ended. */
function serveKeepers(history: History): void {
  const { world, keepers } = history
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    const busy = keepers.filter(isBusy)
    if (busy.length === 0) return
    for (const keeper of busy)
      if (keeper.process === undefined)
        startErrand(
          history,
          keeper,
          keeper.errands.find(({ end }) => end === undefined),
        )
    while (world.scheduler.step(world.prng)) throwIfFailed(history)
    world.scheduler.advance(turn < SERVING_TURNS ? 2000 : LONG_MS)
    throwIfFailed(history)
  }
  throw new Violation('I10: every client reaches its end')
}

type Sending = {
  readonly checkOutcome?: (outcome: Outcome) => void
  readonly wish?: Wish
  readonly keeper?: Keeper // the client whose process waits for the response
  readonly isStrangers?: true // sent by somebody else who has seen the payment
  readonly onOutcome?: (outcome: Outcome | undefined) => void // `undefined` if no response comes
}

// Outcomes after which a payer still waits for the result of the same payment.
const waits: ReadonlySet<string> = new Set(['settlement_unknown', 'deed_not_persisted', 'database_unavailable'])

function sendOrder(history: History, sent: Order, sending: Sending = {}): void {
  const { world, witness, answers, inFlight, stands } = history
  const order = alterOrder(history, sent)
  const at = pickStand(world, stands)
  const { server } = at
  if (server === undefined || at.life.diedAt !== undefined) return sending.onOutcome?.(undefined)
  const id = order.payment.nonce.slice(-4)
  history.requests += 1
  world.step += 1
  world.trace(() => `buyer: ${id} for ${order.target}`)
  const isKnown = history.book.findRow(toPaymentKey(order.payment)) !== undefined
  const asked = { startedAt: world.step, height: computeHeight(world), payees: server.payees, isKnown }
  // An abort signal is created only if needed: creating one takes as long as some of the steps that it could abort.
  const mayLeave = world.faults.hangUp > 0 || sending.keeper !== undefined
  const mine: InFlight = { at, order, client: mayLeave ? new AbortController() : undefined, ...sending }
  inFlight.add(mine)
  if (sending.isStrangers !== true) markAttended(witness, order.payment)
  recordSentOrder(witness, order)
  const noteAnswer = (outcome: Outcome) => {
    const name = outcome.kind === 'bought' ? 'bought' : outcome.code
    world.trace(() => `buyer: ${id} gets the response ${name}`)
    // A client that hung up gets nothing.
    if (!inFlight.delete(mine)) return
    history.answeredAt = world.step
    answers.set(name, (answers.get(name) ?? 0) + 1)
    checkAnswer(at.witness, order, outcome, asked)
    receiveOutcome(history, mine, outcome)
    sending.checkOutcome?.(outcome)
  }
  const payment = addBinding(order.payment, { ...order, isArea: !isBlock(order.target) }, HOST)
  const isUnread = order.listing === UNREAD && findStoredPurchase(history, sent) === undefined
  const buying = isUnread
    ? Promise.resolve(addChargeStatus(UNREAD, undefined))
    : server.seller.buy(order.target, payment, order.listing, mine.client?.signal)
  const run = { at, life: at.life }
  history.running.add(run)
  const endRun = (outcome: Outcome) => {
    history.running.delete(run)
    noteAnswer(outcome)
  }
  buying.then(endRun).catch((error: unknown) => {
    history.world.failed ??=
      error instanceof Violation ? error : new Violation(`I11: no exception, but ${String(error)}`)
  })
}

const UNREAD = createIncompleteBodyFailure()

/**
 * An order as the wall reads it. If the body of an area order does not arrive, a known payment gets the result of its
 * first order.
 */
function alterOrder(history: History, order: Order): Order {
  const { world } = history
  if (isBlock(order.target) || !world.words.nextBoolean(world.faults.bodyCut)) return order
  world.trace(() => `buyer: ${order.payment.nonce.slice(-4)}: the body of its request is cut off`)
  return { ...order, target: findStoredPurchase(history, order)?.target ?? order.target, listing: UNREAD }
}

/** The stored purchase of exactly this payment, if any. */
function findStoredPurchase({ book }: Pick<History, 'book'>, { payment }: Order): Purchase | undefined {
  const row = book.findRow(toPaymentKey(payment))
  return row !== undefined && isSamePayment(row.payment, payment) ? row : undefined
}

/** Delivers a response to its client, unless it is lost, and records what the client learns. */
function receiveOutcome(history: History, mine: InFlight, outcome: Outcome): void {
  const { world, witness, inFlight } = history
  const { order, wish } = mine
  const isLost = drawFault(world, 'answerLostOnTheWay')
  if (isLost) world.trace(() => `buyer: ${order.payment.nonce.slice(-4)} does not get the response`)
  mine.onOutcome?.(isLost ? undefined : outcome)
  if (mine.isStrangers === true) return
  if (outcome.kind === 'failure' && outcome.code === 'payment_used') recordOtherReceipts(history, order, outcome)
  if (outcome.kind === 'bought') {
    recordReceipt(witness, outcome.purchase.payment)
    if (wish !== undefined) wish.end = isLost ? 'unknowable' : 'served'
  } else if (wish !== undefined && ['payment_credited', 'payment_unmatched', 'payment_used'].includes(outcome.code))
    wish.end = 'served'
  else if (isLost || waits.has(outcome.code)) abandonRequest(witness, inFlight, mine)
  else if (wish !== undefined && isFinal.has(outcome.code)) wish.end = 'refused'
}

/**
 * If a response names the different block that an earlier payment for the same target bought, records the receipt of
 * that payment as sent.
 */
function recordOtherReceipts(
  { crowd, book, witness }: History,
  { target, payment }: Order,
  { details }: Failure,
): void {
  for (const other of crowd.signed) {
    const row = book.findRow(toPaymentKey(other))
    if (other.payer !== payment.payer || row?.target !== target || !isSold(row)) continue
    const isTold = Object.entries(toNameField(row)).every(([kind, name]) => details?.[kind] === name)
    if (isTold && resolveTarget(row) !== target) recordReceipt(witness, other)
  }
}

// Outcomes after which a client stops sending requests.
const isFinal: ReadonlySet<string> = new Set(['sold_out', 'block_taken', 'no_room'])

/** Ends all faults. */
function endFaults({ world, stands }: History): void {
  for (const { life } of stands) life.skewMs = 0
  world.faults = NO_FAULTS
  if (world.second !== undefined) world.second = NO_FAULTS
  world.slowness = 0
  world.stalledUntilMs = 0
}

/** Lets time pass until nothing is left to do. */
function runUntilSettled(history: History): void {
  const { world, book } = history
  restartStoppedStands(history)
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    while (world.scheduler.step(world.prng)) throwIfFailed(history)
    if (!isAtRest(book, world)) sendToOtherBlocks(history)
    else if (history.inFlight.size === 0 && !isServing(history)) return
    world.scheduler.advance(60_000)
    throwIfFailed(history)
  }
  throw new Violation('I10: the history comes to rest')
}

/**
 * Whether a server is still working on a purchase. A server that died never finishes the purchases that it had begun.
 */
const isServing = ({ running }: History): boolean =>
  [...running].some(({ at, life }) => at.life === life && life.diedAt === undefined)

/**
 * Sends known payments with orders for other blocks, as somebody else would. This must not keep the wall from checking
 * these payments.
 */
function sendToOtherBlocks(history: History): void {
  const { crowd, book, wall, isFlooded } = history
  if (!isFlooded) return
  for (const payment of crowd.signed) {
    const row = book.findRow(toPaymentKey(payment))
    const other = wall.find((block) => block !== row?.block && block !== row?.target)
    if (row?.state.kind !== 'reserved' || other === undefined) continue
    sendOrder(history, { target: other, payment, listing: PLAIN }, { isStrangers: true })
  }
}

const REPLAYED = 0.04

/** Resends another payer's order, as somebody else can once the chain shows its payment. */
function replayOrder(history: History): void {
  const { world, crowd, book } = history
  const shown = crowd.signed.flatMap((payment) => {
    const row = book.findRow(toPaymentKey(payment))
    return row?.state.kind === 'sold' && world.mined.has(toPaymentKey(payment)) ? [row] : []
  })
  if (shown.length === 0) return
  const { payment, target } = world.words.pick(shown)
  sendOrder(history, { target, payment, listing: PLAIN }, { isStrangers: true })
}

// Late enough for the last check of every sale.
const MUCH_LATER_MS = 86_400_000

/** Checks that every server, once it has had time to poll, shows the state of the log. */
function checkViews(history: History, paint: Paint): void {
  const { world, studio, stands } = history
  if (stands.length > 1) world.scheduler.advance(2000)
  while (world.scheduler.step(world.prng)) throwIfFailed(history)
  for (const { server } of stands) checkPaint(paint, studio, server?.follower)
}

const isAtRest = ({ ledger }: Book, world: World): boolean =>
  world.pool.length === 0 &&
  world.settling === 0 &&
  readSettledResult(ledger.listUnfinished(computeTime(world) + MUCH_LATER_MS)).length === 0

/**
 * Resends every signed request, and checks that the response shows the true state of its purchase.
 */
function sendEverythingAgain(history: History): void {
  const { world, crowd, book } = history
  for (const payment of crowd.signed) {
    const row = book.findRow(toPaymentKey(payment))
    if (row === undefined) continue
    const isLost = history.witness.accepted.has(toPaymentKey(payment))
    const order: Order = { payment: isLost ? payment : row.payment, target: row.target, listing: PLAIN }
    const check = (outcome: Outcome) => {
      const ending = outcome.kind === 'bought' ? `bought ${resolveTarget(outcome.purchase)}` : outcome.code
      // A payment that settled late may have bought a block other than the requested one.
      const now = book.findRow(toPaymentKey(payment)) ?? row
      const movedOn = !isNext(now.target) && now.target !== resolveTarget(now)
      const sold = movedOn ? 'payment_used' : `bought ${resolveTarget(now)}`
      // A purchase paid by a longer authorization of the nonce is completed once its payer requests it.
      const released = isSpentByLonger(world, row.payment) ? ['payment_credited', sold] : ['payment_required']
      const expected = { sold: [sold], credited: ['payment_credited'], released, reserved: [] }[row.state.kind]
      if (!expected.some((one) => one === ending))
        throw new Violation(`a resend of the same request is answered with ${ending}, not ${expected.join(' or ')}`)
    }
    sendOrder(history, order, { checkOutcome: check })
  }
}

// After this many payment checks, the wall no longer remembers that it owes a receipt.
const RECEIPT_LOOKS = 11

/**
 * Checks the response to a payment that never bought anything and no longer can: the payer gets the payment's outcome,
 * immediately or once the wall no longer owes a receipt.
 */
function checkUselessPayments(history: History): void {
  const { world, crowd, book } = history
  const seconds = BigInt(Math.floor(computeTime(world) / 1000))
  const useless = crowd.signed.filter(
    (payment) =>
      payment.validBefore < seconds &&
      payment.signature === SIGNED &&
      book.findRow(toPaymentKey(payment)) === undefined,
  )
  const waiting = useless.filter((payment) => resendPayment(history, payment))
  if (waiting.length > 0) runPaymentChecks(history, RECEIPT_LOOKS)
  for (const payment of waiting)
    assertPromise(
      !resendPayment(history, payment),
      'I10: the payer of a payment that can buy nothing gets its outcome',
      toPaymentKey(payment),
    )
}

/**
 * Checks that a transfer without a purchase is never denied: its payer learns about it, or gets an earlier receipt.
 */
function checkUnmatchedDollars(history: History): void {
  const { world, book, answers } = history
  for (const [key, { payment }] of world.mined) {
    if (book.findRow(key) !== undefined || world.spendings.get(key)?.kind !== 'transfer') continue
    const codes = ['payment_unmatched', 'bought', 'payment_used']
    const before = codes.map((code) => answers.get(code) ?? 0)
    let isTold = false
    for (let tries = 0; tries < ASKED_TIMES && !isTold; tries += 1) {
      resendPayment(history, payment)
      isTold = codes.some((code, at) => (answers.get(code) ?? 0) > (before[at] ?? 0))
      // A process that died may still hold the lease of the payment.
      if (!isTold) runPaymentChecks(history, 1)
    }
    assertPromise(isTold, 'a dollar without a known purchase is not denied', key)
  }
}

const ASKED_TIMES = 5

/** Resends a payment; returns whether there was no response, or the response asked the payer to send it again. */
function resendPayment(history: History, payment: Payment): boolean {
  const { world, crowd } = history
  const outcomes: Outcome[] = []
  const own = crowd.bound.get(toPaymentKey(payment))
  const target = own?.target ?? crowd.firstTarget.get(toPaymentKey(payment)) ?? 'next'
  sendOrder(
    history,
    { target, payment, listing: own?.listing ?? PLAIN },
    { checkOutcome: (outcome) => outcomes.push(outcome) },
  )
  runPendingEffects(history)
  while (outcomes.length === 0 && world.scheduler.step(world.prng)) throwIfFailed(history)
  world.scheduler.advance(2000)
  throwIfFailed(history)
  const [outcome] = outcomes
  return outcome === undefined || (outcome.kind === 'failure' && outcome.details?.['retryAfter'] !== undefined)
}
