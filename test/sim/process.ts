/**
 * A model of the server's process: the scripts under way, one step at a time, with a latch per payment. What it knows
 * vanishes with it; only the ledger stays.
 */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import { keyOf, type PaymentKey } from '../../server/domain/payment.ts'
import { reconcile, type Answer, type Request, type Script, type Verb } from '../../server/domain/purchase.ts'
import type { Ledger } from '../../server/ports.ts'
import { SIGNED } from './samples.ts'
import { read, settle, strikes, verdict, verify, type World } from './world.ts'

type Reply = { readonly answer: Answer } | { readonly fault: unknown }

/** A script that holds the latch of its payment, or waits for it. */
type Frame = { readonly key: string; readonly resume: (reply?: Reply) => Request | undefined }

/** One run of a script, with those it runs inside itself on behalf of other payments. */
export type Run = {
  readonly about: PaymentKey
  readonly startedAt: number // step of the history
  readonly frames: Frame[]
  todo:
    | { readonly kind: 'wait' }
    | { readonly kind: 'ask'; readonly request: Request }
    | { readonly kind: 'feed'; readonly reply: Reply }
  lookedAt: number // step of the last answer the chain gave about this payment
  sawPaid: boolean
  settledAt: number // step of the settlement this run asked for
  olderInDoubt: PaymentKey | undefined // as the survey told it
  patience: number // how often a settlement may still be looked for
  readonly failed: (error: unknown) => void
}

export type Process = {
  readonly world: World
  readonly ledger: Ledger
  readonly runs: Run[]
  readonly latches: Set<string>
  readonly startup: Set<Run> // payments that are brought up to date before new ones are taken
  readonly watcher: Watcher
  listed: boolean // whether the start-up list was read
  dead: boolean
}

/** Sees what a process asks of the world, to hold it against the promises. */
export type Watcher = { readonly asked: (request: Request, reply: Reply, run: Run) => Promise<void> }

export function startProcess(world: World, ledger: Ledger, watcher: Watcher): Process {
  world.tell(() => 'process: starts')
  return { world, ledger, runs: [], latches: new Set(), startup: new Set(), watcher, listed: false, dead: false }
}

/** Whether payments not seen before are taken. */
export const isArmed = ({ listed, startup }: Process): boolean => listed && startup.size === 0

/** Starts a run, which ends by calling `ended` or `failed` once, or never if the process dies. */
export function launch<T>(
  process: Process,
  about: PaymentKey,
  script: Script<T>,
  ended: (value: T, run: Run) => void,
  failed: (error: unknown) => void,
): Run {
  const run: Run = {
    about,
    startedAt: process.world.step,
    frames: [frameOf(about, script, (value) => ended(value, run))],
    todo: { kind: 'wait' },
    lookedAt: -1,
    sawPaid: false,
    settledAt: -1,
    olderInDoubt: undefined,
    patience: 0,
    failed,
  }
  process.runs.push(run)
  return run
}

function frameOf<T>(key: PaymentKey, script: Script<T>, ended: (value: T) => void): Frame {
  return {
    key: keyOf(key),
    resume(reply) {
      const step = reply !== undefined && 'fault' in reply ? script.throw(reply.fault) : next(script, reply?.answer)
      if (step.done !== true) return step.value
      ended(step.value)
      return undefined
    },
  }
}

const next = <T>(script: Script<T>, answer: Answer) => script.next(answer)

/** Looks at every unfinished purchase once; what is new since the start-up list must not keep the process from arming. */
export async function sweep(process: Process): Promise<void> {
  const { world, ledger } = process
  if (strikes(world, 'storeBusy')) return
  const keys = await ledger.unfinished()
  for (const key of keys) {
    if (process.latches.has(keyOf(key))) continue
    const run: Run = launch(
      process,
      key,
      reconcile(key),
      () => process.startup.delete(run),
      (error) => {
        process.startup.delete(run)
        if (!(error instanceof StoreUnavailable)) throw error
      },
    )
    if (!process.listed) process.startup.add(run)
  }
  process.listed = true
}

/** Whether `run` can go on now: it has something to do, and nobody else holds the latch it needs. */
export const isReady = ({ latches }: Process, { todo, frames }: Run): boolean =>
  todo.kind !== 'wait' || !latches.has(frames.at(-1)?.key ?? '')

