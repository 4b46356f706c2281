/**
 * Delivers to the operator's webhook what happens: sales, changes and alerts. The log itself is what waits, from the number that
 * the store says was delivered, so nothing is queued for a receiver that is away, and no sale knows of it.
 */

import { coordOf } from '../../shared/wall.ts'
import { ifAvailable } from '../domain/failure.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import { blocksIn, nameOf, resolvedTarget } from '../domain/purchase/target.ts'
import type { Change, LogNumber } from '../domain/wall/log.ts'
import type { Outages } from '../health/outages.ts'
import type { Deliveries, Notice, NoticeReceiver } from '../operator-ports.ts'
import type { Clock, ExclusiveJobs, LedgerReader, Log, Logger } from '../ports.ts'

type DeliveryDeps = {
  readonly log: Pick<Log, 'after'>
  readonly ledgerReader: Pick<LedgerReader, 'sold'>
  readonly deliveries: Deliveries
  readonly jobs: ExclusiveJobs
  readonly receiver: NoticeReceiver
  readonly alerts: AlertQueue
  readonly outages: Outages
  readonly clock: Clock
  readonly number: () => LogNumber // of the last entry that this process has seen
}

const PAGE = 100
const POLL_MS = 1000

// After so many failures in a row the operator is alerted elsewhere.
const FAILURES_OF_AN_OUTAGE = 3
const RETRY_FIRST_MS = 5000
const RETRY_LAST_MS = 600_000

// What was delivered since is delivered again after a crash, with the same ids.
const SAVED_EVERY_MS = 1000

/** Makes the delivery: each call delivers what there is, and returns after how many milliseconds to call it again. */
export function noticeDelivery(deps: DeliveryDeps): (signal: AbortSignal) => Promise<number> {
  const { log, deliveries, jobs, receiver, alerts, outages, clock, number } = deps
  let failures = 0
  let reached: LogNumber = 0

  const send = async (notice: Notice, signal: AbortSignal): Promise<boolean> => {
    const trouble = await receiver.send(notice, signal)
    if (signal.aborted) return trouble === null
    failures = trouble === null ? 0 : failures + 1
    if (trouble === null || failures >= FAILURES_OF_AN_OUTAGE)
      outages.saw({ kind: 'webhook', name: receiver.host }, trouble)
    return trouble === null
  }

  /** Delivers the alerts of this process, oldest first; returns whether none is left. */
  const sendAlerts = async (signal: AbortSignal) => {
    for (let notice = alerts.first(); notice !== undefined; notice = alerts.first()) {
      if (!(await send(notice, signal))) return false
      alerts.remove(notice)
    }
    return true
  }

  /** Delivers the log in order, in one process at a time; returns whether none is left. */
  const sendLog = async (signal: AbortSignal) => {
    let [at, savedAt, isDelivered] = [await deliveries.reached(), clock.elapsed(), true]
    // A webhook that is new hears of what is new.
    if (at === undefined) await deliveries.reach(number())
    at ??= number()
    for (let page = await log.after(at, PAGE); page.length > 0 && isDelivered; page = await log.after(at, PAGE)) {
      for (const change of page) {
        if (change.number <= at) continue
        const { notice, through } = await noticeOf(change, deps)
        isDelivered = !signal.aborted && (notice === undefined || (await send(notice, signal)))
        if (!isDelivered) break
        at = through
        if (clock.elapsed() - savedAt < SAVED_EVERY_MS) continue
        savedAt = clock.elapsed()
        await deliveries.reach(at)
      }
      await deliveries.reach(at)
    }
    reached = at
    return isDelivered
  }

  return async (signal) => {
    let isDone = await sendAlerts(signal)
    if (isDone && number() > reached)
      await ifAvailable(
        jobs.run('deliver', async () => {
          isDone = await sendLog(signal)
        }),
      )
    return isDone ? POLL_MS : Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_LAST_MS)
  }
}

/**
 * What is delivered of a log entry, and the last entry that it is about: a purchase is one notice, however many blocks it
 * bought. The time in an id tells an entry from one of the same number that a restored backup lost.
 */
async function noticeOf(
  change: Change,
  { ledgerReader }: Pick<DeliveryDeps, 'ledgerReader'>,
): Promise<{ readonly notice?: Notice; readonly through: LogNumber }> {
  const { number, at, kind } = change
  const notice = (data: Notice['data']): Notice => ({
    id: `log-${number}-${at}`,
    type: kind,
    at,
    data: { number, ...data },
  })
  switch (change.kind) {
    case 'sale': {
      const [payment] = await ledgerReader.sold(change.seq - 1, 1)
      // A block of a purchase that began before the webhook did.
      if (payment?.seq !== change.seq) return { through: number }
      const blocks = blocksIn(payment.target)
      const { name, framework } = change.profile
      const { message, link } = change.content
      const data = {
        place: nameOf(resolvedTarget(payment)),
        blocks,
        seq: change.seq,
        payer: payment.payer,
        amount: payment.amount.toString(),
        tx: payment.tx,
        name,
        framework,
        message,
        link,
      }
      return { notice: notice(data), through: number + blocks - 1 }
    }
    case 'repaint':
    case 'hide':
    case 'unhide': {
      const { message, link } = change.content
      return { notice: notice({ place: coordOf(change.block), message, link }), through: number }
    }
    case 'identity':
      return { notice: notice({ agent: change.agent, ...change.profile }), through: number }
  }
}

/** The alerts of this process that wait for the webhook. */
export type AlertQueue = { first(): Notice | undefined; remove(notice: Notice): void }

const ALERTS_MAX = 100

/**
 * The same journal, which also queues its alerts, and the ends of outages, for the webhook. The newest `ALERTS_MAX` wait; the
 * journal has all of them.
 */
export function queueAlerts(
  logger: Logger,
  { now }: Pick<Clock, 'now'>,
): { readonly logger: Logger; readonly alerts: AlertQueue } {
  const waiting: Notice[] = []
  const queue = (event: string, facts: Parameters<Logger['alert']>[1] = {}, at: UnixMs = now()) => {
    // That the webhook fails is no news to it.
    if (facts['dependency'] === 'webhook') return
    waiting.push({ id: `alert-${crypto.randomUUID()}`, type: 'alert', at, data: { event, ...facts } })
    if (waiting.length > ALERTS_MAX) waiting.shift()
  }
  return {
    logger: {
      note(event, facts) {
        if (event === 'outage-over') queue(event, facts)
        logger.note(event, facts)
      },
      alert(event, facts) {
        queue(event, facts)
        logger.alert(event, facts)
      },
    },
    alerts: {
      first: () => waiting[0],
      remove(notice) {
        const at = waiting.indexOf(notice)
        if (at >= 0) waiting.splice(at, 1)
      },
    },
  }
}
