/**
 * One life of the server: the real seller, rail and reconciler with ports that wait for the scheduler. Its memory is
 * lost when the life ends; only the book remains.
 */

import { singleProcess } from '../../../db/sqlite/coordination.ts'
import { StaleWriteError, StoreUnavailable } from '../../../server/domain/failure.ts'
import type { SignatureCheck } from '../../../server/domain/purchase/facilitator-errors.ts'
import { toPaymentKey, type Address, type Payment, type PaymentKey } from '../../../server/domain/purchase/payment.ts'
import { guardChainFreshness } from '../../../server/health/chain-freshness.ts'
import { createPaymentHealth } from '../../../server/health/payment-health.ts'
import { runPeriodically } from '../../../server/health/run-periodically.ts'
import { type Follower, followLog, pollLog } from '../../../server/instances/follow-log.ts'
import type { Chain, Clock, Logger, Ledger, Pictures, RingMember, Wallets } from '../../../server/ports.ts'
import { createFacilitatorRing } from '../../../server/purchase/facilitator-ring.ts'
import { createReconciler } from '../../../server/purchase/reconciler.ts'
import { createSeller, type Seller } from '../../../server/purchase/seller.ts'
import { readSettledResult } from '../../support/scheduler.ts'
import type { Commons, Life } from './commons.ts'
import { createAdapter } from './endpoints.ts'
import { NO_FAULTS } from './faults.ts'
import { createGuard, type Guard, type Operator } from './guard.ts'
import type { Book, Paint } from './ledger-model.ts'
import { SIGNED } from './samples.ts'
import {
  readHealth,
  readAuthorization,
  settle,
  settleLate,
  drawFault,
  drawSupport,
  readStatus,
  readTerms,
  computeTime,
  readTransfers,
  verify,
  type FacilitatorName,
  type World,
} from './world.ts'

/** The calls of a server to its store, the chain and a facilitator. */
export type Verb = keyof Ledger | keyof Chain | keyof RingMember

/** Observes each action of a server, so that it can be compared with the promises. */
export type Watcher = {
  /** Called before an action. */
  onQuery(verb: Verb, key: string, what: unknown): void
  /**
   * Called when a server queries a payer's open purchases: the list of waiting clients is from the time of this call,
   * not from when the query arrives.
   */
  onOpenQuery(key: string, now: number): void
  /** Called when a server settles a payment whose lease another server holds. */
  onIntrusion(key: string): void
  /**
   * Called when the chain adapter reports a payment as unspent. When the process made the query, at `step`, it had
   * already seen the chain block at `height`.
   */
  onDeniedSpending(key: string, known: { readonly step: number; readonly height: number }): void
  /** Called with the result of a store call, even if nobody gets it. */
  onWritten(verb: Verb, key: string, answer: unknown): void
  /** Called with the response of another party, and the step at which the query arrived. */
  onAnswer(verb: Verb, key: string, answer: unknown, askedAt: number): void
  onAlert(event: string, key: string): void
}

export type Server = {
  readonly seller: Seller
  readonly clock: Clock
  readonly paint: Paint | undefined // the owners' ports, with this server's delays and failures
  readonly follower: Follower | undefined
  readonly guard: Guard | undefined // if there is an operator
  readonly payees: ReadonlySet<Address> // every payment address that the wall ever had
  readonly life: Life
}

const RECONCILE_EVERY_MS = 10_000

// Once nothing fails any more, frequent checks show nothing new. Probes stay frequent enough to notice a new block each
// minute, because a chain counts as stalled after a minute without one.
const QUIET_RECONCILE_EVERY_MS = 60_000
const QUIET_PROBES_EVERY_MS = 30_000

const TIME_LIMITS = { verifyTimeoutMs: 5000, settleTimeoutMs: 30_000 }

const isQuiet = ({ faults }: World) => faults === NO_FAULTS

/** The dependencies of a server, and a callback for when the server can be reached. */
export type Seat = {
  readonly name: string
  readonly book: Book
  readonly paint: Paint | undefined // the owners' ports, if there are owners
  readonly watcher: Watcher
  readonly commons: Commons | undefined // if other servers sell from the same book
  readonly operator: Operator | undefined
  readonly onOpened: (server: Server) => void
}

