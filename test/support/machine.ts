/** The load of the machine while tests run: how busy its CPUs are, and how long its disk takes. */

import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DependencyKind } from '../../server/domain/dependency.ts'

/** `load` is the average number of processes that want a CPU; `flushMs` is the time to flush a small file. */
export type MachineState = { readonly load: number; readonly processors: number; readonly flushMs: number }

/** Measures the machine now; the file is flushed in the folder where tests keep their databases. */
export function measureMachine(): MachineState {
  return { load: loadavg()[0] ?? 0, processors: availableParallelism(), flushMs: measureFlush() }
}

function measureFlush(): number {
  const path = join(tmpdir(), `pixel-wall-flush-${process.pid}`)
  const file = openSync(path, 'w')
  try {
    writeSync(file, Buffer.alloc(4096, 1))
    const since = performance.now()
    fsyncSync(file)
    return performance.now() - since
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}

// The file systems tmpfs and ramfs, by the numbers that statfs(2) gives them.
const IN_MEMORY = [0x01021994, 0x858458f6]

/** Whether a folder is in memory, so that a flush there waits for no disk. */
export const isInMemory = (folder: string): boolean => IN_MEMORY.includes(statfsSync(folder).type)

/** The machine's state in words, as part of a sentence. */
export const describeMachine = ({ load, processors, flushMs }: MachineState): string =>
  `load ${load.toFixed(1)} on ${processors} processors, ${flushMs.toFixed(0)} ms to flush a file`

// The maximum slowness that is returned, because a measurement of a machine that hangs means nothing.
const SLOWNESS_MAX = 4

// The maximum time that a flush takes on an idle disk, in milliseconds.
const QUIET_FLUSH_MS = 20

/** How many times slower than a quiet machine this one is, from 1 to 4, measured once when the tests begin. */
const SLOWNESS = computeSlowness(measureMachine())

/** How many times slower than a quiet machine a machine in this state is. */
export function computeSlowness({ load, processors, flushMs }: MachineState): number {
  return Math.min(SLOWNESS_MAX, Math.max(1, load / processors, flushMs / QUIET_FLUSH_MS))
}

// If the machine is at least this many times slower than a quiet one, that may be why a test failed.
const BUSY_SLOWNESS = 1.5

/** Whether a machine in this state is so busy that it may be why a test failed. */
export const isBusy = (machine: MachineState): boolean => computeSlowness(machine) >= BUSY_SLOWNESS

/** A time limit in milliseconds, longer than `quietMs` if this machine is slower than a quiet one. */
export const scaleLimit = (quietMs: number): number => Math.round(quietMs * SLOWNESS)

// On a busy machine, the wall is slow and reports its slowness as one of these outages.
const OF_A_BUSY_MACHINE: readonly (string | undefined)[] = ['event-loop', 'queue'] satisfies DependencyKind[]

/** Whether the load of the machine, and nothing that a test does, is why a wall reports this dependency as down. */
export const isCausedByMachine = (dependency: string | undefined, measure = measureMachine): boolean =>
  OF_A_BUSY_MACHINE.includes(dependency) && isBusy(measure())
