/** A door in front of a chain that can be shut, as a network does it: connections end without an answer; or be narrow. */

import { createServer } from 'node:http'

export type Gate = {
  readonly url: string
  shut(): void
  /** Refuses events of more blocks than so many in one call. */
  narrow(most: number): void
  open(): void
  stop(): Promise<void>
}

/** Starts an open gate to the service at `url`. */
export async function startGate(url: string): Promise<Gate> {
  let isShut = false
  let most = Number.POSITIVE_INFINITY
  const server = createServer((request, response) => {
    if (isShut) return void request.socket.destroy()
    const chunks: Uint8Array[] = []
    request.on('data', (chunk: Uint8Array) => chunks.push(chunk))
    request.on('end', () => {
      const { method = 'GET' } = request
      const refusal = refusalOf(Buffer.concat(chunks).toString(), most)
      if (refusal !== undefined) {
        response.writeHead(400, { 'content-type': 'application/json' })
        return void response.end(refusal)
      }
      const body = method === 'GET' ? {} : { body: Buffer.concat(chunks) }
      fetch(url, { method, ...body, headers: { 'content-type': 'application/json' } })
        .then(async (answer) => {
          if (isShut) return void request.socket.destroy()
          response.writeHead(answer.status, { 'content-type': 'application/json' })
          response.end(await answer.text())
        })
        .catch(() => request.socket.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the gate has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    shut: () => {
      isShut = true
      server.closeAllConnections()
    },
    narrow: (blocks) => {
      most = blocks
    },
    open: () => {
      isShut = false
      most = Number.POSITIVE_INFINITY
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }

/** What is answered to a call for events of more blocks than `most`. */
function refusalOf(body: string, most: number): string | undefined {
  if (!Number.isFinite(most)) return undefined
  const { id, method, params } = JSON.parse(body) as Call
  if (method !== 'eth_getLogs') return undefined
  const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
  if (Number(toBlock) - Number(fromBlock) < most) return undefined
  const error = { code: -32_600, message: `up to a ${most} block range` }
  return JSON.stringify({ jsonrpc: '2.0', id, error })
}
