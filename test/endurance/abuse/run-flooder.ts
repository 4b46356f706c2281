/**
 * A process that floods a wall as ordered, from one loopback address or from many, and sends each result to its parent.
 */

import { connect } from 'node:net'
import type { FloodCounts, FloodOrder } from './flood-from.ts'
import { FLOODS, RESET, type Flood } from './floods.ts'

const HEAD_END = '\r\n\r\n'
const AGAIN_MS = 50
const DRIPS_EVERY_MS = 1000

process.on('message', (order: FloodOrder) => {
  void runFlood(order).then((counts) => process.send?.(counts))
})

async function runFlood({ flood: name, target, addresses, connections, ms }: FloodOrder): Promise<FloodCounts> {
  const flood: Flood = FLOODS[name]
  const { hostname, port } = new URL(`http://${target.host}`)
  const until = performance.now() + ms
  const isOver = () => performance.now() >= until
  const statuses: Record<string, number> = {}
  let [asked, broken, resets] = [0, 0, 0]

  /** Opens one connection after another, all from the same address, until the time is up. */
  async function runClient(localAddress: string): Promise<void> {
    while (!isOver()) {
      await runConnection(localAddress)
      await Bun.sleep(AGAIN_MS)
    }
  }

  function runConnection(localAddress: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = connect({ host: hostname, port: Number(port), localAddress })
    let isServed = flood.stays === undefined // whether the connection may be closed when the time is up
    const closeIfServed = () => {
      if (isServed) socket.destroy()
    }
    const timer = setTimeout(closeIfServed, Math.max(0, until - performance.now()))
    const dripping = flood.drips === true ? setInterval(() => socket.write('1'), DRIPS_EVERY_MS) : undefined
    let awaited = 0 // responses that are still to come
    let head = ''
    let missing = 0 // bytes of the current body that are still to come
    const sendNext = async () => {
      if (isOver() && isServed) return void socket.destroy()
      awaited = flood.pipelined ?? 1
      const requests = Array.from({ length: awaited }, () => flood.createRequest(asked++, target))
      socket.write(Buffer.concat(await Promise.all(requests)))
    }
    const receiveChunk = (chunk: Buffer): void => {
      const ofBody = Math.min(missing, chunk.length)
      missing -= ofBody
      if (flood.stays !== undefined) {
        const text = chunk.subarray(0, ofBody).toString('latin1')
        resets += countOccurrences(text, RESET)
        isServed ||= text.includes(flood.stays)
      }
      const rest = chunk.subarray(ofBody)
      if (ofBody > 0 && missing === 0) awaited--
      if (rest.length === 0) return
      head += rest.toString('latin1')
      const end = head.indexOf(HEAD_END)
      if (end < 0) return
      const status = head.slice(9, 12)
      statuses[status] = (statuses[status] ?? 0) + 1
      const length = /^content-length: *(\d+)/im.exec(head.slice(0, end))?.[1]
      missing = length === undefined ? Number.POSITIVE_INFINITY : Number(length)
      if (missing === 0) awaited--
      const body = Buffer.from(head.slice(end + HEAD_END.length), 'latin1')
      head = ''
      receiveChunk(body)
    }
    socket.on('connect', () => void sendNext())
    socket.on('data', (chunk: Buffer) => {
      receiveChunk(chunk)
      isServed ||= awaited === 0
      if (isOver()) closeIfServed()
      else if (awaited === 0) void sendNext()
    })
    socket.on('error', () => broken++)
    socket.on('close', () => {
      clearTimeout(timer)
      clearInterval(dripping)
      resolve()
    })
    return promise
  }

  const createLocalAddress = (at: number) =>
    `127.0.${1 + Math.floor((at % addresses) / 250)}.${1 + ((at % addresses) % 250)}`

  await Promise.all(Array.from({ length: connections }, (_, at) => runClient(createLocalAddress(at))))
  return { statuses, broken, resets }
}

const countOccurrences = (text: string, word: string) => text.split(word).length - 1
