/** The users of the wall during a soak run: readers, owners who repaint, followers of the live stream, and buyers. */

import type { Socket } from 'bun'
import { encodeRequest, runLoad } from '../../../bench/measure/load.ts'
import { createRepaintSigner } from '../../../bench/scenarios/owners.ts'
import type { LocalNetwork } from '../../../server/local/network.ts'
import { buyUntilEnded, createBuyer } from '../torture/buyers.ts'

/** How many users of each kind there are, or how often they act. */
export type Rates = {
  readonly readsPerSecond: number
  readonly repaintsPerSecond: number
  readonly followers: number // concurrent; once a second, the oldest one leaves and is replaced
  readonly purchases: number // in total, evenly spread
}

/** The results of the crowd so far. */
export type Totals = {
  reads: number
  repaints: number
  events: number // received by all followers together
  bought: number
  busy: number // rejected by an overloaded wall
  readonly wrong: string[] // unexpected responses
}

/** Which wall the crowd visits, for how long, and how many of the wall's blocks are sold. */
export type Visit = { readonly url: string; readonly network: LocalNetwork; readonly ms: number; readonly sold: number }

const PATHS = [
  '/api/canvas',
  '/api/tail',
  '/api/feed?after=14000&limit=200',
  '/api/canvas.bin',
  '/blocks/80,45',
  '/api/health',
  '/',
  '/wall.png?col=70&row=40&cols=20&rows=20&scale=2',
  '/atlas',
  '/api/agents',
  '/card.png?work=80,45',
]

/** Runs the crowd for the given time, and counts the results in `totals`. */
export async function runVisitors(rates: Rates, { url, network, ms, sold }: Visit, totals: Totals): Promise<void> {
  const port = Number(new URL(url).port)
  const sign = await createRepaintSigner(sold)
  const over = AbortSignal.timeout(ms)
  const checkStatus = (what: string, status: number) => {
    if (status === 503) totals.busy++
    else if (status !== 200) totals.wrong.push(`${what}: ${status}`)
    return status === 200
  }
  const followers = createCrowd(port, rates.followers, totals)
  await Promise.all([
    runTurns(1000 / rates.readsPerSecond, over, async (turn) => {
      const path = PATHS[turn % PATHS.length] ?? '/'
      const response = await fetch(url + path, { headers: { 'Accept-Encoding': 'gzip' }, decompress: false })
      await response.arrayBuffer()
      if (checkStatus(path, response.status)) totals.reads++
    }),
    runTurns(1000 / rates.repaintsPerSecond, over, async () => {
      const once = [sign()]
      const { statuses } = await runLoad({ port, getNextRequest: () => once.pop(), connections: 1, ms: 1 })
      for (const status of statuses.keys()) if (checkStatus('repaint', status)) totals.repaints++
    }),
    runTurns(ms / rates.purchases, over, async () => {
      const buyer = createBuyer({ via: 'http', leaves: false, at: 'next' }, await network.createFundedWallet(1))
      await buyUntilEnded(buyer, () => url, 1)
      if (buyer.receipt === undefined) totals.wrong.push(`purchase: ${buyer.refusal}`)
      else totals.bought++
    }),
    runTurns(1000, over, () => followers.replaceOldest()),
  ])
  followers.closeAll()
}

// A wall that is slow because its machine is busy must not be overwhelmed with a backlog.
const AT_ONCE_MAX = 10

/**
 * Starts a turn every `everyMs` until the signal aborts, at most `AT_ONCE_MAX` in parallel; resolves when all are done.
 */
async function runTurns(everyMs: number, over: AbortSignal, turn: (number: number) => Promise<void>): Promise<void> {
  const underWay = new Set<Promise<void>>()
  for (let number = 0; !over.aborted; number++) {
    const one = turn(number).finally(() => underWay.delete(one))
    underWay.add(one)
    if (underWay.size >= AT_ONCE_MAX) await Promise.race(underWay)
    await Bun.sleep(everyMs)
  }
  await Promise.all(underWay)
}

/** Followers of the live stream, each over a separate connection. */
function createCrowd(port: number, count: number, totals: Totals) {
  const sockets: Socket[] = []
  const request = encodeRequest('GET', '/api/live')
  const countData = (_: unknown, chunk: Uint8Array) => {
    totals.events += Buffer.from(chunk).toString('latin1').split('event:').length - 1
  }
  const openStream = async () => {
    const open = (socket: { write(bytes: Uint8Array): number }) => void socket.write(request)
    sockets.push(await Bun.connect({ hostname: '127.0.0.1', port, socket: { open, data: countData } }))
  }
  return {
    /** Disconnects the oldest follower if there are enough, then connects new ones until there are `count`. */
    async replaceOldest() {
      if (sockets.length >= count) sockets.shift()?.end()
      while (sockets.length < count) await openStream()
    },
    closeAll() {
      for (const socket of sockets) socket.end()
    },
  }
}
