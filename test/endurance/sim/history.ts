/** Plays one history: a safety phase in which everything fails, then a quiet one in which everything must come to rest. */

import { drainMicrotasks } from 'bun:jsc'
import type { Failure } from '../../../server/domain/failure.ts'
import { withChargeStatus } from '../../../server/domain/purchase/charging.ts'
import { HOLDS_MAX } from '../../../server/domain/purchase/claim-rules.ts'
import { isSamePayment, keyOf, type Payment, type Target } from '../../../server/domain/purchase/payment.ts'
import { isSold, type Outcome, type Purchase } from '../../../server/domain/purchase/purchase.ts'
import { bodyNotReceived } from '../../../server/domain/purchase/refusals.ts'
import { isBlock, nameField, resolveTarget } from '../../../server/domain/purchase/target.ts'
import { withBinding } from '../../../server/purchase/order-binding.ts'
import type { OfferState } from '../../../server/purchase/seller.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../../shared/wall.ts'
import { prngOf } from '../../support/prng.ts'
import { readSettled } from '../../support/scheduler.ts'
import { listAreas, hasAreas, isNext, createSmallWall, createWideWall } from './areas.ts'
import {
  checkAnswer,
  checkAtRest,
  noteAttended,
  noteLeft,
  noteReceipt,
  noteSent,
  promise,
  Violation,
  seatOf,
  watcherOf,
  type Sums,
  witnessOf,
  type Witness,
} from './check.ts'
import { commonsOf, type Life } from './commons.ts'
import { drawChainFaults, drawFaults, drawLaterFaults, drawSharedFaults, NO_FAULTS } from './faults.ts'
import type { Operator } from './guard.ts'
import type { Book, OpenBook, Paint, Sale } from './ledger-model.ts'
import { checkKeepers, isBusy, keeperOf, startKeeper, type Errand, type Keeper, type Line } from './people/keepers.ts'
import { accept, checkBooks, copy, listLackingCopies, mustWait, operatorOf, putBack } from './people/operator.ts'
import { change, checkPaint, studioOf, type Studio } from './people/owners.ts'
import {
  drawTarget,
  crowdOf,
  HOST,
  doMischief,
  drawOrder,
  sign,
  type Crowd,
  type Order,
  type Payer,
} from './people/payers.ts'
import { checkWishes, endAtDeed, isAsking, wishOf, type Wish } from './people/shoppers.ts'
import { addressOf, PLAIN, SIGNED, TERMS } from './samples.ts'
import { startServer, type Seat, type Server } from './server.ts'
import {
  broadcast,
  heightOf,
  isSpentByLonger,
  reorganise,
  stall,
  strikes,
  timeOf,
  worldOf,
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
type Asking = { readonly at: Stand; readonly told: (space: OfferState | undefined) => void }

/** A server across its lives, one after the other. */
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
  readonly asking: Set<Asking>
  readonly keepers: readonly Keeper[]
  readonly requestsMax: number
  readonly stands: readonly Stand[]
  readonly wishes: Wish[]
  readonly isFlooded: boolean // whether somebody sends known payments for other blocks to the very end
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

/** Plays the history of `seed`. Throws a `Violation` if a promise is broken; `tell` gets each event. */
export function simulate(seed: number, open: OpenBook, tell: World['tell'] = () => {}): Report {
  const world = worldOf(seed, tell)
  const isWide = hasRoom(seed)
  if (isWide) world.faults = { ...NO_FAULTS, requestLost: 1 }
  const sells = hasAreas(seed) ? 'areas' : 'blocks'
  const wall = wallOf(world, sells, isWide)
  const isTwin = isTwinned(seed)
  if (isTwin) world.faults = { ...world.faults, ...drawSharedFaults(prngOf(~seed)) }
  if (world.hasEndpoints) world.faults = { ...world.faults, ...drawChainFaults(prngOf(seed ^ ENDPOINTS_SEED)) }
  if (!isWide) world.faults = { ...world.faults, ...drawLaterFaults(prngOf(seed ^ LATER_SEED)) }
  if (lacksLeases(seed)) world.faults = { ...world.faults, ...WITHOUT_LEASES }
  if (isRinged(seed) && !isWide) world.second = drawFaults(prngOf(seed ^ SECOND_SEED))
  const book = readSettled(open(wall, sells))
  const areas = sells === 'areas' ? listAreas(wall) : []
  const crowd = crowdOf(world, { wall, areas }, isWide ? 1 : 1 + world.prng.below(3))
  const operator = world.hasOperator && book.vault !== undefined ? operatorOf(world, book.vault) : undefined
  // An older copy lacks later repaints.
  const paint = operator === undefined ? book.paint : undefined
  const witness = witnessOf(world, book, wall, crowd)
  if (operator !== undefined) witness.mustWait = () => mustWait(world, operator, witness)
  const history: History = {
    world,
    book,
    paint,
    operator,
    wall,
    crowd,
    witness,
    studio: studioOf(),
    polled: [],
    answers: new Map(),
    inFlight: new Set(),
    asking: new Set(),
    keepers: crowd.payers.filter(({ habit }) => habit === 'keeps').map(keeperOf),
    requestsMax: isWide ? 60 : 16,
    stands: standsOf(world, { book, paint, operator }, witness, isTwin ? 2 : 1),
    wishes: [],
    isFlooded: world.faults.wrongTarget > 0,
    requests: 0,
    crashes: 0,
    answeredAt: 0,
  }
  try {
    live(history)
    const sums = checkAtRest(witness, history.polled)
    checkKeepers(world, book, history.keepers)
    if (paint !== undefined) checkViews(history, paint)
    if (operator !== undefined) {
      letThemLook(history)
      checkBooks(world, operator, witness)
    }
    const { requests, crashes, answers } = history
    return { ...sums, events: world.step, requests, crashes, answers }
  } finally {
    book.close()
  }
}

function wallOf({ prng, hasOperator }: World, sells: 'blocks' | 'areas', isWide: boolean): readonly BlockIndex[] {
  if (sells === 'areas') return isWide ? createWideWall() : createSmallWall(prng)
  if (isWide) return CLAIM_ORDER.slice(0, 18)
  // On a sold-out wall an older copy has nothing to sell twice.
  return CLAIM_ORDER.slice(0, (hasOperator ? 4 : 1) + prng.below(3))
}

// Gives the second facilitator other faults than the first one.
const SECOND_SEED = 0x5ec0d
const LATER_SEED = 0x1a7e5
const ENDPOINTS_SEED = 0xe9d01

/** Whether there are two facilitators. */
const isRinged = (seed: number): boolean => seed % 4 === 2 || seed % 16 === 15

/** Whether a greedy payer meets a wall that is wider than the payer's limit, and no purchase ever ends. */
export const hasRoom = (seed: number): boolean => seed % WIDE_EVERY === 0

/** Whether two servers sell from the same book. */
export const isTwinned = (seed: number): boolean => seed % TWIN_EVERY === TWIN_EVERY - 1

// If a facilitator does not respond to a payment, the payment is not stored: only a lease shows that it was sent.
const WITHOUT_LEASES = { leaseUnknown: 0.7, verifyDown: 0.3 }

/** Whether two servers mostly get no leases from their store. */
const lacksLeases = (seed: number): boolean => seed % 32 === 3 || seed % 32 === 23

// How far the clock of each of two servers is off.
const OFF_MS = [0, 7000]

function standsOf(
  world: World,
  shelf: Pick<Seat, 'book' | 'paint' | 'operator'>,
  witness: Witness,
  count: number,
): Stand[] {
  const commons = count > 1 ? commonsOf(world) : undefined
  return Array.from({ length: count }, (_, nth) => {
    const own = count > 1 ? seatOf(witness) : witness
    const stand: Stand = {
      witness: own,
      life: { startedAt: 0, diedAt: undefined, skewMs: OFF_MS[nth] ?? 0 },
      server: undefined,
      seat: {
        name: `server ${nth + 1}`,
        ...shelf,
        watcher: watcherOf(own),
        commons,
        opened: (server) => {
          if (server.life === stand.life) stand.server = server
        },
      },
    }
    return stand
  })
}

function live(history: History): void {
  for (const stand of history.stands) start(history, stand)
  for (let turn = 0; turn < turnsOf(history); turn += 1) takeTurn(history)
  endFaults(history)
  acceptAtLast(history)
  serveEverybody(history)
  checkWishes(history.world, history.book, history.wishes)
  runUntilSettled(history)
  serveKeepers(history)
  runUntilSettled(history)
  sendEverythingAgain(history)
  runUntilSettled(history)
  // A wall that waits for its operator does not come to rest.
  if (history.operator === undefined) {
    sendUselessOnes(history)
    askAfterDollars(history)
  }
}

function turnsOf({ wall, operator }: History): number {
  if (operator !== undefined) return OPERATED_TURNS
  return wall.length > HOLDS_MAX ? WIDE_TURNS : SAFETY_TURNS
}

/** Plays one random event. */
function takeTurn(history: History): void {
  const { world, crowd } = history
  const { prng } = world
  startDead(history)
  if (history.operator !== undefined) operate(history, history.operator)
  if (prng.chance(0.02) && strikes(world, 'crash')) restart(history, anyOf(world, history.stands))
  if (world.isRepriced && history.stands.length === 1 && world.words.chance(REPRICED)) {
    reprice(world)
    restart(history, anyOf(world, history.stands))
  }
  if (world.isReplayed && world.words.chance(REPLAYED)) replay(history)
  const roll = prng.below(100)
  if (roll < 72) {
    // `advance` already runs everything that an event causes.
    advance(history)
    return checkFailed(history)
  }
  if (roll < 86) request(history)
  else if (roll < 91) world.scheduler.pass(1000 * prng.pick([2, 2, 2, 10, 60]))
  else if (roll < 95) doMischief(world, crowd)
  else if (roll < 96 && strikes(world, 'wrongTarget')) flood(history)
  else if (roll < 97) disturb(history)
  else if (roll < 98) poll(history)
  else if (history.paint !== undefined) repaint(history)
  settle(history)
}

function repaint(history: History): void {
  const { server } = anyOf(history.world, history.stands)
  if (server === undefined) return
  change(history.world, history.studio, server, history.wall, (error) => {
    history.world.failed ??= new Violation(`I11: no exception, but ${String(error)}`)
  })
}

/** Picks a server; if there is only one, draws no random number. */
function anyOf({ prng }: World, stands: readonly Stand[]): Stand {
  const [only, ...others] = stands
  return only !== undefined && others.length === 0 ? only : prng.pick(stands)
}

/** Runs all pending effects, and throws if a promise is broken. */
function settle(history: History): void {
  drainMicrotasks()
  checkFailed(history)
}

/** Throws if a promise is broken. */
function checkFailed({ world: { failed } }: History): void {
  if (failed !== undefined) throw failed
}

/** Runs the next waiting call, or lets time pass until there is one. */
function advance({ world }: History): void {
  while (!world.scheduler.step(world.prng) && world.failed === undefined) {
    const waitMs = world.scheduler.untilNext()
    if (waitMs === undefined) return
    world.scheduler.pass(waitMs)
  }
}

function disturb(history: History): void {
  const { world, stands } = history
  if (strikes(world, 'reorganise')) reorganise(world)
  if (strikes(world, 'clockSteps')) {
    const { life } = anyOf(world, stands)
    life.skewMs = world.prng.pick([-3_600_000, -5000, 0, 5000, 3_600_000])
    world.tell(() => `server: its clock is ${life.skewMs} ms off`)
    for (const wish of history.wishes) noteTime(history, wish)
  }
  if (strikes(world, 'chainStalls')) stall(world, world.prng.pick([20_000, 90_000, 300_000]))
  if (strikes(world, 'freeze')) freeze(world, anyOf(world, stands).life)
  const leaving = [...history.inFlight]
  if (leaving.length > 0 && strikes(world, 'hangUp')) hangUp(history, world.prng.pick(leaving))
}

function freeze(world: World, life: Life): void {
  const ms = world.prng.pick([5000, 20_000, 60_000])
  world.tell(() => `server: stands still for ${ms / 1000} s`)
  world.scheduler.freeze(life, ms)
}

function hangUp({ world, witness, inFlight }: History, leaving: InFlight): void {
  world.tell(() => `buyer: ${leaving.order.payment.nonce.slice(-4)} hangs up`)
  inFlight.delete(leaving)
  leave(witness, inFlight, leaving)
  leaving.client?.abort()
}

/** Records that nobody waits for a response any more, unless a copy of the request is in flight. */
function leave(
  witness: Witness,
  inFlight: ReadonlySet<InFlight>,
  { order: { payment }, isStrangers, told }: InFlight,
): void {
  const isAlone = ![...inFlight].some(
    (other) => other.isStrangers !== true && keyOf(other.order.payment) === keyOf(payment),
  )
  if (isStrangers !== true && isAlone) noteLeft(witness, payment)
  told?.(undefined)
}

function start(history: History, stand: Stand): void {
  stand.server = undefined
  stand.life = { ...stand.life, startedAt: history.world.step, diedAt: undefined }
  stand.witness.life = stand.life
  startServer(history.world, stand.seat, stand.life)
  settle(history)
}

const COPIED = 0.1
const COPIES_MAX = 3
const PUT_BACK = 0.03
const ACCEPTED = 0.03

/** Takes the operator's next action, if any. The operator changes the file only while no server runs. */
function operate(history: History, operator: Operator): void {
  const { world, witness } = history
  const { prng } = world
  if (operator.putBack !== undefined && prng.chance(ACCEPTED))
    return workOn(history, () => accept(world, operator, witness))
  if (operator.putBack === undefined && operator.copies.length < COPIES_MAX && prng.chance(COPIED))
    return copy(world, operator)
  const copies = listLackingCopies(operator)
  if (copies.length > 0 && prng.chance(PUT_BACK))
    workOn(history, () => putBack(world, operator, prng.pick(copies), witness))
}

/** Stops all servers for some work on their file. */
function workOn(history: History, work: () => void): void {
  for (const stand of history.stands) stop(history, stand)
  leaveForAWhile(history)
  work()
  if (history.world.prng.chance(0.3)) leaveForAWhile(history)
  history.polled.length = 0
  for (const stand of history.stands) start(history, stand)
}

const AWAY_MS = [0, 10_000, 60_000, 300_000]

/** While no server runs, settings change, time passes, and others broadcast payments they have seen or signed. */
function leaveForAWhile({ world, crowd }: History): void {
  const { prng } = world
  if (prng.chance(0.3)) reprice(world)
  if (prng.chance(0.3)) askElsewhere(world)
  for (let n = prng.below(3); n > 0; n -= 1) {
    if (crowd.signed.length > 0) broadcast(world, prng.pick(crowd.signed), 'others')
    world.scheduler.pass(prng.pick(AWAY_MS))
  }
}

const LOOKS = 5
const LOOK_MS = 60_000

/** Gives every server the time to find arrived money. */
function letThemLook(history: History, looks = LOOKS): void {
  const { world } = history
  for (let look = 0; look < looks; look += 1) {
    while (world.scheduler.step(world.prng)) checkFailed(history)
    world.scheduler.pass(LOOK_MS)
    checkFailed(history)
  }
}

/** Accepts a restored copy in the end, because an operator does not ignore a wall that waits for a decision. */
function acceptAtLast(history: History): void {
  const { world, witness, operator, stands } = history
  if (operator?.putBack === undefined) return
  startDead(history)
  letThemLook(history)
  // Meanwhile somebody comes to buy.
  for (const payer of history.crowd.payers) send(history, drawOrder(world, history.crowd, payer))
  letThemLook(history)
  const waits = stands.some(({ server }) => server?.guard?.restored.reason() !== null)
  if (waits) workOn(history, () => accept(world, operator, witness))
}

function restart(history: History, stand: Stand): void {
  stop(history, stand)
  start(history, stand)
}

const REPRICED = 0.03

/** Servers that start from now on have another price. */
function reprice(world: World): void {
  world.prices.push(TERMS.amount * BigInt(1 + world.prng.below(3)))
}

/**
 * Servers that start from now on ask to be paid at another address, or at an earlier one. If older copies are restored,
 * it is a new one: a restored copy cannot find money at an address that only the lost history knew.
 */
function askElsewhere(world: World): void {
  world.payees.push(addressOf(0xb000 + (world.hasOperator ? world.payees.length : world.words.below(3))))
}

function stop(history: History, stand: Stand): void {
  const { world, inFlight } = history
  history.crashes += 1
  stand.life.diedAt ??= world.step
  world.scheduler.forget(stand.life)
  // Instances should have the same price.
  const mayDiffer = (world.isVaried || world.hasOperator) && history.stands.length === 1
  if (mayDiffer && world.prng.chance(0.3)) reprice(world)
  if (mayDiffer && !world.isRepriced && world.words.chance(0.3)) askElsewhere(world)
  const dropped = [...inFlight].filter((request) => request.at === stand)
  for (const request of dropped) inFlight.delete(request)
  for (const request of dropped) leave(history.witness, inFlight, request)
  for (const asking of history.asking)
    if (asking.at === stand) {
      history.asking.delete(asking)
      asking.told(undefined)
    }
}

function startDead(history: History): void {
  for (const stand of history.stands) if (stand.life.diedAt !== undefined) restart(history, stand)
}

function poll({ book, polled }: History): void {
  polled.push(...readSettled(book.sales(polled.length)).slice(0, 2))
}

/** Somebody sends a request, or several parallel copies of it. */
function request(history: History): void {
  const { world, crowd } = history
  if (history.requests >= history.requestsMax) return
  const payer = world.prng.pick(crowd.payers)
  if (payer.habit === 'asks again') return shop(history, drawWish(history, payer))
  const keeper = history.keepers.find((one) => one.payer === payer)
  if (keeper !== undefined) return visit(history, keeper)
  const order = drawOrder(world, crowd, payer)
  for (let copies = world.prng.chance(0.2) ? 2 : 1; copies > 0; copies -= 1) send(history, order)
}

function drawWish({ world, crowd, wishes }: History, payer: Payer): Wish {
  const open = wishes.find((wish) => wish.payer === payer && isAsking(world, wish))
  if (open !== undefined) return open
  const wish = wishOf(world, payer, drawTarget(world, crowd))
  wishes.push(wish)
  return wish
}

/** One round of a client that stores nothing: it signs and sends the offered terms. */
function shop(history: History, wish: Wish): void {
  const { world, crowd, book, stands } = history
  const at = anyOf(world, stands)
  if (wish.isWaiting) return
  wish.isWaiting = true
  noteTime(history, wish)
  world.tell(() => `buyer: ${wish.payer.wallet.slice(-4)} asks for ${wish.target}`)
  ask(history, at, wish.target, (space) => {
    wish.isWaiting = false
    world.tell(() => `buyer: ${wish.payer.wallet.slice(-4)} is shown ${wish.target} ${space}`)
    wish.isHeldBack = space === 'reserved'
    if (space === 'claimed') endAtDeed(book, wish)
    if (space === 'crowded') wish.end = 'refused'
    if (space !== 'open' && space !== 'uncertain') return
    const payment = sign(world, crowd, wish.payer, wish.target)
    crowd.firstTarget.set(keyOf(payment), wish.target)
    wish.signed.push(payment)
    wish.isWaiting = true
    send(history, { target: wish.target, payment, listing: PLAIN }, { wish, told: () => (wish.isWaiting = false) })
  })
}

// The wall remembers an owed receipt for minutes.
const OFF_MAX_MS = 60_000

/** Records whether a clock is far off during a request. */
function noteTime({ world, stands }: History, wish: Wish): void {
  if (isAsking(world, wish)) wish.isMistimed ||= stands.some(({ life }) => Math.abs(life.skewMs) > OFF_MAX_MS)
}

/** Somebody requests the price of a target. */
function ask(history: History, at: Stand, target: Target, told: Asking['told']): void {
  const { server, life } = at
  if (server === undefined || life.diedAt !== undefined) return told(undefined)
  const { world, inFlight, stands } = history
  const askedAt = world.step
  const isWaitedFor = () => inFlight.size > 0 || history.answeredAt >= askedAt
  const wasWaitedFor = isWaitedFor()
  history.requests += 1
  const mine: Asking = { at, told }
  history.asking.add(mine)
  const noteAnswer = (space: OfferState | undefined) => {
    if (life.diedAt !== undefined || !history.asking.delete(mine)) return
    // With several servers, only a lease shows whether another one works on the block.
    const isHeldBack = space === 'reserved' && stands.length === 1 && isHeld(history, target)
    promise(!isHeldBack || wasWaitedFor || isWaitedFor(), 'a block for which no payer waits is offered again')
    told(space)
  }
  Promise.resolve(server.seller.offered(target))
    .then(noteAnswer, () => noteAnswer(undefined))
    .catch((error: unknown) => (world.failed ??= error))
}

/** Whether a payment that requested a target, or got it, holds it. */
const isHeld = ({ crowd, book }: History, target: Target): boolean =>
  crowd.signed.some((payment) => {
    const row = book.row(keyOf(payment))
    return row?.state.kind === 'reserved' && (row.target === target || resolveTarget(row) === target)
  })

// How often a client that stores its payments is killed, and how often its user wants something else meanwhile.
const KILLED = 0.3
const TURNED = 0.3

/** Acts as the user of a client that stores its payments: starts the client, or kills it. */
function visit(history: History, keeper: Keeper): void {
  const { world, crowd } = history
  const { prng } = world
  if (keeper.process !== undefined) {
    if (prng.chance(KILLED)) kill(history, keeper)
    return
  }
  const open = keeper.errands.find(({ end }) => end === undefined)
  if (open !== undefined && !prng.chance(TURNED)) return serve(history, keeper, open)
  const target = drawTarget(world, crowd)
  const wanted = keeper.errands.find((errand) => errand.target === target && errand.end === undefined)
  const errand = wanted ?? { target, signed: [], end: undefined }
  if (wanted === undefined) keeper.errands.push(errand)
  serve(history, keeper, errand)
}

function serve(history: History, keeper: Keeper, errand: Errand | undefined): void {
  const { world, crowd, stands } = history
  const line: Line = {
    asks: (target, told) => ask(history, anyOf(world, stands), target, told),
    pays: (target, payment, told) => send(history, { target, payment, listing: PLAIN }, { keeper, told }),
  }
  startKeeper(world, crowd, keeper, line, errand, (error) => (world.failed ??= error))
}

/** Ends a client's process, and its connections with it. */
function kill(history: History, keeper: Keeper): void {
  const { world, inFlight } = history
  const { process } = keeper
  world.tell(() => `client: ${keeper.payer.wallet.slice(-4)} is killed`)
  keeper.process = undefined
  for (const leaving of inFlight) if (leaving.keeper === keeper) hangUp(history, leaving)
  if (process !== undefined) world.scheduler.forget(process)
}

const SERVING_TURNS = 40

/** Nothing fails any more, and clients that store nothing continue until they are served. The last request gets its response. */
function serveEverybody(history: History): void {
  const { world, wishes } = history
  startDead(history)
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    const open = wishes.filter((wish) => (turn < SERVING_TURNS ? isAsking(world, wish) : wish.isWaiting))
    if (open.length === 0) return
    for (const wish of open) shop(history, wish)
    while (world.scheduler.step(world.prng)) checkFailed(history)
    world.scheduler.pass(2000)
    checkFailed(history)
  }
}

