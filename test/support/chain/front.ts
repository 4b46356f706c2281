/** A proxy in front of a dependency of the wall, with or without TLS, that can be made to fail. */

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { findFreePort } from '../../../server/local/wall-process.ts'

type Certificate = 'trusted' | 'forged'

type Ask = (request: Request) => Promise<Response>

/** Responds to a request in place of the dependency; `ask` forwards the request to the dependency. */
export type Failing = (request: Request, ask: Ask) => Response | Promise<Response>

/** Forwards JSON requests to an address. */
export const createForwarder =
  (url: string): Ask =>
  async (request) =>
    await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: await request.text(),
    })

/** A proxy in front of a dependency; honest by default. */
export type Front = {
  readonly url: string
  failWith(how: Failing): void
  /** Accepts no more connections. */
  stopListening(): void
  /** Presents a certificate that the wall does not trust to each new connection. */
  forgeCertificate(): void
  /** Ends all failures. */
  endFailures(): Promise<void>
  stop(): Promise<void>
}

/** Makes two certificates for loopback in a folder; returns the path of the one that the wall must trust. */
export async function makeCertificates(folder: string): Promise<string> {
  for (const name of ['trusted', 'forged'] satisfies Certificate[])
    await Bun.$`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
      -addext subjectAltName=IP:127.0.0.1 -keyout ${join(folder, `${name}.key`)} -out ${join(folder, `${name}.crt`)}`.quiet()
  return join(folder, 'trusted.crt')
}

/** Opens a proxy in front of a dependency, with the certificates of a folder if one is given. */
export async function openFront(ask: Ask, folder?: string): Promise<Front> {
  let how: Failing | undefined
  const serve = (certificate: Certificate) =>
    Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      ...(folder !== undefined && {
        tls: {
          cert: Bun.file(join(folder, `${certificate}.crt`)),
          key: Bun.file(join(folder, `${certificate}.key`)),
        },
      }),
      async fetch(request) {
        const answer = await (how === undefined ? ask(request) : how(request, ask))
        // A client that kept its connection would not see the next certificate.
        answer.headers.set('Connection', 'close')
        return answer
      },
    })
  const servers = { trusted: serve('trusted'), forged: serve('forged') }
  let shown: Certificate = 'trusted'
  // No other process is given this port while the proxy does not listen.
  const port = await findFreePort()
  // One listener accepts all connections. If it were replaced together with the certificate, a client that connects
  // meanwhile would see another failure: that nobody listens, or that its connection is cut off.
  const listener = createServer((client) => {
    const server = connect(servers[shown].port ?? 0, '127.0.0.1')
    pipeline(client, server, client, () => {})
  })
  const listen = async () => {
    if (!listener.listening) await once(listener.listen(port, '127.0.0.1'), 'listening')
  }
  const stopListening = () => void (listener.listening && listener.close())
  await listen()
  return {
    url: `${folder === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    failWith: (next) => void (how = next),
    stopListening,
    forgeCertificate: () => void (shown = 'forged'),
    async endFailures() {
      how = undefined
      shown = 'trusted'
      await listen()
    },
    async stop() {
      stopListening()
      await Promise.all([servers.trusted.stop(true), servers.forged.stop(true)])
    },
  }
}

export const hangForever: Failing = () => new Promise(() => {})

/** Responds to every request with one status. */
export const createStatusFailure =
  (status: number, headers: Readonly<Record<string, string>> = {}): Failing =>
  () =>
    new Response('{}', { status, headers })

export const answerWithPage: Failing = () =>
  new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html' } })

/** Fails on one path only. */
export const createPathFailure =
  (path: string, how: Failing): Failing =>
  (request, ask) =>
    new URL(request.url).pathname === path ? how(request, ask) : ask(request)

/** Changes the response to a JSON-RPC method: `change` gets the node's result. */
export const createResultFailure =
  (method: string, change: (result: unknown, params: readonly unknown[]) => unknown): Failing =>
  async (request, ask) => {
    const call = (await request.clone().json()) as { readonly method: string; readonly params?: readonly unknown[] }
    const answer = (await (await ask(request)).json()) as { readonly result?: unknown }
    if (call.method !== method || answer.result === undefined) return Response.json(answer)
    return Response.json({ ...answer, result: change(answer.result, call.params ?? []) })
  }
