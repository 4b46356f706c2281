/** What a process has used, as Linux tells it; elsewhere `undefined`. */

import { readdirSync, readFileSync } from 'node:fs'

/** Processor time of all threads of a process, in microseconds. */
export function cpuUs(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const used = threads.map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    )
    return used.reduce((sum, ns) => sum + ns, 0) / 1000
  } catch {
    return undefined
  }
}

/** Memory a process holds, in MB. */
export function residentMb(pid: number): number | undefined {
  try {
    const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kb === undefined ? undefined : Number(kb) / 1024
  } catch {
    return undefined
  }
}

/** Keeps a process on one processor, where the machine has more and can be told so. */
export const pin = (pid: number, processor: number): void => keepOn(pid, String(processor))

/** Lets a process, and all that it starts from then on, use every processor. */
export const unpin = (pid: number): void => keepOn(pid, `0-${navigator.hardwareConcurrency - 1}`)

function keepOn(pid: number, processors: string): void {
  if (navigator.hardwareConcurrency < 2 || Bun.which('taskset') === null) return
  Bun.spawnSync(['taskset', '-acp', processors, String(pid)], { stdout: 'ignore', stderr: 'ignore' })
}
