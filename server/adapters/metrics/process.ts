/** Metrics of the process itself, under the names of Prometheus' own libraries. */

import { readdir } from 'node:fs/promises'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

// An event loop delay above the last bucket means that the process was suspended or blocked.
const DELAYS_SECONDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]

const TURN_EVERY_MS = 50

/** Adds metrics of CPU, memory, file descriptors and the event loop delay. */
export function registerProcessMetrics(registry: Registry): void {
  const registers = [registry]
  const delays = new Histogram({
    name: 'wall_event_loop_delay_seconds',
    help: 'How late the event loop ran a timer that is due every 50 ms.',
    buckets: DELAYS_SECONDS,
    registers,
  })
  let due = performance.now() + TURN_EVERY_MS
  setInterval(() => {
    const now = performance.now()
    delays.observe(Math.max(0, now - due) / 1000)
    due = now + TURN_EVERY_MS
  }, TURN_EVERY_MS).unref()

  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time, user and system.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      cpu.reset()
      cpu.inc((user + system) / 1e6)
    },
  })
  registerGauge(registry, 'process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage().rss)
  registerGauge(
    registry,
    'wall_heap_bytes',
    'Memory used by the program’s objects.',
    () => process.memoryUsage().heapUsed,
  )
  const startedAt = Date.now() / 1000 - process.uptime()
  registerGauge(registry, 'process_start_time_seconds', 'Start time of the process, in Unix seconds.', () => startedAt)
  registerGauge(registry, 'process_open_fds', 'Open file descriptors.', async () => {
    const open = await readdir('/proc/self/fd').catch(() => undefined)
    return open?.length
  })
}

/** A gauge that is read again for each scrape; `undefined` reports no value. */
export function registerGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | undefined | Promise<number | undefined>,
): void {
  const one = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read()
      if (value === undefined) one.remove()
      else one.set(value)
    },
  })
}

/** A gauge with labels: one value per set of labels. */
export function registerLabelledGauge<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
  read: () => readonly (readonly [labels: Readonly<Record<Label, string>>, value: number])[],
): void {
  const one = new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      one.reset()
      for (const [labels, value] of read()) one.set(labels, value)
    },
  })
}
