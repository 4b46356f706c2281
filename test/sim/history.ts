/** Plays one history: a safety phase in which everything fails, then a quiet one in which everything must come to rest. */

import { drainMicrotasks } from 'bun:jsc'
import { keyOf } from '../../server/domain/payment.ts'
import type { Outcome } from '../../server/domain/purchase.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import { checkAnswer, checkAtRest, noteHangUp, Violation, seatOf, watcherOf, witnessOf, type Witness } from './check.ts'
import { commonsOf, type Life } from './commons.ts'
import { diceOf } from './dice.ts'
import { drawSharedFaults, NO_FAULTS } from './faults.ts'
import type { Book, OpenBook, Paint, Sale } from './ledger-model.ts'
import { change, checkPaint, studioOf, type Studio } from './owners.ts'
import { crowdOf, mischief, nextOrder, type Crowd, type Order } from './payers.ts'
import { PLAIN } from './samples.ts'
import { settled } from './scheduler.ts'
import { startServer, type Seat, type Server } from './server.ts'
import { mine, reorganise, strikes, timeOf, worldOf, type World } from './world.ts'

/** What one history came to. */
export type Report = {
  readonly events: number
  readonly requests: number
  readonly charged: number
  readonly sold: number
  readonly crashes: number
  readonly answers: ReadonlyMap<string, number>
}

type InFlight = { readonly at: Stand; readonly order: Order; readonly client: AbortController | undefined }

/** Where a server stands, one life after the other. */
type Stand = {
  readonly seat: Seat
  readonly witness: Witness // of what is seen of it
  life: Life
  server: Server | undefined // while there is one to be reached
}

type History = {
  readonly world: World
  readonly book: Book
  readonly wall: readonly BlockIndex[]
  readonly crowd: Crowd
  readonly witness: Witness
  readonly studio: Studio
  readonly polled: Sale[]
  readonly answers: Map<string, number>
  readonly inFlight: Set<InFlight>
  readonly requestsMax: number
  readonly stands: readonly Stand[]
  requests: number
  crashes: number
  failed: unknown // what a promise broke on, where it could not be thrown on
}

const TWIN_EVERY = 4

const SAFETY_TURNS = 130
const WIDE_TURNS = 700
const WIDE_EVERY = 100
const REST_TURNS_MAX = 400

/** Plays the history of `seed`. Throws a `Violation` where a promise is broken; `tell` is handed what happens. */
export function simulate(seed: number, open: OpenBook, tell: World['tell'] = () => {}): Report {
  const world = worldOf(seed, tell)
  // Now and then a greedy payer meets a wall that is wider than what one may hold, and nothing ever comes to its end.
  const isWide = seed % WIDE_EVERY === 0
  if (isWide) world.faults = { ...NO_FAULTS, requestLost: 1 }
  const wall = CLAIM_ORDER.slice(0, isWide ? 18 : 1 + world.dice.below(3))
  const isTwin = isTwinned(seed)
  if (isTwin) world.faults = { ...world.faults, ...drawSharedFaults(diceOf(~seed)) }
  const book = settled(open(wall))
  const crowd = crowdOf(world, wall, isWide ? 1 : 1 + world.dice.below(3))
  const witness = witnessOf(world, book, crowd.signed)
  const history: History = {
    world,
    book,
    wall,
    crowd,
    witness,
    studio: studioOf(),
    polled: [],
    answers: new Map(),
    inFlight: new Set(),
    requestsMax: isWide ? 60 : 16,
    stands: standsOf(world, book, witness, isTwin ? 2 : 1),
    requests: 0,
    crashes: 0,
    failed: undefined,
  }
  witness.isWaitedFor = (key) =>
    [...history.inFlight].some(({ at, order }) => {
      const own = keyOf(order.payment)
      return own === key || at.witness.siblingOf.get(own) === key || (isTwin && isSibling(history, order, key))
    })
  try {
    live(history)
    const { charged, sold } = checkAtRest(witness, wall, history.polled)
    if (book.paint !== undefined) checkViews(history, book.paint)
    const { requests, crashes, answers } = history
    return { events: world.step, requests, charged, sold, crashes, answers }
  } finally {
    book.close()
  }
}

/** Whether two servers sell from the same book. */
const isTwinned = (seed: number): boolean => seed % TWIN_EVERY === TWIN_EVERY - 1

