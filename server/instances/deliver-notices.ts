/**
 * Delivers events to the operator's webhook: sales, changes, reports and alerts. The queue of sales and changes is the
 * log itself, and the store keeps the number of the last delivered entry. So an unavailable receiver neither fills a
 * queue nor delays a sale.
 */

import { formatCoord } from '../../shared/wall.ts'
import { ignoreUnavailable } from '../domain/failure.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import { countBlocks, formatTarget, resolveTarget } from '../domain/purchase/target.ts'
import type { Change, LogNumber } from '../domain/wall/log.ts'
import type { OpenReport } from '../domain/wall/reports.ts'
import type { Outages } from '../health/outages.ts'
import type { Deliveries, Notice, NoticeReceiver, Reports } from '../operator-ports.ts'
import type { Clock, ExclusiveJobs, LedgerReader, Log, Logger } from '../ports.ts'

type DeliveryDeps = {
  readonly log: Pick<Log, 'readAfter'>
  readonly ledgerReader: Pick<LedgerReader, 'listSold'>
  readonly deliveries: Deliveries
  readonly reports: Pick<Reports, 'listUndelivered' | 'markDelivered'>
  readonly jobs: ExclusiveJobs
  readonly receiver: NoticeReceiver
  readonly alerts: AlertQueue
  readonly outages: Outages
  readonly clock: Clock
  readonly readNumber: () => LogNumber // of the last entry that this process has seen
}

const PAGE = 100
const POLL_MS = 1000

// After this many failures in a row, the journal gets an alert.
const FAILURES_OF_AN_OUTAGE = 3
const RETRY_FIRST_MS = 5000
const RETRY_LAST_MS = 600_000

// After a crash, notices from a period of at most this length are delivered again, with the same ids.
const SAVED_EVERY_MS = 1000

/**
 * Makes the delivery function: each call delivers pending notices, and returns the milliseconds to wait before the next
 * call.
 */
export function createNoticeDelivery(deps: DeliveryDeps): (signal: AbortSignal) => Promise<number> {
  const { reports, jobs } = deps
  const { send, retryMs } = createSender(deps)
  const log = createLogDelivery(deps, send)
  const sendAlerts = createAlertDelivery(deps, send)

  const sendReports: Deliver = async (signal) => {
    for (const report of await reports.listUndelivered(PAGE)) {
      if (!(await send(createReportNotice(report), signal))) return false
      await reports.markDelivered(report.id)
    }
    return true
  }

  const sendStored: Deliver = async (signal) => {
    let isDone = true
    if (log.isBehind() || (await reports.listUndelivered(1)).length > 0)
      await jobs.run('deliver', async () => {
        isDone = (await log.deliver(signal)) && (await sendReports(signal))
      })
    return isDone
  }
  return async (signal) => {
    // While the store is unavailable, it counts as having nothing to deliver.
    const isDone = (await sendAlerts(signal)) && ((await ignoreUnavailable(sendStored(signal))) ?? true)
    return isDone ? POLL_MS : retryMs()
  }
}

/** Delivers pending notices, oldest first; returns whether none is left. */
type Deliver = (signal: AbortSignal) => Promise<boolean>

type Send = (notice: Notice, signal: AbortSignal) => Promise<boolean>

/**
 * Makes a function that sends one notice. `send` returns whether the notice was accepted; `retryMs` returns how long to
 * wait after a failure.
 */
function createSender({ receiver, outages }: Pick<DeliveryDeps, 'receiver' | 'outages'>) {
  let failures = 0
  const send: Send = async (notice, signal) => {
    if (signal.aborted) return false
    const trouble = await receiver.send(notice, signal)
    if (signal.aborted) return trouble === null
    failures = trouble === null ? 0 : failures + 1
    if (trouble === null || failures >= FAILURES_OF_AN_OUTAGE)
      outages.recordState({ kind: 'webhook', name: receiver.host }, trouble)
    return trouble === null
  }
  return { send, retryMs: () => Math.min(RETRY_FIRST_MS * 2 ** (failures - 1), RETRY_LAST_MS) }
}

/** Delivers the alerts of this process. */
function createAlertDelivery({ alerts }: Pick<DeliveryDeps, 'alerts'>, send: Send): Deliver {
  return async (signal) => {
    for (let notice = alerts.peek(); notice !== undefined; notice = alerts.peek()) {
      if (!(await send(notice, signal))) return false
      alerts.remove(notice)
    }
    return true
  }
}

