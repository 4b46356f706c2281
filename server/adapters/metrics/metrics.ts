/** Metrics in Prometheus' text format: counts, times and states, without names of people or wallets. */

import { Counter, Histogram, Registry } from 'prom-client'
import type { Outcome } from '../../domain/purchase/purchase.ts'
import { countBlocks } from '../../domain/purchase/target.ts'
import type { Chain, Logger, Ledger, RingMember } from '../../ports.ts'
import { registerProcessMetrics } from './process.ts'
import { registerWallMetrics, type WallReadings } from './wall.ts'

/** Counts and times the calls that pass through it. */
export type Metrics = {
  /** Wraps a facilitator: times its calls, labelled with its host. */
  timeFacilitator(port: RingMember): RingMember
  /** Wraps a port: times its calls. */
  timeChain(port: Chain): Chain
  /** Counts the outcome of one paid request. */
  countOutcome(outcome: Outcome): void
  /** Counts one paid request over HTTP, by its version of x402. */
  countPaidRequest(version: 1 | 2): void
  /** Observes how long an expensive request waited for its turn, by its class. */
  observeWait(of: string, ms: number): void
  /** Wraps the ledger: times the calls that sell. */
  timeLedger(port: Ledger): Ledger
  /** Wraps a journal: counts its alerts. */
  wrapLogger(logger: Logger): Logger
  /** Counts and times HTTP responses. */
  readonly recordResponse: HttpMeter
  /** Also reports the state of a wall, read again for each scrape. */
  registerReadings(readings: WallReadings): void
  /** All metrics as text. */
  read(): Promise<string>
  /** Serves only `GET /metrics`, on a port of its own. */
  listen(hostname: string, port: number): { readonly port: number; close(): void }
}

/** Counts a response: the path of its route, its status, and its duration in milliseconds. */
type HttpMeter = (route: string, status: number, tookMs: number) => void

// A read of the chain takes tens of milliseconds, a settlement seconds, and neither exceeds its timeout.
const BUCKETS_SECONDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]

// Reads take a fraction of a millisecond, a purchase seconds.
const HTTP_BUCKETS_SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]

// The buckets range from one block, through small and large pictures, to the largest area.
const BUCKETS_BLOCKS = [1, 4, 12, 30, 100, 400]

// Reported as 0 from the start, because a series that begins with its first alert shows no increase.
const ALERTS = [
  'outage',
  'row-damaged',
  'payment-vanished',
  'payment-lost',
  'older-copy',
  'orphan',
  'stray',
  'witness-failed',
  'work-failed',
  'http-failed',
  'admin-command-failed',
]

/** Creates the metrics, with all counts at zero. */
export function openMetrics(): Metrics {
  const registry = new Registry()
  const { purchases, sizes, paid, waits, alerts, facilitatorTimes, chainTimes, storeTimes } =
    createInstruments(registry)
  registerProcessMetrics(registry)
  return {
    timeFacilitator: ({ host, ...port }) => {
      const startTimer = (call: string) => facilitatorTimes.startTimer({ facilitator: host, call })
      return {
        host,
        verify: timeCall(startTimer, 'verify', port.verify, ({ kind }) => kind),
        settle: timeCall(startTimer, 'settle', port.settle, ({ kind }) => kind),
        checkSupport: timeCall(startTimer, 'supports', port.checkSupport, (answer) => answer),
      }
    },
    timeChain: (port) => {
      const start = (call: string) => chainTimes.startTimer({ call })
      return {
        readAuthorization: timeCall(start, 'read', port.readAuthorization, createOutcomeLabeller('answered')),
        readPaymentStatus: timeCall(start, 'status', port.readPaymentStatus, ({ kind }) => kind),
        readBalance: timeCall(start, 'balance', port.readBalance, createOutcomeLabeller('answered')),
        checkHealth: timeCall(start, 'fault', port.checkHealth, ({ kind }) => kind),
        readTransfers: timeCall(start, 'transfers', port.readTransfers, createOutcomeLabeller('answered')),
      }
    },
    countOutcome(outcome) {
      purchases.inc({ outcome: outcome.kind === 'bought' ? 'bought' : outcome.code })
      if (outcome.kind === 'bought') sizes.observe(countBlocks(outcome.purchase.target))
    },
    countPaidRequest: (version) => paid.inc({ version }),
    observeWait: (of, ms) => waits.observe({ class: of }, ms / 1000),
    timeLedger: (port) => {
      const start = (call: string) => storeTimes.startTimer({ call })
      return {
        ...port,
        find: timeCall(start, 'find', port.find, getAnsweredLabel),
        checkAvailability: timeCall(start, 'availability', port.checkAvailability, getAnsweredLabel),
        claim: timeCall(start, 'claim', port.claim, getAnsweredLabel),
        finalize: timeCall(start, 'finalize', port.finalize, getAnsweredLabel),
      }
    },
    wrapLogger: ({ note, alert }) => ({
      note,
      alert(event, facts) {
        alerts.inc({ event })
        alert(event, facts)
      },
    }),
    recordResponse: createHttpMeter(registry),
    registerReadings: (readings) => registerWallMetrics(registry, readings),
    read: () => registry.metrics(),
    listen: (hostname, port) => listen(registry, hostname, port),
  }
}