// If a server's clock was an hour off, it treats its sales as new for a long time.
const LONG_MS = 15_000

/** Nothing fails any more, and clients that store their payments continue until each wish has its end. */
function serveKeepers(history: History): void {
  const { world, keepers } = history
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    const busy = keepers.filter(isBusy)
    if (busy.length === 0) return
    for (const keeper of busy)
      if (keeper.process === undefined)
        serve(
          history,
          keeper,
          keeper.errands.find(({ end }) => end === undefined),
        )
    while (world.scheduler.step(world.prng)) checkFailed(history)
    world.scheduler.pass(turn < SERVING_TURNS ? 2000 : LONG_MS)
    checkFailed(history)
  }
  throw new Violation('I10: every client reaches its end')
}

type Sending = {
  readonly check?: (outcome: Outcome) => void
  readonly wish?: Wish
  readonly keeper?: Keeper // whose process waits
  readonly isStrangers?: true // sent by somebody else who has seen the payment
  readonly told?: (outcome: Outcome | undefined) => void // `undefined` if no response comes
}

// Outcomes that leave a payer waiting for the same payment.
const waits: ReadonlySet<string> = new Set(['settlement_unknown', 'deed_not_persisted', 'database_unavailable'])

function send(history: History, sent: Order, sending: Sending = {}): void {
  const { world, witness, answers, inFlight, stands } = history
  const order = alterOrder(history, sent)
  const at = anyOf(world, stands)
  const { server } = at
  if (server === undefined || at.life.diedAt !== undefined) return sending.told?.(undefined)
  const id = order.payment.nonce.slice(-4)
  history.requests += 1
  world.step += 1
  world.tell(() => `buyer: ${id} for ${order.target}`)
  const isKnown = history.book.row(keyOf(order.payment)) !== undefined
  const asked = { startedAt: world.step, height: heightOf(world), payees: server.payees, isKnown }
  // An abort signal costs as much time as some of the steps that it could end.
  const mayLeave = world.faults.hangUp > 0 || sending.keeper !== undefined
  const mine: InFlight = { at, order, client: mayLeave ? new AbortController() : undefined, ...sending }
  inFlight.add(mine)
  if (sending.isStrangers !== true) noteAttended(witness, order.payment)
  noteSent(witness, order)
  const noteAnswer = (outcome: Outcome) => {
    const name = outcome.kind === 'bought' ? 'bought' : outcome.code
    world.tell(() => `buyer: ${id} is answered ${name}`)
    // A client that hung up gets nothing.
    if (!inFlight.delete(mine)) return
    history.answeredAt = world.step
    answers.set(name, (answers.get(name) ?? 0) + 1)
    checkAnswer(at.witness, order, outcome, asked)
    hear(history, mine, outcome)
    sending.check?.(outcome)
  }
  const payment = withBinding(order.payment, { ...order, isArea: !isBlock(order.target) }, HOST)
  const isUnread = order.listing === UNREAD && findStored(history, sent) === undefined
  const buying = isUnread
    ? Promise.resolve(withChargeStatus(UNREAD, undefined))
    : server.seller.buy(order.target, payment, order.listing, mine.client?.signal)
  buying.then(noteAnswer).catch((error: unknown) => {
    history.world.failed ??=
      error instanceof Violation ? error : new Violation(`I11: no exception, but ${String(error)}`)
  })
}

