/** Follows the wall:  npx -y bun@1.4.5 examples/follow.ts http://127.0.0.1:8402 [number of the change to begin after] */

import { setTimeout as pause } from 'node:timers/promises'
import { EventSourceParserStream } from 'eventsource-parser/stream'

const [wall = 'http://127.0.0.1:8402', after] = process.argv.slice(2)

// Each event's id is the number of the change. A client that reconnects with the last one misses nothing and sees nothing twice.
let last = after
for (;;) {
  const headers = last === undefined ? {} : { 'last-event-id': last }
  const response = await fetch(new URL('/api/live', wall), { headers }).catch(() => undefined)
  const events = response?.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  try {
    for await (const { id, data } of events ?? []) {
      last = id ?? last
      console.log(data) // a sale, a repaint or a new name; `reset` says: read /api/canvas, then go on
    }
  } catch {
    console.error('The connection was cut.')
  }
  await pause(2000)
}
