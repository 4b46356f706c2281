/** Follows the log as server-sent events. */

import type { ChangeDto, Reset } from '../../shared/contract/live.ts'
import type { Follower } from './follower.ts'

const KINDS = ['sale', 'repaint', 'identity'] satisfies ChangeDto['kind'][]

// After so many failures in a row the page polls.
const FAILURES_MAX = 3
const AGAIN_MS = 3000

// A purchase or a repaint of many blocks arrives block by block. What comes within this time is applied together.
const BATCH_MS = 20

/**
 * Brings what the stream sends until `signal` aborts; calls `giveUp` once after too many failures in a row. The stream
 * begins after the number that the wall shows, and sends every change from there on, so nothing can be missed.
 */
export function followStream(follower: Follower, signal: AbortSignal, giveUp: () => void) {
  let stream: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let waiting: ChangeDto[] = []

  const close = () => {
    clearTimeout(timer)
    waiting = []
    stream?.close()
  }
  const fail = () => {
    follower.setStatus(false)
    failures++
    if (failures >= FAILURES_MAX) {
      close()
      giveUp()
      return
    }
    // The browser reconnects after a lost connection, but not after an answer that is no stream.
    if (stream?.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS)
  }
  const flush = () => {
    const changes = waiting
    waiting = []
    follower.receive(changes)
  }
  const receive = ({ data }: MessageEvent<string>) => {
    const change: ChangeDto = JSON.parse(data)
    if (waiting.push(change) === 1) timer = setTimeout(flush, BATCH_MS)
  }
  const reset = async ({ data }: MessageEvent<string>) => {
    const { number }: Reset = JSON.parse(data)
    // The wall shows all up to there, and what came after follows.
    if (number === follower.number()) return
    close()
    try {
      await follower.readAgain(signal)
      if (!signal.aborted) open()
    } catch {
      if (!signal.aborted) fail()
    }
  }
  const open = () => {
    stream = new EventSource(`/api/live?after=${follower.number()}`)
    for (const kind of KINDS) stream.addEventListener(kind, receive)
    stream.addEventListener('reset' satisfies Reset['kind'], (event) => void reset(event))
    stream.addEventListener('error', fail)
    stream.addEventListener('open', () => {
      failures = 0
      follower.setStatus(true)
    })
  }
  signal.addEventListener('abort', close)
  open()
}