/** Starts a server on the current state of its book. */
export function startServer(
  world: World,
  { name, book, paint: theirs, watcher, commons, operator, onOpened: opened }: Seat,
  self: Life,
): void {
  world.trace(() => `${name}: starts`)
  const shared = commons?.createSharedPorts(self)
  const terms = readTerms(world)
  // A wall stores its payment addresses; an older copy of it lacks the later ones.
  const asked = operator === undefined ? world.payees : [terms.payTo]
  const payees = new Set([...asked, ...readSettledResult(book.listPayees())])
  // Each server has its own signal. A shared one would keep all its listeners, and so every history, in memory.
  const never = new AbortController().signal
  const stopServer = (why: string) => {
    world.trace(() => `${name}: dies because of ${why}`)
    self.diedAt = world.step
    world.scheduler.dropCalls(self)
  }
  const logger: Logger = {
    note: () => {},
    alert: (event, facts) => watcher.onAlert(event, `${facts?.['payer']}:${facts?.['nonce']}`),
  }
  const clock: Clock = {
    now: () => computeTime(world) + self.skewMs,
    elapsed: () => world.scheduler.getElapsed(),
    wait: (ms, signal) => world.scheduler.wait(self, ms, signal),
  }
  let guard: Guard | undefined
  const ledger = createLedgerPort(world, book.ledger, watcher, self, stopServer, {
    isShared: commons !== undefined,
    onCommit() {
      commons?.notifyServers()
      guard?.witnessing.onCommit()
    },
  })
  const reportOutage = (reason: string | null) => {
    if (reason !== null) watcher.onAlert('outage', 'chain')
  }
  const chain = guardChainFreshness(createChainPort(world, watcher, self, clock), { clock, report: reportOutage })
  const names: readonly FacilitatorName[] = world.second === undefined ? ['first'] : ['first', 'second']
  const members = names.map((name) => createFacilitatorPort(world, name, watcher, self, commons))
  const facilitator = createFacilitatorRing({ members, chain, clock, logger, ...TIME_LIMITS })
  const checkSignature = ({ signature }: Payment) =>
    Promise.resolve<SignatureCheck>(signature === SIGNED ? 'signed' : 'not-signed')
  const wallets: Wallets = {
    findSigner: () => Promise.resolve('not-signed'),
    checkPaymentSignature: checkSignature,
    checkTokenSignature: checkSignature,
  }

  const startLoop = (work: () => Promise<number>) =>
    void runPeriodically({ clock, logger }, never, work).catch((error: unknown) => (world.failed ??= error))
  const openSeller = (follower: Follower | undefined) => {
    const rail = createPaymentHealth({ facilitator, chain, clock, logger })
    const advance = follower?.applyNewEntries ?? (() => Promise.resolve())
    const sold = createSeller({
      pictures: createPicturesPort(world, self),
      ledger,
      facilitator,
      chain,
      wallets,
      clock,
      logger,
      rail,
      terms,
      payees,
      contact: null,
      applyNewEntries: advance,
      leases: shared?.leases,
    })
    const swept = createReconciler({ ledger, seller: sold, jobs: shared?.jobs ?? singleProcess.jobs, clock, logger })
    if (operator !== undefined) guard = createGuard(world, operator, self, { chain, terms, clock, logger })
    opened({ seller: sold, clock, paint, follower, guard, payees, life: self })
    if (shared !== undefined && follower !== undefined)
      void pollLog({ notifier: shared.notifier, applyNewEntries: advance, clock, logger }, never)
    startLoop(async () => {
      await rail.probe()
      return isQuiet(world) && rail.readState() === 'armed' ? QUIET_PROBES_EVERY_MS : rail.computeProbeDelay()
    })
    startLoop(async () => {
      const isSeen = (await swept()) === 'seen'
      if (isSeen && (guard === undefined || (await guard.restored.isCurrent()))) {
        guard?.witnessing.begin()
        rail.markReconciled()
      }
      return isQuiet(world) ? QUIET_RECONCILE_EVERY_MS : RECONCILE_EVERY_MS
    })
  }
  const paint = theirs === undefined ? undefined : createPaintPort(world, theirs, self, stopServer, commons)
  if (paint === undefined) openSeller(undefined)
  else void followLog(paint.log).then(openSeller)
}