/** Delivers the log in order. Only one process may do so at a time. */
function createLogDelivery(deps: DeliveryDeps, send: Send): { isBehind(): boolean; readonly deliver: Deliver } {
  const { log, deliveries, clock, readNumber } = deps
  const opened = readNumber()
  let reached: LogNumber | undefined // unknown until the first delivery

  /**
   * The number of the log entry after which delivery begins. A new webhook receives events from the start of this
   * process on.
   */
  const findStart = async () => {
    const from = await deliveries.readPosition()
    if (from === undefined) await deliveries.advanceTo(opened)
    return from ?? opened
  }
  return {
    isBehind: () => reached === undefined || readNumber() > reached,
    async deliver(signal) {
      let [at, savedAt, isDelivered] = [await findStart(), clock.elapsed(), true]
      for (
        let page = await log.readAfter(at, PAGE);
        page.length > 0 && isDelivered;
        page = await log.readAfter(at, PAGE)
      ) {
        for (const change of page) {
          if (change.number <= at) continue
          const { notice, through } = await buildNotice(change, deps)
          isDelivered = notice === undefined || (await send(notice, signal))
          if (!isDelivered) break
          at = through
          if (clock.elapsed() - savedAt < SAVED_EVERY_MS) continue
          savedAt = clock.elapsed()
          await deliveries.advanceTo(at)
        }
        await deliveries.advanceTo(at)
      }
      reached = at
      return isDelivered
    },
  }
}

/**
 * The notice of a log entry, and the last entry that it covers: a purchase makes one notice, however many blocks were
 * bought. The time in an id distinguishes an entry from a lost entry that had the same number before a backup was
 * restored.
 */
async function buildNotice(
  change: Change,
  { ledgerReader }: Pick<DeliveryDeps, 'ledgerReader'>,
): Promise<{ readonly notice?: Notice; readonly through: LogNumber }> {
  const { number, at, kind } = change
  const createNotice = (data: Notice['data']): Notice => ({
    id: `log-${number}-${at}`,
    type: kind,
    at,
    data: { number, ...data },
  })
  switch (change.kind) {
    case 'sale': {
      const [payment] = await ledgerReader.listSold(change.seq - 1, 1)
      // This block belongs to a purchase whose first entry came before the webhook's first event.
      if (payment?.seq !== change.seq) return { through: number }
      const blocks = countBlocks(payment.target)
      const { name, framework } = change.profile
      const { message, link } = change.content
      const data = {
        place: formatTarget(resolveTarget(payment)),
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
      return { notice: createNotice(data), through: number + blocks - 1 }
    }
    case 'repaint':
    case 'hide':
    case 'unhide': {
      const { message, link } = change.content
      return { notice: createNotice({ place: formatCoord(change.block), message, link }), through: number }
    }
    case 'identity':
      return { notice: createNotice({ agent: change.agent, ...change.profile }), through: number }
  }
}

const createReportNotice = ({ id, at, work, block, reason, note }: OpenReport): Notice => ({
  id: `report-${id}-${at}`,
  type: 'report',
  at,
  data: { work: formatCoord(work), block: formatCoord(block), reason, note },
})

/** The alerts of this process that are waiting for the webhook. */
export type AlertQueue = { peek(): Notice | undefined; remove(notice: Notice): void }

const ALERTS_MAX = 100

/**
 * Wraps a journal so that its alerts and the ends of outages are also queued for the webhook. The queue keeps only the
 * newest `ALERTS_MAX` notices, while the journal has an entry for each.
 */
export function queueAlerts(
  logger: Logger,
  { now }: Pick<Clock, 'now'>,
): { readonly logger: Logger; readonly alerts: AlertQueue } {
  const waiting: Notice[] = []
  const enqueue = (event: string, facts: Parameters<Logger['alert']>[1] = {}, at: UnixMs = now()) => {
    // The webhook's own failures are not sent to it.
    if (facts['dependency'] === 'webhook') return
    waiting.push({ id: `alert-${crypto.randomUUID()}`, type: 'alert', at, data: { event, ...facts } })
    if (waiting.length > ALERTS_MAX) waiting.shift()
  }
  return {
    logger: {
      note(event, facts) {
        if (event === 'outage-over') enqueue(event, facts)
        logger.note(event, facts)
      },
      alert(event, facts) {
        enqueue(event, facts)
        logger.alert(event, facts)
      },
    },
    alerts: {
      peek: () => waiting[0],
      remove(notice) {
        const at = waiting.indexOf(notice)
        if (at >= 0) waiting.splice(at, 1)
      },
    },
  }
}
