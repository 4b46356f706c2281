/**
 * A separate process that shows the minimum cost of each response on this machine. Its handlers only send the bytes of
 * a response again, or do the minimum work of a write. Argument: an empty folder. `POST /same` with `{url, headers}`
 * stores a response and returns the path that sends it again.
 */

import { join } from 'node:path'
import { connect } from '../../db/sqlite/connection.ts'
import { loadFastestKeys } from '../../server/adapters/wallets/recover.ts'
import { createSegment } from '../../server/http/canvas/precompressed-body.ts'
import { PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import { digestOf, formatEditMessage } from '../../shared/signing.ts'
import floorSql from './floor-server.sql' with { type: 'text' }

const [folder = ''] = process.argv.slice(2)

const keys = await loadFastestKeys()
const connection = connect(join(folder, 'floor.sqlite'))
const [journal = '', createLog = '', createBlocks = '', insert = '', replace = ''] = floorSql.split(';\n')
for (const statement of [journal, createLog, createBlocks]) connection.run(statement)
type Row = { readonly block: number; readonly message: string; readonly pixels: Uint8Array | null }
const append = connection.prepare<unknown, Row>(insert)
const show = connection.prepare<unknown, Row>(replace)

/** Checks who signed a repaint, and stores it with a shared commit. */
async function repaint(request: Request & { readonly params: { readonly coord: string } }): Promise<Response> {
  const { ts, signature, message } = (await request.json()) as { ts: number; signature: `0x${string}`; message: string }
  const { coord } = request.params
  const signer = await keys.recover(digestOf(formatEditMessage('127.0.0.1', coord, ts, { message })), signature)
  if (signer === undefined) return new Response(null, { status: 401 })
  await connection.writeTogether(() => {
    append.run({ block: 0, message, pixels: null })
    show.run({ block: 0, message, pixels: null })
  })
  return Response.json({ updated: true })
}

/** Writes the rows of an area, each block's entry in the log and its new state, in one transaction. */
function writeArea(blocks: number): void {
  const pixels = new Uint8Array(PIXELS_PER_BLOCK)
  connection.write(() => {
    for (let block = 0; block < blocks; block++) {
      const row = { block, message: 'an area', pixels }
      append.run(row)
      show.run(row)
    }
  })
}

/**
 * The parts of a wall's reads that one repaint changes: a row of blocks with its pictures, without them, and its
 * pixels.
 */
async function readChangedParts(wall: string): Promise<readonly Uint8Array[]> {
  const fetchBytes = async (path: string) => await (await fetch(wall + path)).bytes()
  const fetchLongestRow = async (path: string) => {
    const lines = Buffer.from(await fetchBytes(path))
      .toString()
      .split('\n')
    return Buffer.from(lines.toSorted((a, b) => b.length - a.length)[0] ?? '')
  }
  const pixels = await fetchBytes('/api/canvas.bin')
  const row = pixels.subarray(-pixels.length / ROWS)
  return [await fetchLongestRow('/api/canvas'), await fetchLongestRow('/api/blocks'), row]
}

const ROWS = 90

type Kept = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

// Headers that the server of the response sets automatically.
const OWN_HEADERS = ['date', 'content-length', 'connection', 'keep-alive', 'transfer-encoding']

/** Reads a response once, and makes a handler that sends it again. */
async function createReplayHandler({ url, headers: asked }: Kept): Promise<() => Response> {
  const response = await fetch(url, { headers: asked, decompress: false })
  const body = await response.bytes()
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OWN_HEADERS.includes(name)))
  const { status } = response
  return () => new Response(body.length === 0 ? null : body, { status, headers })
}

let parts: readonly Uint8Array[] = []
const same: Record<string, () => Response> = {}
const createRoutes = () => ({
  ...same,
  '/hello': () => new Response('hello'),
  '/blocks/:coord': { PUT: repaint },
  '/area': (request: Request) => {
    writeArea(Number(new URL(request.url).searchParams.get('blocks')))
    return new Response('written')
  },
  '/parts': {
    POST: async (request: Request) => {
      parts = await readChangedParts(await request.text())
      return new Response('kept')
    },
  },
  '/publish': async () => {
    const segments = await Promise.all(parts.map((part) => createSegment(part)))
    return new Response(String(segments.map(({ zstd }) => zstd.length)))
  },
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