function standsOf(world: World, book: Book, witness: Witness, count: number): Stand[] {
  const commons = count > 1 ? commonsOf(world) : undefined
  return Array.from({ length: count }, (_, nth) => {
    const own = count > 1 ? seatOf(witness) : witness
    const stand: Stand = {
      witness: own,
      life: { startedAt: 0, diedAt: undefined },
      server: undefined,
      seat: {
        name: `server ${nth + 1}`,
        book,
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

/** Whether an order could be answered by an older purchase. */
function isSibling({ book, crowd }: History, { payment, target }: Order, key: string): boolean {
  const older = crowd.signed.find((other) => other.payer === payment.payer && keyOf(other) === key)
  return older !== undefined && book.row(key)?.target === target
}

function live(history: History): void {
  for (const stand of history.stands) start(history, stand)
  for (let turn = 0; turn < (history.wall.length > 3 ? WIDE_TURNS : SAFETY_TURNS); turn += 1) takeTurn(history)
  comeToRest(history)
  sendEverythingAgain(history)
  comeToRest(history)
}

/** One thing that happens, whatever comes next. */
function takeTurn(history: History): void {
  const { world, crowd } = history
  const { dice } = world
  for (const stand of history.stands) if (stand.life.diedAt !== undefined) restart(history, stand)
  if (dice.chance(0.02) && strikes(world, 'crash')) restart(history, anyOf(world, history.stands))
  const roll = dice.below(100)
  if (roll < 72) advance(history)
  else if (roll < 86) request(history)
  else if (roll < 91) mine(world, dice.pick([2, 2, 2, 10, 60]))
  else if (roll < 95) mischief(world, crowd)
  else if (roll < 97) disturb(history)
  else if (roll < 98) poll(history)
  else if (history.book.paint !== undefined) repaint(history)
  settle(history)
}

function repaint(history: History): void {
  const { server } = anyOf(history.world, history.stands)
  if (server === undefined) return
  change(history.world, history.studio, server, history.wall, (error) => {
    history.failed ??= new Violation(`I11: no exception, but ${String(error)}`)
  })
}

/** Where there is one, no die is cast. */
function anyOf({ dice }: World, stands: readonly Stand[]): Stand {
  const [only, ...others] = stands
  return only !== undefined && others.length === 0 ? only : dice.pick(stands)
}

/** Lets what was caused happen, and throws what a promise broke on. */
function settle(history: History): void {
  drainMicrotasks()
  if (history.failed !== undefined) throw history.failed
}

/** Something happens next: a call that waits, or else time passes. */
function advance({ world }: History): void {
  while (!world.scheduler.step(world.dice)) {
    const waitMs = world.scheduler.untilNext()
    if (waitMs === undefined) return
    world.scheduler.pass(waitMs)
  }
}

function disturb({ world, witness, inFlight }: History): void {
  if (strikes(world, 'reorganise')) reorganise(world)
  if (strikes(world, 'clockSteps')) {
    world.skewMs = world.dice.pick([-3_600_000, -5000, 0, 5000, 3_600_000])
    witness.skewed = true
    world.tell(() => `server: its clock is ${world.skewMs} ms off`)
  }
  const leaving = [...inFlight].filter(({ order }) => order.entrance === 'http')
  if (leaving.length > 0 && strikes(world, 'hangUp')) hangUp(inFlight, world.dice.pick(leaving))
}

function hangUp(inFlight: Set<InFlight>, leaving: InFlight): void {
  const { at, order, client } = leaving
  at.witness.world.tell(() => `buyer: ${order.payment.nonce.slice(-4)} hangs up`)
  inFlight.delete(leaving)
  noteLeft(at.witness, inFlight, order)
  client?.abort()
}

/** Nobody waits for an answer any more, unless there is a copy of the request. */
function noteLeft(witness: Witness, inFlight: Set<InFlight>, { payment }: Order): void {
  const isAlone = ![...inFlight].some((other) => keyOf(other.order.payment) === keyOf(payment))
  if (isAlone) noteHangUp(witness, payment)
}

function start(history: History, stand: Stand): void {
  stand.server = undefined
  stand.life = { startedAt: history.world.step, diedAt: undefined }
  stand.witness.life = stand.life
  startServer(history.world, stand.seat, stand.life)
  settle(history)
}

function restart(history: History, stand: Stand): void {
  const { world, inFlight, stands } = history
  history.crashes += 1
  stand.life.diedAt ??= world.step
  world.scheduler.forget(stand.life)
  const dropped = [...inFlight].filter((request) => request.at === stand)
  for (const request of dropped) inFlight.delete(request)
  // A client that goes to another server at once must not pay twice.
  if (stands.length > 1) for (const { order } of dropped) noteLeft(stand.witness, inFlight, order)
  start(history, stand)
}

function poll({ book, polled }: History): void {
  polled.push(...settled(book.sales(polled.length)).slice(0, 2))
}

/** Somebody sends a request, or several copies of it at once. */
function request(history: History): void {
  const { world, crowd } = history
  if (history.requests >= history.requestsMax) return
  const order = nextOrder(world, crowd)
  for (let copies = world.dice.chance(0.2) ? 2 : 1; copies > 0; copies -= 1) send(history, order)
}

function send(history: History, order: Order, check?: (outcome: Outcome) => void): void {
  const { world, answers, inFlight, stands } = history
  const at = anyOf(world, stands)
  const { server } = at
  if (server === undefined || at.life.diedAt !== undefined) return
  const id = order.payment.nonce.slice(-4)
  history.requests += 1
  world.step += 1
  world.tell(() => `buyer: ${id} for ${order.target} over ${order.entrance}`)
  const startedAt = world.step
  // A signal costs as much as some of the steps that it could end.
  const mayLeave = world.faults.hangUp > 0 && order.entrance === 'http'
  const mine: InFlight = { at, order, client: mayLeave ? new AbortController() : undefined }
  inFlight.add(mine)
  const answered = (outcome: Outcome) => {
    const name = outcome.kind === 'bought' ? 'bought' : outcome.failure.code
    world.tell(() => `buyer: ${id} is answered ${name}`)
    // Whoever hung up hears nothing.
    if (!inFlight.delete(mine)) return
    answers.set(name, (answers.get(name) ?? 0) + 1)
    checkAnswer(at.witness, order, outcome, startedAt)
    check?.(outcome)
  }
  server.seller
    .buy(order.target, order.payment, order.listing, mine.client?.signal)
    .then(answered)
    .catch((error: unknown) => {
      history.failed ??= error instanceof Violation ? error : new Violation(`I11: no exception, but ${String(error)}`)
    })
}

/** Ends all faults and lets time pass until nothing is left to do. */
function comeToRest(history: History): void {
  const { world, book } = history
  world.faults = NO_FAULTS
  world.skewMs = 0
  for (const stand of history.stands) if (stand.life.diedAt !== undefined) restart(history, stand)
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    while (world.scheduler.step(world.dice)) settle(history)
    if (isAtRest(book, world) && history.inFlight.size === 0) return
    mine(world, 60)
    settle(history)
  }
  throw new Violation('I10: it never comes to rest')
}

// Late enough for the last look at every sale.
const MUCH_LATER_MS = 86_400_000

/** Every server shows what the log says, once it has had the time to ask. */
function checkViews(history: History, paint: Paint): void {
  const { world, studio, stands } = history
  if (stands.length > 1) mine(world, 2)
  while (world.scheduler.step(world.dice)) settle(history)
  for (const { server } of stands) checkPaint(paint, studio, server?.follower)
}

const isAtRest = ({ ledger }: Book, world: World): boolean =>
  world.pool.length === 0 && settled(ledger.unfinished(timeOf(world) + MUCH_LATER_MS)).length === 0

/** The same signed request always ends in the same place: every payer asks once more, and is told what is so. */
function sendEverythingAgain(history: History): void {
  const { crowd, book } = history
  for (const payment of crowd.signed) {
    const row = book.row(keyOf(payment))
    if (row === undefined) continue
    const order: Order = { payment, target: row.target, listing: PLAIN, entrance: 'http' }
    send(history, order, (outcome) => {
      const told = outcome.kind === 'bought' ? `bought ${outcome.purchase.block}` : outcome.failure.code
      const movedOn = row.target !== 'next' && row.target !== row.block
      const sold = movedOn ? 'payment_used' : `bought ${row.block}`
      const expected = { sold, credited: 'payment_credited', released: 'payment_required', reserved: 'nothing' }
      if (told !== expected[row.state.kind])
        throw new Violation(`the same request again is answered ${told}, not ${expected[row.state.kind]}`)
    })
  }
}
