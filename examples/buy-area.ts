/** Puts a picture on the wall, paid once:  PRIVATE_KEY=0x... npx -y bun@1.4.5 examples/buy-area.ts http://127.0.0.1:8402 logo.png 4 3 80,45 */

import { readFile } from 'node:fs/promises'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const [wall = 'http://127.0.0.1:8402', file = 'logo.png', w = '4', h = '3', at = 'next'] = process.argv.slice(2)
const key = process.env['PRIVATE_KEY'] ?? ''
if (!/^0x[0-9a-fA-F]{64}$/.test(key)) {
  console.error('Set PRIVATE_KEY to the key of a wallet: 0x and 64 hex digits.')
  process.exit(2)
}
const account = privateKeyToAccount(key as `0x${string}`)

// A PNG or JPEG of at most 2 MiB; the wall scales it to the blocks and converts it to its palette.
const image = (await readFile(file)).toString('base64')
const order = { at, w: Number(w), h: Number(h), image, name: 'Ada', message: 'a picture in one payment' }

// One dollar a block, all of them or none. The client signs no larger payment.
const client = x402Client.fromConfig({
  schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],
  spendControls: { maxAmountPerPayment: `$${order.w * order.h}` },
})
const response = await wrapFetchWithPayment(fetch, client)(new URL('/areas', wall), {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(order),
})

// Every other answer says what happened, whether money moved and what to do. After a 503 send the same request again, never for another area.
console.log(response.status, await response.text())
process.exitCode = response.ok ? 0 : 1
