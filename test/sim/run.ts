/** Runs one history: a safety phase in which everything fails, then a quiet one in which everything must come to rest. */

import { failure, StoreUnavailable } from '../../server/domain/failure.ts'
import { keyOf } from '../../server/domain/payment.ts'
import { buy, isSold, type Order, type Outcome } from '../../server/domain/purchase.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import { checkAnswer, checkAtRest, Violation, watcherOf, witnessOf, type Witness } from './check.ts'
import { NO_FAULTS } from './faults.ts'
import type { Book, OpenBook, Sale } from './ledger-model.ts'
import { crowdOf, mischief, nextOrder, type Crowd } from './payers.ts'
import {
  advance,
  isArmed,
  isReady,
  launch,
  startProcess,
  sweep,
  type Process,
  type Run,
  type Watcher,
} from './process.ts'
import { mine, strikes, worldOf, type World } from './world.ts'

/** What one history came to. */
export type Report = {
  readonly requests: number
  readonly charged: number
  readonly sold: number
  readonly crashes: number
  readonly answers: ReadonlyMap<string, number>
}

type History = {
  readonly world: World
  readonly book: Book
  readonly wall: readonly BlockIndex[]
  readonly crowd: Crowd
  readonly witness: Witness
  readonly watcher: Watcher
  readonly polled: Sale[]
  readonly answers: Map<string, number>
  readonly checks: Promise<void>[]
  process: Process
  requests: number
  crashes: number
}

const SAFETY_TURNS = 220
const REQUESTS_MAX = 24
const REST_TURNS_MAX = 6000

/** Plays the history of `seed`. Throws a `Violation` where a promise is broken; `tell` is handed what happens. */
export async function simulate(seed: number, open: OpenBook, tell: World['tell'] = () => {}): Promise<Report> {
  const world = worldOf(seed, tell)
  const wall = CLAIM_ORDER.slice(0, 1 + world.dice.below(3))
  const book = await open(wall)
  const crowd = crowdOf(world, wall)
  const witness = witnessOf(world, book, crowd.signed)
  const watcher = watcherOf(witness)
  const process = startProcess(world, book.ledger, watcher)
  const answers = new Map<string, number>()
  const history: History = {
    world,
    book,
    wall,
    crowd,
    witness,
    watcher,
    polled: [],
    answers,
    checks: [],
    process,
    requests: 0,
    crashes: 0,
  }
  try {
    await live(history)
    const { charged, sold } = await checkAtRest(witness, wall, history.polled)
    return { requests: history.requests, charged, sold, crashes: history.crashes, answers }
  } finally {
    book.close()
  }
}

async function live(history: History): Promise<void> {
  await sweep(history.process)
  for (let turn = 0; turn < SAFETY_TURNS; turn += 1) await takeTurn(history)
  await comeToRest(history)
  await sendEverythingAgain(history)
  await comeToRest(history)
}

/** One thing that happens, whatever comes next. */
async function takeTurn(history: History): Promise<void> {
  const { world, crowd } = history
  const { dice } = world
  if (history.process.dead || (dice.chance(0.03) && strikes(world, 'crash'))) await restart(history)
  const roll = dice.below(100)
  if (roll < 72) await advanceOne(history)
  else if (roll < 84) request(history)
  else if (roll < 90) mine(world, dice.pick([2, 2, 2, 10, 60]))
  else if (roll < 95) mischief(world, crowd)
  else if (roll < 98) await sweep(history.process)
  else await poll(history)
  await Promise.all(history.checks.splice(0))
}

async function restart(history: History): Promise<void> {
  history.crashes += 1
  history.process = startProcess(history.world, history.book.ledger, history.watcher)
  await sweep(history.process)
}

/** Advances a run that is ready; false when there is none. */
async function advanceOne({ world, process }: History): Promise<boolean> {
  const ready = process.runs.filter((run) => isReady(process, run))
  if (ready.length === 0) {
    if (process.runs.length > 0) throw new Violation('I10: runs wait for each other')
    return false
  }
  await advance(process, world.dice.pick(ready))
  return true
}

async function poll({ book, polled }: History): Promise<void> {
  polled.push(...(await book.sales(polled.length)).slice(0, 2))
}

/** Somebody sends a request, or several copies of it at once. */
function request(history: History): void {
  const { world, process, crowd } = history
  if (history.requests >= REQUESTS_MAX) return
  const order = nextOrder(world, crowd, isArmed(process))
  for (let copies = world.dice.chance(0.2) ? 2 : 1; copies > 0; copies -= 1) send(history, order)
}

function send(history: History, order: Order, check?: (outcome: Outcome) => void): void {
  const { world, process, answers } = history
  const id = order.payment.nonce.slice(-4)
  history.requests += 1
  world.tell(() => `buyer: ${id} for ${order.target}${order.armed ? '' : ', unarmed'}`)
  const answered = (outcome: Outcome, run: Run) => {
    const name = outcome.kind === 'bought' ? 'bought' : outcome.failure.code
    world.tell(() => `buyer: ${id} is answered ${name}`)
    answers.set(name, (answers.get(name) ?? 0) + 1)
    history.checks.push(checkAnswer(history.witness, order, outcome, run))
    check?.(outcome)
  }
  const run: Run = launch(process, order.payment, buy(order), answered, (error) => {
    if (!(error instanceof StoreUnavailable)) throw new Violation(`I11: no exception, but ${String(error)}`)
    answered({ kind: 'refused', failure: failure('database_unavailable', '') }, run)
  })
}

/** Ends all faults and lets time pass until nothing is left to do but to confirm what only the facilitator has seen. */
async function comeToRest(history: History): Promise<void> {
  const { world, book } = history
  world.faults = NO_FAULTS
  if (history.process.dead) await restart(history)
  for (let turn = 0; turn < REST_TURNS_MAX; turn += 1) {
    while (await advanceOne(history)) {
      turn += 1
      if (turn > REST_TURNS_MAX) break
    }
    await Promise.all(history.checks.splice(0))
    if (await isAtRest(book, world)) return
    mine(world, 40)
    await sweep(history.process)
  }
  throw new Violation('I10: it never comes to rest')
}

async function isAtRest({ ledger }: Book, world: World): Promise<boolean> {
  if (world.pool.length > 0) return false
  for (const key of await ledger.unfinished()) {
    const row = await ledger.find(key)
    const onWord = row !== undefined && isSold(row) && world.spendings.get(keyOf(key))?.kind !== 'transfer'
    if (!onWord) return false
  }
  return true
}

/** The same signed request always ends in the same place: every payer asks once more, and is told what is so. */
async function sendEverythingAgain(history: History): Promise<void> {
  const { world, crowd, book } = history
  for (const payment of crowd.signed) {
    const row = await book.ledger.find(payment)
    if (row === undefined) continue
    const order: Order = { ...nextOrder(world, crowd, true), payment, target: row.target, now: world.now }
    send(history, order, (outcome) => {
      const told = outcome.kind === 'bought' ? `bought ${outcome.purchase.block}` : outcome.failure.code
      const movedOn = row.target !== 'next' && row.target !== row.block
      const sold = movedOn ? 'payment_used' : `bought ${row.block}`
      const expected = { sold, credited: 'payment_credited', released: 'payment_required', reserved: 'nothing' }[
        row.state.kind
      ]
      if (told !== expected) throw new Violation(`the same request again is answered ${told}, not ${expected}`)
    })
  }
}
