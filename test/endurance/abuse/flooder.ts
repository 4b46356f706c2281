/**
 * A process that floods a wall until its time is over, from one loopback address or from many. Its one argument is a
 * `FloodOrder` in JSON; it writes what came of it, a `FloodCounts`, to standard output.
 */

import { connect } from 'node:net'
import { FLOODS, type Flood, type FloodName, type Target } from './floods.ts'

/** What to do: for `ms`, over so many connections from so many addresses. */
export type FloodOrder = {
  readonly flood: FloodName
  readonly connections: number
  readonly addresses: number
  readonly ms: number
  readonly target: Target
}

/** How many answers had each status, how many connections failed, and how many streams were told to read the canvas. */
export type FloodCounts = {
  readonly statuses: Readonly<Record<string, number>>
  readonly broken: number
  readonly resets: number
}

const HEAD_END = '\r\n\r\n'
const AGAIN_MS = 50

const order = JSON.parse(Bun.argv[2] ?? '') as FloodOrder
const flood: Flood = FLOODS[order.flood]
const { hostname, port } = new URL(`http://${order.target.host}`)
const until = performance.now() + order.ms
const isOver = () => performance.now() >= until

const statuses: Record<string, number> = {}
let [asked, broken, resets] = [0, 0, 0]

/** One connection after another, each from the same address, until the time is over. */
async function client(localAddress: string): Promise<void> {
  while (!isOver()) {
    await converse(localAddress)
    await Bun.sleep(AGAIN_MS)
  }
}

function converse(localAddress: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  const timer = setTimeout(() => socket.destroy(), Math.max(0, until - performance.now()))
  const ask = async () => {
    if (isOver()) return void socket.destroy()
    socket.write(await flood.request(asked++, order.target))
  }
  let head = ''
  let missing: number | undefined
  socket.on('connect', () => void ask())
  socket.on('data', (chunk: Buffer) => {
    if (flood.stays === true && missing === Number.POSITIVE_INFINITY)
      return void (resets += countOf(chunk, 'event: reset'))
    if (missing === undefined) {
      head += chunk.toString('latin1')
      const end = head.indexOf(HEAD_END)
      if (end < 0) return
      const status = head.slice(9, 12)
      statuses[status] = (statuses[status] ?? 0) + 1
      const length = /^content-length: *(\d+)/im.exec(head.slice(0, end))?.[1]
      missing = length === undefined ? Number.POSITIVE_INFINITY : Number(length) - (head.length - end - HEAD_END.length)
      if (missing === Number.POSITIVE_INFINITY) resets += countOf(Buffer.from(head), 'event: reset')
      head = ''
    } else missing -= chunk.length
    if (missing > 0) return
    missing = undefined
    void ask()
  })
  socket.on('error', () => broken++)
  socket.on('close', () => {
    clearTimeout(timer)
    resolve()
  })
  return promise
}

const countOf = (chunk: Buffer, word: string) => chunk.toString('latin1').split(word).length - 1

const addressOf = (at: number) =>
  `127.0.${1 + Math.floor((at % order.addresses) / 250)}.${1 + ((at % order.addresses) % 250)}`

await Promise.all(Array.from({ length: order.connections }, (_, at) => client(addressOf(at))))
console.log(JSON.stringify({ statuses, broken, resets } satisfies FloodCounts))
process.exit(0)
