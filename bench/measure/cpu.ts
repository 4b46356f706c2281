/**
 * Reads the CPU time and the memory of a process, and sets the CPUs it may use. Works only on Linux; elsewhere, times
 * and memory are `NaN`.
 */

import { dlopen } from 'bun:ffi'
import { readFileSync } from 'node:fs'

/** CPU time of all threads of a process, including those that have ended, in microseconds. */
export function readCpuUs(pid: number): number {
  if (clockGettime === undefined) return Number.NaN
  const time = new BigInt64Array(2)
  if (clockGettime(toClockId(pid), time) !== 0) return Number.NaN
  const [seconds = 0n, ns = 0n] = time
  return Number(seconds) * 1e6 + Number(ns) / 1000
}

/** CPU time of a process's first thread, which serves requests, in microseconds. */
export function readMainThreadUs(pid: number): number {
  try {
    const [onCpuNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
    return Number(onCpuNs) / 1000
  } catch {
    return Number.NaN
  }
}

/** CPU time in milliseconds that a process spends while `work` runs. */
export async function measureCpuMs(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = readCpuUs(pid)
  await work()
  return (readCpuUs(pid) - before) / 1000
}

// The id of a process's clock is computed as in clock_getcpuclockid(3). The times in /proc do not suffice, because a
// thread's time vanishes when the thread ends, and Bun's threads come and go.
const toClockId = (pid: number) => (~pid << 3) | 2

const clockGettime = openLibc()?.symbols.clock_gettime

function openLibc() {
  try {
    return dlopen('libc.so.6', { clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } })
  } catch {
    return undefined
  }
}

/** Memory of a process, in MB. */
export const readResidentMb = (pid: number): number => Number(readStatusLine(pid, /VmRSS:\s+(\d+) kB/)) / 1024

/** Pins a process to one CPU, if the machine has several and supports pinning. */
export const pinProcess = (pid: number, processor: number): void => setAffinity(pid, String(processor))

/**
 * Lets a process, and the processes that it starts, use every CPU while `work` runs; then restores the process's own
 * CPUs.
 */
export async function runOnEveryProcessor<Done>(work: () => Promise<Done>, pid = process.pid): Promise<Done> {
  const before = readAllowedProcessors(pid)
  if (before === undefined) return await work()
  setAffinity(pid, `0-${navigator.hardwareConcurrency - 1}`)
  try {
    return await work()
  } finally {
    setAffinity(pid, before)
  }
}

/** The CPUs that a process may use, in Linux's list format. */
export const readAllowedProcessors = (pid: number): string | undefined =>
  readStatusLine(pid, /Cpus_allowed_list:\s+(\S+)/)

function readStatusLine(pid: number, pattern: RegExp): string | undefined {
  try {
    return pattern.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

function setAffinity(pid: number, processors: string): void {
  if (navigator.hardwareConcurrency < 2 || Bun.which('taskset') === null) return
  Bun.spawnSync(['taskset', '-acp', processors, String(pid)], { stdout: 'ignore', stderr: 'ignore' })
}
