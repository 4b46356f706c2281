/**
 * Clients that do not read their responses, an owner who repaints meanwhile, and the memory that the wall and the
 * kernel use for these clients.
 */

import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { readResidentMb } from '../../../bench/measure/cpu.ts'
import { chooseBuyer, toPrivateKey, seedWall } from '../../../bench/servers/seed.ts'
import { countAgents } from '../../../bench/servers/servers.ts'
import { UNREAD_LIMITS } from '../../../server/adapters/unread-limits.ts'
import { formatEditMessage } from '../../../shared/signing.ts'
import { MESSAGE_MAX } from '../../../shared/text.ts'
import { CLAIM_ORDER, formatCoord, TOTAL_BLOCKS } from '../../../shared/wall.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'

/** The peak memory in MB, and how many connections were open at the end. */
export type Memory = {
  readonly processMb: number
  readonly kernelMb: number
  readonly togetherMb: number
  readonly openAtEnd: number
}

// Long enough for the kernel to notice that a client does not read, and to check again.
const NOTICED_MS = UNREAD_LIMITS.timeoutMs + 15_000

const SAMPLE_EVERY_MS = 250

/** Opens a sold and painted wall. */
export async function openSoldWall(): Promise<World> {
  const world = await startWorld()
  await world.getWall().stop()
  seedWall(world.databasePath, { blocks: TOTAL_BLOCKS, agents: countAgents(TOTAL_BLOCKS) })
  await world.restart()
  return world
}

/**
 * Makes `count` clients request `path` without reading the response, runs `meanwhile`, and waits until the clients'
 * connections are closed, or until they should be closed.
 */
export async function measureUnreadResponses(
  { url, getWall }: World,
  path: string,
  count: number,
  meanwhile: () => Promise<unknown>,
): Promise<Memory> {
  const { host, port } = new URL(url)
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'run-readers.ts'), host, path, String(count)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  await child.stdout.getReader().read()
  const until = performance.now() + NOTICED_MS
  const doing = meanwhile()
  let most: Memory = { processMb: 0, kernelMb: 0, togetherMb: 0, openAtEnd: 0 }
  let openAtEnd = count
  while (performance.now() < until && openAtEnd > 0) {
    const processMb = readResidentMb(getWall().pid)
    const kernel = await readKernelMemory(port)
    const togetherMb = processMb + kernel.mb
    if (togetherMb > most.togetherMb) most = { ...most, processMb, kernelMb: kernel.mb, togetherMb }
    openAtEnd = kernel.connections
    await Bun.sleep(SAMPLE_EVERY_MS)
  }
  await doing
  child.kill()
  await child.exited
  return { ...most, openAtEnd }
}

/** The memory of the kernel's buffers for the readers' connections to a port, and how many connections there are. */
async function readKernelMemory(port: string): Promise<{ readonly mb: number; readonly connections: number }> {
  const table = await new Response(Bun.spawn(['ss', '-tmnH', `sport = :${port} and dst 127.0.1.0/24`]).stdout).text()
  // skmem:(r<received>,rb…,t…,tb…,f<reserved>,w<queued to send>,…)
  const rows = [...table.matchAll(/skmem:\(r(\d+),rb\d+,t\d+,tb\d+,f(\d+),w(\d+)/g)]
  const bytes = rows.flatMap(([, ...counts]) => counts.map(Number)).reduce((sum, count) => sum + count, 0)
  return { mb: bytes / 1024 ** 2, connections: rows.length }
}

/**
 * Repaints blocks of the agent with the most blocks, this many times, with messages of the maximum length; returns how
 * many repaints were accepted.
 */
export async function repaintRepeatedly({ url }: World, times: number): Promise<number> {
  const account = privateKeyToAccount(toPrivateKey(1))
  const blocks = CLAIM_ORDER.filter((_, at) => chooseBuyer(at + 1, countAgents(TOTAL_BLOCKS)) === 1).map(formatCoord)
  let accepted = 0
  for (let at = 0; at < times; at++) {
    const block = blocks[at % blocks.length] ?? ''
    const fields = { message: String(at).padEnd(MESSAGE_MAX, '\u{20ac}') }
    const ts = Date.now()
    const signature = await account.signMessage({
      message: formatEditMessage(new URL(url).hostname, block, ts, fields),
    })
    const answer = await fetch(`${url}/blocks/${block}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ts, signature, ...fields }),
    })
    await answer.arrayBuffer()
    if (answer.status === 200) accepted += 1
  }
  return accepted
}