const UNREAD = bodyNotReceived()

/** An order as the wall reads it: for an area whose body does not arrive, a known payment gets the result of its first order. */
function alterOrder(history: History, order: Order): Order {
  const { world } = history
  if (isBlock(order.target) || !world.words.chance(world.faults.bodyCut)) return order
  world.tell(() => `buyer: ${order.payment.nonce.slice(-4)}: its body is cut`)
  return { ...order, target: findStored(history, order)?.target ?? order.target, listing: UNREAD }
}

/** The purchase that exactly this payment was first sent for. */
function findStored({ book }: Pick<History, 'book'>, { payment }: Order): Purchase | undefined {
  const row = book.row(keyOf(payment))
  return row !== undefined && isSamePayment(row.payment, payment) ? row : undefined
}

/** Delivers a response to its client, unless it is lost, and records what the client learns. */
function hear(history: History, mine: InFlight, outcome: Outcome): void {
  const { world, witness, inFlight } = history
  const { order, wish } = mine
  const isLost = strikes(world, 'answerLostOnTheWay')
  if (isLost) world.tell(() => `buyer: ${order.payment.nonce.slice(-4)} does not get the answer`)
  mine.told?.(isLost ? undefined : outcome)
  if (mine.isStrangers === true) return
  if (outcome.kind === 'failure' && outcome.code === 'payment_used') noteElsewhere(history, order, outcome)
  if (outcome.kind === 'bought') {
    noteReceipt(witness, outcome.purchase.payment)
    if (wish !== undefined) wish.end = isLost ? 'unknowable' : 'served'
  } else if (wish !== undefined && ['payment_credited', 'payment_unmatched', 'payment_used'].includes(outcome.code))
    wish.end = 'served'
  else if (isLost || waits.has(outcome.code)) leave(witness, inFlight, mine)
  else if (wish !== undefined && isFinal.has(outcome.code)) wish.end = 'refused'
}