/** One step of one run: take a latch, act on the world, or hear what came of it. */
export async function advance(process: Process, run: Run): Promise<void> {
  const { todo } = run
  process.world.step += 1
  if (todo.kind === 'ask') return act(process, run, todo.request)
  const frame = run.frames.at(-1)
  if (frame === undefined) throw new Error('a run without a script')
  if (todo.kind === 'wait') process.latches.add(frame.key)
  resume(process, run, frame, todo.kind === 'feed' ? todo.reply : undefined)
}

function resume(process: Process, run: Run, frame: Frame, reply: Reply | undefined): void {
  try {
    const request = frame.resume(reply)
    if (request !== undefined) {
      run.todo = { kind: 'ask', request }
      run.patience = request.do === 'ask-chain' && request.patience === 'settling' ? 3 : 0
      return
    }
    leave(process, run)
  } catch (error) {
    leave(process, run)
    if (run.frames.length === 0) run.failed(error)
    else run.todo = { kind: 'feed', reply: { fault: error } }
  }
}

function leave({ runs, latches }: Process, run: Run): void {
  const frame = run.frames.pop()
  if (frame !== undefined) latches.delete(frame.key)
  if (run.frames.length === 0) runs.splice(runs.indexOf(run), 1)
}

const writes: ReadonlySet<Verb> = new Set(['claim', 'doubt', 'finalize', 'confirm', 'release', 'owe', 'deliver'])
const reads: ReadonlySet<Verb> = new Set(['look-up', 'survey'])

async function act(process: Process, run: Run, request: Request): Promise<void> {
  const { world } = process
  if (request.do === 'resolve-other') {
    const ended = (answer: Answer) => {
      run.todo = { kind: 'feed', reply: { answer } }
    }
    run.frames.push(frameOf(request.key, reconcile(request.key), ended))
    run.todo = { kind: 'wait' }
    return
  }
  if (writes.has(request.do) && strikes(world, 'storeBroken')) {
    if (world.dice.chance(0.5)) await replyTo(process, request)
    process.dead = true
    world.tell(() => `process: dies of its disk at ${request.do}`)
    return
  }
  const busy = (writes.has(request.do) || reads.has(request.do)) && strikes(world, 'storeBusy')
  const reply = busy ? { fault: new StoreUnavailable('busy') } : { answer: await replyTo(process, request) }
  if (looksAgain(run, request, reply)) return
  world.tell(
    () =>
      `  ${run.about.nonce.slice(-4)} ${request.do}: ${JSON.stringify('answer' in reply ? reply.answer : 'store fails', brief)}`,
  )
  await process.watcher.asked(request, reply, run)
  run.todo = { kind: 'feed', reply }
}

/** A settlement that is not on the chain yet is looked for some more times, while the world moves on. */
function looksAgain(run: Run, request: Request, reply: Reply): boolean {
  if (request.do !== 'ask-chain' || run.patience === 0 || !('answer' in reply)) return false
  const { answer } = reply
  if (typeof answer !== 'object' || !('kind' in answer) || answer.kind === 'paid' || answer.kind === 'void')
    return false
  run.patience -= 1
  return true
}

async function replyTo(
  { world, ledger }: Process,
  request: Exclude<Request, { do: 'resolve-other' }>,
): Promise<Answer> {
  const { now } = world
  switch (request.do) {
    case 'look-up':
      return ledger.find(request.key)
    case 'survey':
      return ledger.survey(request.target, request.payment, request.now)
    case 'read-chain':
      return read(world, request.key)
    case 'verify':
      return verify(world, request.payment)
    case 'check-signature':
      return request.payment.signature === SIGNED
    case 'claim':
      return ledger.claim(request.target, request.payment, request.listing, request.head, now)
    case 'settle':
      return settle(world, request.purchase.payment)
    case 'ask-chain':
      return verdict(world, request.payment, request.head)
    case 'doubt':
      return ledger.doubt(request.purchase)
    case 'finalize':
      return ledger.finalize(request.purchase, request.tx, request.settled, now)
    case 'confirm':
      return ledger.confirm(request.purchase, request.tx)
    case 'release':
      return ledger.release(request.purchase, request.dead)
    case 'owe':
      return ledger.owe(request.purchase, request.tx, now)
    case 'deliver':
      return ledger.deliver(request.purchase)
  }
}

/** Keeps a trace readable: what a purchase is about is on the line already. */
function brief(key: string, value: unknown): unknown {
  if (key === 'payment' && typeof value === 'object' && value !== null && 'nonce' in value)
    return String(value.nonce).slice(-4)
  if (key === 'listing') return undefined
  return typeof value === 'bigint' ? Number(value) : value
}
