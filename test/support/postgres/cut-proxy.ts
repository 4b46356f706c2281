/** A TCP proxy in front of a database server; the proxy can cut a connection when the client sends certain words. */

import type { Socket } from 'bun'

/** What can happen to a connection when the client sends the words. */
export type Cut =
  | 'before' // the words never reach the server
  | 'after' // the words reach the server, but its response is lost
  | 'silence' // the response is lost, and the connection stays open in silence

/** A running proxy. */
export type CutProxy = {
  /** The URL of the database, through the proxy. */
  readonly url: string
  /**
   * Cuts the next connection on which the client sends `words`; if `after` is given, the client must have sent `after`
   * earlier on that connection. Resolves after the cut.
   */
  cutAt(words: string, cut: Cut, after?: string): Promise<void>
  /** Cuts every connection, and accepts no new one until `endFailures`. */
  breakDown(): void
  /** Holds back every byte, in both directions and on new connections too, until `endFailures`. */
  freeze(): void
  endFailures(): void
  stop(): void
}

type Ends = {
  server?: Socket<Ends> | undefined
  client?: Socket<Ends>
  isMute: boolean
  isArmed: boolean
  early: Buffer[]
}

/** Starts a proxy in front of the database server in a URL. */
export function startCutProxy(target: string): CutProxy {
  const { hostname, port } = new URL(target)
  const clients = new Set<Socket<Ends>>()
  let isDown = false
  let isFrozen = false
  let kept: (() => void)[] = []
  const sendOrKeep = (send: () => void) => {
    if (isFrozen) kept.push(send)
    else send()
  }
  let trap:
    | { readonly words: string; readonly after: string; readonly cut: Cut; readonly onCut: () => void }
    | undefined

  const toClient = {
    data({ data: ends }: Socket<Ends>, bytes: Buffer) {
      if (ends.isMute) return
      const copy = Buffer.from(bytes)
      sendOrKeep(() => void ends.client?.write(copy))
    },
    close({ data: ends }: Socket<Ends>) {
      if (!ends.isMute) ends.client?.end()
    },
    error() {},
  }
  const listener = Bun.listen<Ends>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(client) {
        client.data = { client, isMute: false, isArmed: false, early: [] }
        if (isDown) {
          client.terminate()
          return
        }
        clients.add(client)
        void Bun.connect<Ends>({ hostname, port: Number(port), data: client.data, socket: toClient }).then(
          (server) => {
            client.data.server = server
            for (const bytes of client.data.early) server.write(bytes)
          },
          () => client.terminate(),
        )
      },
      data(client, bytes) {
        const { data: ends } = client
        if (trap !== undefined && bytes.includes(trap.after)) ends.isArmed = true
        const sprung = trap !== undefined && ends.isArmed && bytes.includes(trap.words) ? trap : undefined
        if (sprung !== undefined) {
          trap = undefined
          ends.isMute = true
        }
        if (sprung?.cut !== 'before') {
          const copy = Buffer.from(bytes)
          sendOrKeep(() => {
            if (ends.server === undefined) ends.early.push(copy)
            else ends.server.write(copy)
          })
        }
        if (sprung === undefined) return
        if (sprung.cut !== 'silence') client.terminate()
        sprung.onCut()
      },
      close(client) {
        clients.delete(client)
        client.data.server?.end()
      },
      error() {},
    },
  })
  const url = new URL(target)
  url.port = String(listener.port)
  return {
    url: url.href,
    cutAt: (words, cut, after = words) => new Promise((resolve) => (trap = { words, after, cut, onCut: resolve })),
    breakDown() {
      isDown = true
      for (const client of clients) client.terminate()
    },
    freeze: () => void (isFrozen = true),
    endFailures() {
      isDown = isFrozen = false
      for (const send of kept) send()
      kept = []
    },
    stop: () => listener.stop(true),
  }
}
