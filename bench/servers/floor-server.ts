/**
 * A separate process that shows the minimum cost of each response on this machine: its handlers only send the stored
 * bytes of a response again. `POST /same` with `{url, headers}` stores a response and returns the path that sends it
 * again.
 */

type Kept = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

// Headers that Bun's server sets automatically.
const OWN_HEADERS = ['date', 'content-length', 'connection', 'keep-alive', 'transfer-encoding']

/** Reads a response once, and makes a handler that sends it again. */
async function createReplayHandler({ url, headers: asked }: Kept): Promise<() => Response> {
  const response = await fetch(url, { headers: asked, decompress: false })
  const body = await response.bytes()
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OWN_HEADERS.includes(name)))
  const { status } = response
  return () => new Response(body.length === 0 ? null : body, { status, headers })
}

const same: Record<string, () => Response> = {}
const createRoutes = () => ({
  ...same,
  '/same': {
    POST: async (request: Request) => {
      const path = `/same/${Object.keys(same).length}`
      same[path] = await createReplayHandler((await request.json()) as Kept)
      server.reload({ routes: createRoutes() })
      return new Response(path)
    },
  },
})

const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, routes: createRoutes() })
console.log(server.port)