/** Records that a payer learned which other block an earlier payment for the same target bought. */
function noteElsewhere({ crowd, book, witness }: History, { target, payment }: Order, { details }: Failure): void {
  for (const other of crowd.signed) {
    const row = book.row(keyOf(other))
    if (other.payer !== payment.payer || row?.target !== target || !isSold(row)) continue
    const isTold = Object.entries(nameField(row)).every(([kind, name]) => details?.[kind] === name)
    if (isTold && resolveTarget(row) !== target) noteReceipt(witness, other)
  }
}

// Outcomes after which no client continues.
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
  startDead(history)
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    while (world.scheduler.step(world.prng)) checkFailed(history)
    if (!isAtRest(book, world)) flood(history)
    else if (history.inFlight.size === 0) return
    world.scheduler.pass(60_000)
    checkFailed(history)
  }
  throw new Violation('I10: the history comes to rest')
}

/**
 * Sends known payments for other blocks, as somebody else would. This must not keep the wall from checking these
 * payments.
 */
function flood(history: History): void {
  const { crowd, book, wall, isFlooded } = history
  if (!isFlooded) return
  for (const payment of crowd.signed) {
    const row = book.row(keyOf(payment))
    const other = wall.find((block) => block !== row?.block && block !== row?.target)
    if (row?.state.kind !== 'reserved' || other === undefined) continue
    send(history, { target: other, payment, listing: PLAIN }, { isStrangers: true })
  }
}

