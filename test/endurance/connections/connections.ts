/** A crowd of half-open connections, and honest clients whose missing responses are counted. */

import { fileURLToPath } from 'node:url'

const CROWD = fileURLToPath(new URL('./crowd.ts', import.meta.url))

// The file descriptors that a process needs for anything else.
const OWN_FILES = 200

/**
 * Holds `count` connections in another process, or as many as a process may open. Resolves once all are open, to a
 * function that closes them.
 */
export async function openCrowd(host: string, count: number): Promise<() => Promise<void>> {
  const most = Math.min(count, (await readOpenFilesLimit()) - OWN_FILES)
  const child = Bun.spawn([process.execPath, CROWD, host, String(most)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  for (let said = ''; !said.includes('held');) {
    const { value, done } = await lines.read()
    if (done) throw new Error('the crowd exited before all connections were open')
    said += value
  }
  return async () => {
    child.kill('SIGKILL')
    await child.exited
  }
}

const PATHS = ['/api/health', '/api/canvas', '/blocks/next', '/api/feed'] as const

const AT_ONCE = 4

/** Sends free and paid requests in turn, as several concurrent clients; returns how many got no response. */
export async function countUnanswered(url: string, requests: number): Promise<number> {
  let count = 0
  const runClient = async (first: number) => {
    for (let at = first; at < requests; at += AT_ONCE) {
      const response = await fetch(url + (PATHS[at % PATHS.length] ?? '/')).catch(() => undefined)
      await response?.arrayBuffer()
      if (response?.status !== 200 && response?.status !== 402) count += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => runClient(first)))
  return count
}

/** How many files and sockets a process may hold open here. */
async function readOpenFilesLimit(): Promise<number> {
  const most = Number(await new Response(Bun.spawn(['sh', '-c', 'ulimit -Hn']).stdout).text())
  return Number.isFinite(most) ? most : Number.MAX_SAFE_INTEGER
}
