/** Buys a block with the stock x402 client:  PRIVATE_KEY=0x... npx -y bun@1.4.5 examples/buy.ts http://127.0.0.1:8402 next */

import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const [wall = 'http://127.0.0.1:8402', target = 'next'] = process.argv.slice(2)
const key = process.env['PRIVATE_KEY'] ?? ''
if (!/^0x[0-9a-fA-F]{64}$/.test(key)) {
  console.error('Set PRIVATE_KEY to the key of a wallet: 0x and 64 hex digits.')
  process.exit(2)
}
const account = privateKeyToAccount(key as `0x${string}`)

const block = new URL(`/blocks/${target}`, wall)
block.searchParams.set('name', 'Ada')
block.searchParams.set('message', 'bought with @x402/fetch')

// Asks, gets 402 and the price, signs, and asks again. By default the client signs for one dollar at most.
const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
const response = await wrapFetchWithPayment(fetch, client)(block)

// Every other answer says what happened, whether money moved and what to do. After a 503 send the same request again, never for another block.
console.log(response.status, await response.text())
process.exitCode = response.ok ? 0 : 1