const REPLAYED = 0.04

/** Sends a payment as its payer did, but as somebody else, once the chain shows it to everybody. */
function replay(history: History): void {
  const { world, crowd, book } = history
  const shown = crowd.signed.flatMap((payment) => {
    const row = book.row(keyOf(payment))
    return row?.state.kind === 'sold' && world.mined.has(keyOf(payment)) ? [row] : []
  })
  if (shown.length === 0) return
  const { payment, target } = world.words.pick(shown)
  send(history, { target, payment, listing: PLAIN }, { isStrangers: true })
}

// Late enough for the last check of every sale.
const MUCH_LATER_MS = 86_400_000

/** Checks that every server shows the state of the log, once it has had the time to poll. */
function checkViews(history: History, paint: Paint): void {
  const { world, studio, stands } = history
  if (stands.length > 1) world.scheduler.pass(2000)
  while (world.scheduler.step(world.prng)) checkFailed(history)
  for (const { server } of stands) checkPaint(paint, studio, server?.follower)
}

const isAtRest = ({ ledger }: Book, world: World): boolean =>
  world.pool.length === 0 &&
  world.settling === 0 &&
  readSettled(ledger.unfinished(timeOf(world) + MUCH_LATER_MS)).length === 0

/** The same signed request always ends with the same result: every payer sends it once more, and gets the true state. */
function sendEverythingAgain(history: History): void {
  const { world, crowd, book } = history
  for (const payment of crowd.signed) {
    const row = book.row(keyOf(payment))
    if (row === undefined) continue
    const isLost = history.witness.accepted.has(keyOf(payment))
    const order: Order = { payment: isLost ? payment : row.payment, target: row.target, listing: PLAIN }
    const check = (outcome: Outcome) => {
      const told = outcome.kind === 'bought' ? `bought ${resolveTarget(outcome.purchase)}` : outcome.code
      // A block that was given late may be elsewhere.
      const now = book.row(keyOf(payment)) ?? row
      const movedOn = !isNext(now.target) && now.target !== resolveTarget(now)
      const sold = movedOn ? 'payment_used' : `bought ${resolveTarget(now)}`
      // A purchase paid by a longer authorization of the nonce is completed once its payer requests it.
      const released = isSpentByLonger(world, row.payment) ? ['payment_credited', sold] : ['payment_required']
      const expected = { sold: [sold], credited: ['payment_credited'], released, reserved: [] }[row.state.kind]
      if (!expected.some((one) => one === told))
        throw new Violation(`a resend of the same request is answered with ${told}, not ${expected.join(' or ')}`)
    }
    send(history, order, { check })
  }
}