/** The ledger as a process reaches it: with delays and failures. */
function createLedgerPort(
  world: World,
  ledger: Ledger,
  watcher: Watcher,
  owner: object,
  die: (why: string) => void,
  { isShared, onCommit }: { readonly isShared: boolean; onCommit(): void },
): Ledger {
  const callStore = <T>(verb: keyof Ledger, key: string, what: unknown, act: () => Promise<T>): Promise<T> =>
    world.scheduler.call(owner, async () => {
      world.step += 1
      const isWrite = !reads.has(verb)
      if (isWrite && drawFault(world, 'storeBroken')) {
        // The writes of the failed commit may be stored after all.
        if (world.prng.nextBoolean(0.5))
          await act().then((answer) => watcher.onWritten(verb, key, answer), ignoreStaleWrite)
        die(`its disk at ${verb}`)
        return await new Promise<T>(() => {})
      }
      if (drawFault(world, 'storeBusy') || (isWrite && drawFault(world, 'storeFull'))) {
        world.trace(() => `  ${key.slice(-4)} ${verb}: store fails`)
        throw new StoreUnavailable('busy')
      }
      if (verb !== 'release') watcher.onQuery(verb, key, what)
      const answer = await act()
      // A release is observed only after it succeeded: if another server was faster, the ledger rejects the release.
      if (verb === 'release') watcher.onQuery(verb, key, what)
      world.trace(() => `  ${key.slice(-4)} ${verb}: ${stringifyAnswer(answer)}`)
      watcher.onWritten(verb, key, answer)
      if (isWrite) onCommit()
      if (isWrite && isShared && drawFault(world, 'answerOfStoreLost'))
        throw new StoreUnavailable('the response is lost')
      return answer
    })
  return {
    find: (key) => callStore('find', toPaymentKey(key), undefined, () => ledger.find(key)),
    checkAvailability: (target, payment, now, activeNonces) => {
      watcher.onOpenQuery(toPaymentKey(payment), now)
      return callStore('checkAvailability', toPaymentKey(payment), undefined, () =>
        ledger.checkAvailability(target, payment, now, activeNonces),
      )
    },
    listHolders: (target) => callStore('listHolders', '', undefined, () => ledger.listHolders(target)),
    checkSpace: (target) => callStore('checkSpace', '', undefined, async () => ledger.checkSpace(target)),
    listUnavailable: (target) => callStore('listUnavailable', '', undefined, () => ledger.listUnavailable(target)),
    claim: (target, payment, listing, head, now, activeNonces) =>
      callStore('claim', toPaymentKey(payment), { target, payment, now }, () =>
        ledger.claim(target, payment, listing, head, now, activeNonces),
      ),
    markUncertain: (purchase) =>
      callStore('markUncertain', toPaymentKey(purchase.payment), purchase, () => ledger.markUncertain(purchase)),
    finalize: (purchase, tx, settled, now) =>
      callStore('finalize', toPaymentKey(purchase.payment), { settled }, () =>
        ledger.finalize(purchase, tx, settled, now),
      ),
    confirm: (purchase, tx) =>
      callStore('confirm', toPaymentKey(purchase.payment), purchase, () => ledger.confirm(purchase, tx)),
    markFinal: (purchase, tx) =>
      callStore('markFinal', toPaymentKey(purchase.payment), purchase, () => ledger.markFinal(purchase, tx)),
    markMissing: (purchase) =>
      callStore('markMissing', toPaymentKey(purchase.payment), purchase, () => ledger.markMissing(purchase)),
    writeOff: (purchase) =>
      callStore('writeOff', toPaymentKey(purchase.payment), purchase, () => ledger.writeOff(purchase)),
    release: (purchase, isFinal) =>
      callStore('release', toPaymentKey(purchase.payment), { purchase, isFinal }, () =>
        ledger.release(purchase, isFinal),
      ),
    recordUnclaimed: (unclaimed, now) =>
      callStore('recordUnclaimed', toPaymentKey(unclaimed.payment), unclaimed, () =>
        ledger.recordUnclaimed(unclaimed, now),
      ),
    fulfilLatePayment: (purchase, tx, now) =>
      callStore('fulfilLatePayment', toPaymentKey(purchase.payment), purchase, () =>
        ledger.fulfilLatePayment(purchase, tx, now),
      ),
    reuseReceipt: (sale, to) =>
      callStore('reuseReceipt', toPaymentKey(sale.payment), to, () => ledger.reuseReceipt(sale, to)),
    markAnswered: (key) => callStore('markAnswered', toPaymentKey(key), undefined, () => ledger.markAnswered(key)),
    listUnfinished: (now) => callStore('listUnfinished', '', undefined, () => ledger.listUnfinished(now)),
  }
}

