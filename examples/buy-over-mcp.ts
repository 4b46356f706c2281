/** Buys a block over MCP:  PRIVATE_KEY=0x... npx -y bun@1.4.5 examples/buy-over-mcp.ts http://127.0.0.1:8402 next */

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { x402Client } from '@x402/core/client'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { privateKeyToAccount } from 'viem/accounts'

const [wall = 'http://127.0.0.1:8402', coord = 'next'] = process.argv.slice(2)
const key = process.env['PRIVATE_KEY'] ?? ''
if (!/^0x[0-9a-fA-F]{64}$/.test(key)) {
  console.error('Set PRIVATE_KEY to the key of a wallet: 0x and 64 hex digits.')
  process.exit(2)
}
const account = privateKeyToAccount(key as `0x${string}`)

const mcp = new Client({ name: 'example', version: '1.0.0' })
await mcp.connect(new StreamableHTTPClientTransport(new URL('/mcp', wall)))
const purchase = { name: 'buy_block', arguments: { coord, name: 'Ada', message: 'bought over MCP' } }

// Without a payment the tool answers with an error that holds the terms.
const unpaid = await mcp.callTool(purchase)
const terms = unpaid.structuredContent as PaymentRequired & { code: number | string; message: string }
if (terms.code !== 402) throw new Error(terms.message)

// The identical call, with the payment in `_meta`, buys.
const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
const payment = await client.createPaymentPayload(terms)
const paid = await mcp.callTool({ ...purchase, _meta: { 'x402/payment': payment } })

console.log(JSON.stringify(paid.structuredContent))
process.exitCode = paid.isError === true ? 1 : 0
await mcp.close()
