/** What a crowd of half-open connections costs everyone else: how long they wait, and how much memory it takes. */

import { fileURLToPath } from 'node:url'

const CROWD = fileURLToPath(new URL('./crowd.ts', import.meta.url))

/** A crowd that stands in a server's way. */
export type Crowd = { readonly count: number; leave(): Promise<void> }

// What a process needs besides its connections.
const OWN_FILES = 200

/** Has another process hold `count` connections, or as many as a process may here; resolves once all are held. */
export async function gather(host: string, count: number): Promise<Crowd> {
  const most = Math.min(count, (await openFiles()) - OWN_FILES)
  const child = Bun.spawn([process.execPath, CROWD, host, String(most)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  for (let said = ''; !said.includes('held');) {
    const { value, done } = await lines.read()
    if (done) throw new Error('the crowd left before it was whole')
    said += value
  }
  return {
    count: most,
    leave: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** How others fare: the slowest of each hundred and the median, in milliseconds, and how many were not answered. */
export type Fares = { readonly p50: number; readonly p99: number; readonly unanswered: number }

const PATHS = ['/api/health', '/api/canvas', '/blocks/next', '/api/feed'] as const

const AT_ONCE = 4

/** Asks for the free and the paid things in turn, as several clients at once. */
export async function fares(url: string, requests: number): Promise<Fares> {
  const times: number[] = []
  let unanswered = 0
  const client = async (first: number) => {
    for (let at = first; at < requests; at += AT_ONCE) {
      const started = performance.now()
      const response = await fetch(url + (PATHS[at % PATHS.length] ?? '/')).catch(() => undefined)
      await response?.arrayBuffer()
      times.push(performance.now() - started)
      if (response?.status !== 200 && response?.status !== 402) unanswered += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => client(first)))
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
  return { p50: at(0.5), p99: at(0.99), unanswered }
}

/** A process's resident memory in MiB. */
export async function memoryMib(pid: number): Promise<number> {
  const kib = Number(await new Response(Bun.spawn(['ps', '-o', 'rss=', '-p', String(pid)]).stdout).text())
  return kib / 1024
}

/** How many files and sockets a process may hold open here. */
async function openFiles(): Promise<number> {
  const most = Number(await new Response(Bun.spawn(['sh', '-c', 'ulimit -Hn']).stdout).text())
  return Number.isFinite(most) ? most : Number.MAX_SAFE_INTEGER
}
