import { afterAll } from 'bun:test'

type Answer = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>

/** Starts servers on loopback for the tests of a file, and stops them afterwards; each call returns an address. */
export function startLoopbackServers(): (answer: Answer) => string {
  const servers: { stop(closeAll: boolean): Promise<void> }[] = []
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop(true)))
  })
  return (answer) => {
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer })
    servers.push(server)
    return `http://127.0.0.1:${server.port}`
  }
}
