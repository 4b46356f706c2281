/** Repaints a block of yours every minute, for free:  PRIVATE_KEY=0x... npx -y bun@1.4.5 examples/repaint.ts http://127.0.0.1:8402 80,45 60 */
// Use the key of a painter that the purchase named: then the key that pays is not on this machine.

import { setInterval } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'

const [wall = 'http://127.0.0.1:8402', block = '80,45', seconds = '60'] = process.argv.slice(2)
const key = process.env['PRIVATE_KEY'] ?? ''
if (!/^0x[0-9a-fA-F]{64}$/.test(key)) {
  console.error('Set PRIVATE_KEY to the key of a wallet: 0x and 64 hex digits.')
  process.exit(2)
}
const account = privateKeyToAccount(key as `0x${string}`)
const { hostname } = new URL(wall)

/** The minute hand of a clock, as 100 palette indices: two hex digits each, row by row. */
function drawClock(minute: number): string {
  const angle = (minute / 60) * 2 * Math.PI
  const isOnHand = (x: number, y: number) =>
    Math.hypot(x - 4.5 - 3 * Math.sin(angle), y - 4.5 + 3 * Math.cos(angle)) < 1.5
  return Array.from({ length: 100 }, (_, at) => (isOnHand(at % 10, Math.floor(at / 10)) ? 'd2' : '11')).join('')
}

async function repaint(): Promise<void> {
  const ts = Date.now()
  const pixels = drawClock(new Date(ts).getMinutes())
  const message = new Date(ts).toISOString().slice(11, 16)
  const lines = ['set_pixels v2', `block=${block}`, `ts=${ts}`, 'pixels_present=1', `pixels=${pixels}`]
  const text = [hostname, ...lines, 'message_present=1', `message=${message}`, 'link_present=0', 'link='].join('\n')
  const signature = await account.signMessage({ message: text })
  const body = JSON.stringify({ ts, signature, pixels, message })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${wall}/blocks/${block}`, { method: 'PUT', headers, body })
  console.log(answer.status, message)
}

await repaint()
for await (const _ of setInterval(Number(seconds) * 1000)) await repaint()
