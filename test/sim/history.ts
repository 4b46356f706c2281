/** Plays one history: a safety phase in which everything fails, then a quiet one in which everything must come to rest. */

import { drainMicrotasks } from 'bun:jsc'
import { keyOf } from '../../server/domain/payment.ts'
import type { Outcome } from '../../server/domain/purchase.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import { checkAnswer, checkAtRest, noteHangUp, Violation, watcherOf, witnessOf, type Witness } from './check.ts'
import { NO_FAULTS } from './faults.ts'
import type { Book, OpenBook, Sale } from './ledger-model.ts'
import { change, checkPaint, studioOf, type Studio } from './owners.ts'
import { crowdOf, mischief, nextOrder, type Crowd, type Order } from './payers.ts'
import { PLAIN } from './samples.ts'
import { settled } from './scheduler.ts'
import { startServer, type Server, type Watcher } from './server.ts'
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

type InFlight = { readonly order: Order; readonly client: AbortController }

type History = {
  readonly world: World
  readonly book: Book
  readonly wall: readonly BlockIndex[]
  readonly crowd: Crowd
  readonly witness: Witness
  readonly watcher: Watcher
  readonly studio: Studio
  readonly polled: Sale[]
  readonly answers: Map<string, number>
  readonly inFlight: Set<InFlight>
  readonly requestsMax: number
  server: Server | undefined // while there is one to be reached
  requests: number
  crashes: number
  failed: unknown // what a promise broke on, where it could not be thrown on
}

const SAFETY_TURNS = 240
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
  const book = settled(open(wall))
  const crowd = crowdOf(world, wall, isWide ? 1 : 1 + world.dice.below(3))
  const witness = witnessOf(world, book, crowd.signed)
  const history: History = {
    world,
    book,
    wall,
    crowd,
    witness,
    watcher: watcherOf(witness),
    studio: studioOf(),
    polled: [],
    answers: new Map(),
    inFlight: new Set(),
    requestsMax: isWide ? 60 : 24,
    server: undefined,
    requests: 0,
    crashes: 0,
    failed: undefined,
  }
  witness.isWaitedFor = (key) =>
    [...history.inFlight].some(({ order }) => {
      const own = keyOf(order.payment)
      return own === key || witness.siblingOf.get(own) === key
    })
  try {
    live(history)
    const { charged, sold } = checkAtRest(witness, wall, history.polled)
    if (book.paint !== undefined) checkPaint(book.paint, history.studio, history.server?.follower)
    const { requests, crashes, answers } = history
    return { events: world.step, requests, charged, sold, crashes, answers }
  } finally {
    book.close()
  }
}

function live(history: History): void {
  start(history)
  for (let turn = 0; turn < (history.wall.length > 3 ? WIDE_TURNS : SAFETY_TURNS); turn += 1) takeTurn(history)
  comeToRest(history)
  sendEverythingAgain(history)
  comeToRest(history)
}

/** One thing that happens, whatever comes next. */
function takeTurn(history: History): void {
  const { world, crowd, server } = history
  const { dice } = world
  if (server?.isDead === true || (dice.chance(0.02) && strikes(world, 'crash'))) restart(history)
  const roll = dice.below(100)
  if (roll < 74) advance(history)
  else if (roll < 86) request(history)
  else if (roll < 91) mine(world, dice.pick([2, 2, 2, 10, 60]))
  else if (roll < 95) mischief(world, crowd)
  else if (roll < 97) disturb(history)
  else if (roll < 98) poll(history)
  else if (history.server !== undefined && history.book.paint !== undefined)
    change(world, history.studio, history.server, history.wall, (error) => {
      history.failed ??= new Violation(`I11: no exception, but ${String(error)}`)
    })
  settle(history)
}

/** Lets what was caused happen, and throws what a promise broke on. */
function settle(history: History): void {
  drainMicrotasks()
  if (history.failed !== undefined) throw history.failed
}

/** Something happens next: a call that waits, or else time passes. */
function advance({ world }: History): void {
  if (world.scheduler.step(world.dice)) return
  const waitMs = world.scheduler.untilNext()
  if (waitMs !== undefined) world.scheduler.pass(waitMs)
}

function disturb({ world, witness, inFlight }: History): void {
  if (strikes(world, 'reorganise')) reorganise(world)
  if (strikes(world, 'clockSteps')) {
    world.skewMs = world.dice.pick([-3_600_000, -5000, 0, 5000, 3_600_000])
    witness.skewed = true
    world.tell(() => `server: its clock is ${world.skewMs} ms off`)
  }
  const leaving = [...inFlight].filter(({ order }) => order.entrance === 'http')
  if (leaving.length > 0 && strikes(world, 'hangUp')) hangUp(witness, inFlight, world.dice.pick(leaving))
}

function hangUp(witness: Witness, inFlight: Set<InFlight>, leaving: InFlight): void {
  const { order, client } = leaving
  witness.world.tell(() => `buyer: ${order.payment.nonce.slice(-4)} hangs up`)
  inFlight.delete(leaving)
  const isAlone = ![...inFlight].some((other) => keyOf(other.order.payment) === keyOf(order.payment))
  if (isAlone) noteHangUp(witness, order.payment)
  client.abort()
}

function start(history: History): void {
  history.server = undefined
  history.witness.startedAt = history.world.step
  startServer(history.world, history.book, history.watcher, (server) => {
    history.server = server
  })
  settle(history)
}

function restart(history: History): void {
  history.crashes += 1
  if (history.server !== undefined) history.world.scheduler.forget(history.server)
  history.inFlight.clear()
  start(history)
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
  const { world, server, answers, inFlight } = history
  if (server === undefined || server.isDead) return
  const id = order.payment.nonce.slice(-4)
  history.requests += 1
  world.step += 1
  world.tell(() => `buyer: ${id} for ${order.target} over ${order.entrance}`)
  const startedAt = world.step
  const mine: InFlight = { order, client: new AbortController() }
  inFlight.add(mine)
  const answered = (outcome: Outcome) => {
    const name = outcome.kind === 'bought' ? 'bought' : outcome.failure.code
    world.tell(() => `buyer: ${id} is answered ${name}`)
    // Whoever hung up hears nothing.
    if (!inFlight.delete(mine)) return
    answers.set(name, (answers.get(name) ?? 0) + 1)
    checkAnswer(history.witness, order, outcome, startedAt)
    check?.(outcome)
  }
  const signal = order.entrance === 'http' ? mine.client.signal : undefined
  server.seller
    .buy(order.target, order.payment, order.listing, signal)
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
  if (history.server?.isDead !== false) restart(history)
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    while (world.scheduler.step(world.dice)) settle(history)
    if (isAtRest(book, world) && history.inFlight.size === 0) return
    mine(world, 30)
    settle(history)
  }
  throw new Violation('I10: it never comes to rest')
}

// Late enough for the last look at every sale.
const MUCH_LATER_MS = 86_400_000

const isAtRest = ({ ledger }: Book, world: World): boolean =>
  world.pool.length === 0 && settled(ledger.unfinished(timeOf(world) + MUCH_LATER_MS)).length === 0

/** The same signed request always ends in the same place: every payer asks once more, and is told what is so. */
function sendEverythingAgain(history: History): void {
  const { crowd, book } = history
  for (const payment of crowd.signed) {
    const row = settled(book.ledger.find(payment))
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
