/** What a monitor reads, in Prometheus' text form: counts, times and states, without anybody's names. */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Rail } from '../../shared/contract/service.ts'
import type { Outcome } from '../domain/purchase.ts'
import type { Books, Chain, Clock, RingMember } from '../ports.ts'

/** Counts and times what passes through it. */
export type Metrics = {
  /** The same port, its calls timed under its host. */
  facilitator(port: RingMember): RingMember
  /** The same port, its calls timed. */
  chain(port: Chain): Chain
  /** Counts how one paid request ended. */
  outcome(outcome: Outcome): void
  /** Counts one paid request over HTTP, by the version of x402 it came in. */
  paid(version: 1 | 2): void
  /** Looks at what there is to see at each reading from then on. */
  watch(seen: { readonly books: Books; readonly rail: () => Rail; readonly clock: Clock }): void
  /** All of it as text. */
  read(): Promise<string>
  readonly contentType: string
}

// A read of the chain takes tens of milliseconds, a settlement seconds, and none of them more than its deadline.
const BUCKETS_SECONDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100]

/** Starts with nothing counted. */
export function openMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const timesOf = <Label extends string>(of: 'facilitator' | 'chain', ...labels: readonly Label[]) =>
    new Histogram({
      name: `wall_${of}_seconds`,
      help: `Time of calls to the ${of}, by what came of them. Failures are unavailable, unclear, unsent, busy (our own queue was full) and silent.`,
      labelNames: [...labels, 'call', 'result'],
      buckets: BUCKETS_SECONDS,
      registers,
    })
  const purchases = new Counter({
    name: 'wall_purchases_total',
    help: 'Answers to paid requests: bought, or the code of the refusal.',
    labelNames: ['outcome'],
    registers,
  })
  const paid = new Counter({
    name: 'wall_paid_requests_total',
    help: 'Requests over HTTP that carried a payment, by the version of x402 they came in.',
    labelNames: ['version'],
    registers,
  })
  // A version that nobody sends is told as none, so that it can be seen.
  for (const version of [1, 2]) paid.inc({ version }, 0)
  const [facilitatorTimes, chainTimes] = [timesOf('facilitator', 'facilitator'), timesOf('chain')]
  watchProcess(registry)
  return {
    facilitator: ({ host, ...port }) => {
      const start = (call: string) => facilitatorTimes.startTimer({ facilitator: host, call })
      return {
        host,
        verify: timed(start, 'verify', port.verify, ({ kind }) => kind),
        settle: timed(start, 'settle', port.settle, ({ kind }) => kind),
        supports: timed(start, 'supports', port.supports, (answer) => answer),
        signers: timed(start, 'signers', port.signers, (answer) => (answer === 'unavailable' ? answer : 'told')),
      }
    },
    chain: (port) => {
      const start = (call: string) => chainTimes.startTimer({ call })
      return {
        read: timed(start, 'read', port.read, silentOr('answered')),
        verdict: timed(start, 'verdict', port.verdict, ({ kind }) => kind),
        fault: timed(start, 'fault', port.fault, ({ kind }) => kind),
        transfersTo: timed(start, 'transfers', port.transfersTo, silentOr('answered')),
        broadcaster: timed(start, 'broadcaster', port.broadcaster, silentOr('answered')),
      }
    },
    outcome: (outcome) => purchases.inc({ outcome: outcome.kind === 'bought' ? 'bought' : outcome.failure.code }),
    paid: (version) => paid.inc({ version }),
    watch: (seen) => watchWall(registry, seen),
    read: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

const silentOr =
  (word: string) =>
  (answer: unknown): string =>
    answer === 'silent' ? answer : word

function timed<Args extends readonly unknown[], Answer>(
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

const RAILS: readonly Rail[] = ['armed', 'arming', 'misconfigured']

function watchWall(
  registry: Registry,
  { books, rail, clock }: { readonly books: Books; readonly rail: () => Rail; readonly clock: Clock },
): void {
  const registers = [registry]
  // A store that fails has no numbers to tell, and the rest is told all the same.
  const pendingNow = () => books.pending().catch(() => undefined)
  const oldest = new Gauge({
    name: 'wall_oldest_open_purchase_seconds',
    help: 'Age of the oldest purchase without an end; 0 when there is none, no number when the store does not say.',
    registers,
    async collect() {
      const pending = await pendingNow()
      const since = pending === undefined ? Number.NaN : (pending.oldestSince ?? clock.now())
      oldest.set((clock.now() - since) / 1000)
    },
  })
  const open = new Gauge({
    name: 'wall_open_purchases',
    help: 'Purchases without an end: held, of which the payer of some was told to wait (doubted); watched for a late payment.',
    labelNames: ['state'],
    registers,
    async collect() {
      const pending = await pendingNow()
      open.reset()
      if (pending === undefined) return
      open.set({ state: 'held' }, pending.held)
      open.set({ state: 'doubted' }, pending.uncertain)
      open.set({ state: 'watched' }, pending.watched)
    },
  })
  const rails = new Gauge({
    name: 'wall_rail',
    help: 'Whether payments can be taken: 1 for the state it is in.',
    labelNames: ['state'],
    registers,
    collect: () => {
      const now = rail()
      for (const state of RAILS) rails.set({ state }, state === now ? 1 : 0)
    },
  })
}

function watchProcess(registry: Registry): void {
  const registers = [registry]
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const delays = new Gauge({
    name: 'wall_event_loop_delay_seconds',
    help: 'How long work waited for its turn since the last reading.',
    labelNames: ['quantile'],
    registers,
    collect: () => {
      delays.set({ quantile: '0.5' }, delay.percentile(50) / 1e9)
      delays.set({ quantile: '0.99' }, delay.percentile(99) / 1e9)
      delays.set({ quantile: '1' }, delay.max / 1e9)
      delay.reset()
    },
  })
  const memory = new Gauge({
    name: 'wall_memory_bytes',
    help: 'Memory of the process: all that is resident, and what its objects take.',
    labelNames: ['kind'],
    registers,
    collect: () => {
      const { rss, heapUsed } = process.memoryUsage()
      memory.set({ kind: 'resident' }, rss)
      memory.set({ kind: 'heap' }, heapUsed)
    },
  })
}
