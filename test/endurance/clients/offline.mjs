// This module is loaded before a client, to keep all of the client's requests on this machine. The local chain responds
// to the client's JSON-RPC calls. Requests to the vendor of the client get only the responses that the client needs to
// continue.

const { fetch: ask } = globalThis
const loopback = /^(127\.0\.0\.1|localhost|\[::1\])$/

const onChain = (body) =>
  ask(process.env.RPC_URL, { method: 'POST', body, headers: { 'content-type': 'application/json' } })

// Before it pays, agentcash queries its vendor for the balance of the wallet.
const balance = ({ network }) =>
  Response.json({ balance: network === 'base' ? 5 : 0, network: 'eip155:8453', paymentNetwork: network, chainId: 8453 })

globalThis.fetch = async (input, init) => {
  const request = new Request(input, init)
  const { hostname, pathname } = new URL(request.url)
  if (loopback.test(hostname)) return await ask(request)
  const body = request.method === 'POST' ? await request.text() : ''
  if (body.includes('"jsonrpc"')) return await onChain(body)
  if (pathname === '/api/balance') return balance(JSON.parse(body))
  return Response.json({}, { status: 404 })
}