/** Ignores a stale write, because another server can be faster even when the disk fails. */
function ignoreStaleWrite(error: unknown): void {
  if (!(error instanceof StaleWriteError)) throw error
}

const reads: ReadonlySet<keyof Ledger> = new Set<keyof Ledger>([
  'find',
  'checkAvailability',
  'listHolders',
  'checkSpace',
  'listUnavailable',
  'listUnfinished',
])

/** The owners' ports, which fail with the same disk as the ledger. */
function createPaintPort(
  world: World,
  { blocks, agents, log }: Paint,
  owner: object,
  die: (why: string) => void,
  commons: Commons | undefined,
): Paint {
  const callPaintStore = <T>(verb: string, isWrite: boolean, act: () => Promise<T>): Promise<T> =>
    world.scheduler.call(owner, async () => {
      world.step += 1
      if (isWrite && drawFault(world, 'storeBroken')) {
        if (world.prng.nextBoolean(0.5)) await act().catch(() => {})
        die(`its disk at ${verb}`)
        return await new Promise<T>(() => {})
      }
      if (isWrite && drawFault(world, 'storeBusy')) throw new StoreUnavailable('busy')
      const answer = await act()
      if (isWrite) commons?.notifyServers()
      return answer
    })
  return {
    blocks: {
      findOwned: (block) => callPaintStore('owned', false, async () => blocks.findOwned(block)),
      isReserved: (block) => callPaintStore('reserved', false, () => blocks.isReserved(block)),
      edit: (block, edit, now) => callPaintStore('edit', true, () => blocks.edit(block, edit, now)),
      findOwner: (area) => callPaintStore('ownerOf', false, () => blocks.findOwner(area)),
      editArea: (area, edit, now) => callPaintStore('editArea', true, () => blocks.editArea(area, edit, now)),
    },
    agents: {
      isKnown: (wallet) => callPaintStore('knows', false, () => agents.isKnown(wallet)),
      register: (wallet, identity, now) =>
        callPaintStore('identify', true, () => agents.register(wallet, identity, now)),
      namePainter: (wallet, naming) => callPaintStore('namePainter', true, () => agents.namePainter(wallet, naming)),
    },
    log: {
      readAfter: (after, limit) => callPaintStore('after', false, () => log.readAfter(after, limit)),
      readCompacted: () => callPaintStore('compacted', false, () => log.readCompacted()),
    },
  }
}

// The balance is never shown, because only the message of a rejection depends on it.
const NOT_SHOWN: Chain['readBalance'] = () => Promise.resolve('silent')

function createChainPort(world: World, watcher: Watcher, owner: object, clock: Clock): Chain {
  if (world.hasEndpoints) return createAdapterPort(world, watcher, owner, clock)
  const sight = { newest: 0 }
  const callChain = <T>(verb: Verb, key: string, act: () => T): Promise<T> =>
    callRemote(world, watcher, owner, verb, key, act)
  return {
    readAuthorization: (key) =>
      callChain('readAuthorization', toPaymentKey(key), () => readAuthorization(world, key, sight)),
    readPaymentStatus: (payment: Payment, head, named) =>
      callChain('readPaymentStatus', toPaymentKey(payment), () => readStatus(world, payment, head, named, sight)),
    readBalance: NOT_SHOWN,
    // A probe is answered immediately, because the order of its two parts does not matter.
    checkHealth: async () => readHealth(world),
    readTransfers: (payTo, from) => world.scheduler.call(owner, () => readTransfers(world, payTo, from, sight)),
  }
}