// After this many looks, no wall remembers that a receipt is owed.
const RECEIPT_LOOKS = 11

/** The payer of a payment that can buy nothing, and never did, gets its outcome: immediately, or once no receipt is owed any more. */
function sendUselessOnes(history: History): void {
  const { world, crowd, book } = history
  const seconds = BigInt(Math.floor(timeOf(world) / 1000))
  const useless = crowd.signed.filter(
    (payment) =>
      payment.validBefore < seconds && payment.signature === SIGNED && book.row(keyOf(payment)) === undefined,
  )
  const waiting = useless.filter((payment) => isToldToWait(history, payment))
  if (waiting.length > 0) letThemLook(history, RECEIPT_LOOKS)
  for (const payment of waiting)
    promise(
      !isToldToWait(history, payment),
      'I10: the payer of a payment that can buy nothing gets its outcome',
      keyOf(payment),
    )
}

/**
 * A dollar without a purchase is never denied: its payer learns about it, or gets an earlier receipt as the response.
 */
function askAfterDollars(history: History): void {
  const { world, book, answers } = history
  for (const [key, { payment }] of world.mined) {
    if (book.row(key) !== undefined || world.spendings.get(key)?.kind !== 'transfer') continue
    const codes = ['payment_unmatched', 'bought', 'payment_used']
    const before = codes.map((code) => answers.get(code) ?? 0)
    let isTold = false
    for (let tries = 0; tries < ASKED_TIMES && !isTold; tries += 1) {
      isToldToWait(history, payment)
      isTold = codes.some((code, at) => (answers.get(code) ?? 0) > (before[at] ?? 0))
      // A process that died may still hold the lease of the payment.
      if (!isTold) letThemLook(history, 1)
    }
    promise(isTold, 'a dollar without a known purchase is not denied', key)
  }
}

const ASKED_TIMES = 5

/** Whether the payer of a payment is asked to send it once more. */
function isToldToWait(history: History, payment: Payment): boolean {
  const { world, crowd } = history
  const told: Outcome[] = []
  const own = crowd.bound.get(keyOf(payment))
  const target = own?.target ?? crowd.firstTarget.get(keyOf(payment)) ?? 'next'
  send(history, { target, payment, listing: own?.listing ?? PLAIN }, { check: (outcome) => told.push(outcome) })
  settle(history)
  while (told.length === 0 && world.scheduler.step(world.prng)) checkFailed(history)
  world.scheduler.pass(2000)
  checkFailed(history)
  const [outcome] = told
  return outcome === undefined || (outcome.kind === 'failure' && outcome.details?.['retryAfter'] !== undefined)
}
