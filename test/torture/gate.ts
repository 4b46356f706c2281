/** A door in front of an HTTP service that can be shut, as a network does it: connections end without an answer. */

import { createServer } from 'node:http'

export type Gate = {
  readonly url: string
  shut(): void
  open(): void
  stop(): Promise<void>
}

/** Starts an open gate to the service at `url`. */
export async function startGate(url: string): Promise<Gate> {
  let isShut = false
  const server = createServer((request, response) => {
    if (isShut) return void request.socket.destroy()
    const chunks: Uint8Array[] = []
    request.on('data', (chunk: Uint8Array) => chunks.push(chunk))
    request.on('end', () => {
      const { method = 'GET' } = request
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
    open: () => {
      isShut = false
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