function listen(registry: Registry, hostname: string, port: number) {
  const headers = { 'Content-Type': registry.contentType }
  const server = Bun.serve({
    hostname,
    port,
    reusePort: false,
    routes: { '/metrics': { GET: async () => new Response(await registry.metrics(), { headers }) } },
    fetch: () => new Response('GET /metrics\n', { status: 404 }),
  })
  return { port: server.port ?? port, close: () => void server.stop(true) }
}

function createInstruments(registry: Registry) {
  const registers = [registry]
  const createHistogram = <Label extends string>(of: 'facilitator' | 'chain' | 'store', ...labels: readonly Label[]) =>
    new Histogram({
      name: `wall_${of}_seconds`,
      help: `Duration of calls to the ${of}, by result. The results unavailable, unclear, unsent, busy (our own queue was full), silent and failed are failures.`,
      labelNames: [...labels, 'call', 'result'],
      buckets: BUCKETS_SECONDS,
      registers,
    })
  const purchases = new Counter({
    name: 'wall_purchases_total',
    help: 'Responses to paid requests, by outcome: bought, or the error code.',
    labelNames: ['outcome'],
    registers,
  })
  const sizes = new Histogram({
    name: 'wall_purchase_blocks',
    help: 'Number of blocks bought by each paid request that got a receipt; more than 1 means an area.',
    buckets: BUCKETS_BLOCKS,
    registers,
  })
  const paid = new Counter({
    name: 'wall_paid_requests_total',
    help: 'HTTP requests that carried a payment, by x402 version.',
    labelNames: ['version'],
    registers,
  })
  // A version that nobody uses is reported as 0, so that it is visible.
  for (const version of [1, 2]) paid.inc({ version }, 0)
  const waits = new Histogram({
    name: 'wall_queue_seconds',
    help: 'Time that expensive requests waited for their turn, by class: new payments, reads of pages and pictures, or other requests.',
    labelNames: ['class'],
    buckets: HTTP_BUCKETS_SECONDS,
    registers,
  })
  const alerts = new Counter({
    name: 'wall_alerts_total',
    help: 'Journal lines of level alert, by event.',
    labelNames: ['event'],
    registers,
  })
  for (const event of ALERTS) alerts.inc({ event }, 0)
  return {
    purchases,
    sizes,
    paid,
    waits,
    alerts,
    facilitatorTimes: createHistogram('facilitator', 'facilitator'),
    chainTimes: createHistogram('chain'),
    storeTimes: createHistogram('store'),
  }
}

/** Counts and times responses by the path of their route, so that the number of series is limited. */
function createHttpMeter(registry: Registry): HttpMeter {
  const registers = [registry]
  const requests = new Counter({
    name: 'wall_http_requests_total',
    help: 'HTTP requests, by route and status.',
    labelNames: ['route', 'code'],
    registers,
  })
  const times = new Histogram({
    name: 'wall_http_request_duration_seconds',
    help: 'Time until an HTTP request was answered; for streams, until they started.',
    labelNames: ['route'],
    buckets: HTTP_BUCKETS_SECONDS,
    registers,
  })
  const countsOf = new Map<string, Map<number, Counter.Internal>>()
  return (route, status, tookMs) => {
    const counts = countsOf.get(route) ?? new Map<number, Counter.Internal>()
    countsOf.set(route, counts)
    const count = counts.get(status) ?? requests.labels({ route, code: String(status) })
    counts.set(status, count)
    count.inc()
    times.observe({ route }, tookMs / 1000)
  }
}

const getAnsweredLabel = () => 'answered'

const createOutcomeLabeller =
  (word: string) =>
  (answer: unknown): string =>
    answer === 'silent' ? answer : word

function timeCall<Args extends readonly unknown[], Answer>(
  start: (call: string) => (labels: { readonly result: string }) => void,
  call: string,
  work: (...args: Args) => Promise<Answer>,
  resultOf: (answer: Answer) => string,
): (...args: Args) => Promise<Answer> {
  return async (...args) => {
    const end = start(call)
    let result = 'failed'
    try {
      const answer = await work(...args)
      result = resultOf(answer)
      return answer
    } finally {
      end({ result })
    }
  }
}