/** The product's own adapter, over model endpoints. */
function createAdapterPort(world: World, watcher: Watcher, owner: object, clock: Clock): Chain {
  const chain = createAdapter(world, owner, clock)
  const callAdapter = async <T>(verb: Verb, key: string, act: () => Promise<T>): Promise<T> => {
    const askedAt = (world.step += 1)
    watcher.onQuery(verb, key, undefined)
    const answer = await act()
    world.trace(() => `  ${key.slice(-4)} ${verb}: ${stringifyAnswer(answer)}`)
    watcher.onAnswer(verb, key, answer, askedAt)
    return answer
  }
  return {
    ...chain,
    readBalance: NOT_SHOWN,
    readAuthorization: (key) => callAdapter('readAuthorization', toPaymentKey(key), () => chain.readAuthorization(key)),
    async readPaymentStatus(payment, head, named) {
      const key = toPaymentKey(payment)
      const known = { step: world.step, height: chain.getNewestHeight() }
      const found = await callAdapter('readPaymentStatus', key, () => chain.readPaymentStatus(payment, head, named))
      if (found.kind === 'unspent') watcher.onDeniedSpending(key, known)
      return found
    },
  }
}

function createFacilitatorPort(
  world: World,
  host: FacilitatorName,
  watcher: Watcher,
  owner: Life,
  commons: Commons | undefined,
): RingMember {
  const callFacilitator = <T>(verb: Verb, payment: Payment, act: () => T): Promise<T> =>
    callRemote(world, watcher, owner, verb, toPaymentKey(payment), act, payment)
  return {
    host,
    verify: (_, payment) => callFacilitator('verify', payment, () => verify(world, host, payment)),
    async settle(_, payment, manner) {
      const isSlow = world.slowness > 0 && world.prng.nextBoolean(world.slowness)
      const answer = await callFacilitator('settle', payment, () => {
        if (commons?.isHeldByOther(owner, toPaymentKey(payment)) === true) watcher.onIntrusion(toPaymentKey(payment))
        return isSlow ? 'slow' : settle(world, host, payment)
      })
      const { withinMs } = manner ?? { withinMs: TIME_LIMITS.settleTimeoutMs }
      if (answer !== 'slow') return answer
      const late = await settleLate(world, host, payment, owner, withinMs)
      watcher.onAnswer('settle', toPaymentKey(payment), late, world.step)
      return late
    },
    checkSupport: async () => drawSupport(world, host),
  }
}

// The probability that the threads that convert pictures are overloaded.
const PICTURES_BUSY = 0.1

/** A model of picture conversion, which takes time, is sometimes busy, and rejects unreadable files. */
const createPicturesPort = (world: World, owner: Life): Pick<Pictures, 'convertToPalette'> => ({
  convertToPalette: ({ bytes }, { width, height }) =>
    world.scheduler.call(owner, () => {
      world.step += 1
      const isBusy = !isQuiet(world) && world.prng.nextBoolean(PICTURES_BUSY)
      world.trace(() => `  picture: ${isBusy ? 'busy' : bytes[0] === 0 ? 'unreadable' : 'made'}`)
      if (isBusy) return 'busy'
      const indices = new Uint8Array(width * height).fill(bytes[1] ?? 0)
      return bytes[0] === 0 ? 'unreadable' : { width, height, indices }
    }),
})

/**
 * Sends a query to another party; its response arrives in a later step. A server that crashes in between never gets the
 * response.
 */
function callRemote<T>(
  world: World,
  watcher: Watcher,
  owner: object,
  verb: Verb,
  key: string,
  act: () => T,
  what?: Payment,
): Promise<T> {
  let askedAt = 0
  const executeQuery = () => {
    askedAt = world.step += 1
    watcher.onQuery(verb, key, what)
    return act()
  }
  const recordAnswer = (answer: T) => {
    world.trace(() => `  ${key.slice(-4)} ${verb}: ${stringifyAnswer(answer)}`)
    watcher.onAnswer(verb, key, answer, askedAt)
  }
  return world.scheduler.exchange(owner, executeQuery, recordAnswer)
}

/** Formats a response for a trace, with only the end of a payment's nonce, and without listings and pixels. */
const stringifyAnswer = (answer: unknown): string =>
  JSON.stringify(answer, (key, value: unknown) => {
    if (key === 'payment' && typeof value === 'object' && value !== null && 'nonce' in value)
      return String((value as PaymentKey).nonce).slice(-4)
    if (key === 'listing' || key === 'pixels') return undefined
    return typeof value === 'bigint' ? Number(value) : value
  })
