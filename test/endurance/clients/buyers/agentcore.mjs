// AWS AgentCore payments: the payment manager signs in Amazon's cloud, so this script sends the requests that the
// Python SDK documents. Over HTTP the payment is a header. Over MCP (VIA=mcp), the SDK's middleware puts the same
// header into the argument `headers` of the tool call.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { bytesToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const account = privateKeyToAccount(process.env.PRIVATE_KEY)
const target = new URL(process.env.TARGET)

/** The header that the payment manager makes for a 402; it repeats the resource and extensions of the 402. */
async function paymentHeader({ x402Version, resource, accepts, extensions = {} }) {
  const accepted = accepts.find(({ network }) => network === 'eip155:8453')
  const [now, nonce] = [Math.floor(Date.now() / 1000), bytesToHex(crypto.getRandomValues(new Uint8Array(32)))]
  const authorization = {
    from: account.address,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: `${now - 60}`,
    validBefore: `${now + accepted.maxTimeoutSeconds}`,
    nonce,
  }
  const { name, version } = accepted.extra
  const uint = (field) => ({ name: field, type: 'uint256' })
  const signature = await account.signTypedData({
    domain: { name, version, chainId: 8453, verifyingContract: accepted.asset },
    primaryType: 'TransferWithAuthorization',
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        ...['value', 'validAfter', 'validBefore'].map(uint),
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    message: authorization,
  })
  const payment = { x402Version, resource, accepted, extensions, payload: { signature, authorization } }
  return { 'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(payment, null, 1)).toString('base64') }
}

async function overHttp() {
  const unpaid = await fetch(target)
  const demand = JSON.parse(Buffer.from(unpaid.headers.get('payment-required'), 'base64'))
  const paid = await fetch(target, { headers: await paymentHeader(demand) })
  if (!paid.ok) throw new Error(`${paid.status} ${await paid.text()}`)
}

async function overMcp() {
  const client = new Client({ name: 'agentcore', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', target)))
  const order = { coord: target.pathname.split('/').at(-1), ...Object.fromEntries(target.searchParams) }
  const call = (args) => client.callTool({ name: 'buy_block', arguments: args })
  // The SDK's middleware finds the demand in the text of the response.
  const demand = JSON.parse((await call(order)).content[0].text)
  const { isError, content } = await call({ ...order, headers: await paymentHeader(demand) })
  if (isError) throw new Error(content[0].text)
  await client.close()
}

await (process.env.VIA === 'mcp' ? overMcp() : overHttp())
