/** Serves the built page and a test wall that changes on request. */

import { addFirstScreen } from '../../../server/discovery/first-screen.ts'
import { computeOccupancy, findOpenSpaces } from '../../../server/domain/wall/open-space.ts'
import { formatContentPolicy } from '../../../server/http/answer/security-headers.ts'
import { listAreaBlocks, parseArea } from '../../../shared/area.ts'
import type { AreaState } from '../../../shared/contract/area.ts'
import type { Canvas, CanvasBlock } from '../../../shared/contract/canvas.ts'
import type { FeedPage, Sale } from '../../../shared/contract/feed.ts'
import {
  type HistoryPage,
  type LogTail,
  type ChangeDto,
  type Mark,
  SHARED_STREAM,
} from '../../../shared/contract/live.ts'
import type { Spaces } from '../../../shared/contract/space.ts'
import { PIXELS_PER_BLOCK } from '../../../shared/pixels.ts'
import { COLS, TOTAL_BLOCKS, formatCoord, isBlockIndex, parseCoord, type BlockIndex } from '../../../shared/wall.ts'
import { requireBuiltPage } from './built-page.ts'
import { canvas as sample, findDeed } from './sample-wall.ts'

export type SampleServer = {
  readonly url: URL
  readonly dist: string
  /** Requested paths, with their query. */
  readonly asked: string[]
  /** Sets the status of responses to reads of the wall, until it is set again. */
  setStatus(status: number): void
  showCanvas(canvas: Canvas): void
  /** Sells a block, and adds it to the log. */
  sellBlock(
    block: BlockIndex,
    agent: Sale['agent'],
    px?: string,
    t?: number,
    words?: Pick<CanvasBlock, 'm' | 'l'>,
  ): void
  /**
   * Sells blocks in one purchase, and returns the purchase's time. Pass the time of an earlier purchase to add blocks
   * to that purchase.
   */
  sellArea(blocks: readonly BlockIndex[], agent: Sale['agent'], t?: number): number
  repaintBlock(block: BlockIndex, px: string): void
  /** Sets whether pages follow the shared stream, which a cache can serve to all of them. */
  shareStream(isShared: boolean): void
  /** Ends all open streams with an `end` event. */
  endStreams(): void
  /**
   * Pauses responses with pixels after this many blocks, until this method is called again; `undefined` pauses none.
   */
  pausePixelsAfter(blocks: number | undefined): void
  stop(): Promise<void>
}

const UNPAINTED = 255

/** Serves the built page on a free port. */
export async function startSampleServer(): Promise<SampleServer> {
  const dist = await requireBuiltPage()
  let status = 200
  let canvas = structuredClone(sample)
  let version = 0
  let held: Held | undefined
  let isShared = false
  const asked: string[] = []
  const log = listChanges(canvas)
  const followers = new Set<ReadableStreamDefaultController<string>>()

  const publishChange = (change: ChangeDto) => {
    log.push(change)
    for (const follower of followers) follower.enqueue(formatEvent(change))
  }

  const openStream = (after: number, first = '') => {
    let self: ReadableStreamDefaultController<string>
    const stream = new ReadableStream<string>({
      start(controller) {
        self = controller
        followers.add(self)
        self.enqueue(`retry: 100\n\n${first}`)
        for (const change of log) if (change.number > after) self.enqueue(formatEvent(change))
      },
      cancel: () => void followers.delete(self),
    })
    return new Response(stream.pipeThrough(new TextEncoderStream()), {
      status,
      headers: { 'content-type': 'text/event-stream' },
    })
  }

  const replaceCanvas = (next: Canvas) => {
    canvas = next
    version++
  }

  const computeNextTime = () => 1_760_000_000_000 + (canvas.stats.lastSaleId + 1) * 60_000

  const sell = (block: BlockIndex, agent: Sale['agent'], t: number, shown: Pick<CanvasBlock, 'px' | 'm' | 'l'>) => {
    const seq = canvas.stats.lastSaleId + 1
    const content = Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined))
    replaceCanvas(addSale(canvas, { i: block, a: agent.id - 1, t, ...content }, agent, seq))
    publishChange({
      number: log.length + 1,
      kind: 'sale',
      seq,
      i: block,
      coord: formatCoord(block),
      t,
      agent,
      ...content,
    })
  }

  const respond = (request: Request, type: string, body: () => BodyInit) => {
    const etag = `W/"${version}"`
    if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers: { etag } })
    const caching = status === 200 ? 'public, max-age=2' : 'no-store'
    const headers = { etag, 'content-type': type, 'cache-control': caching, 'log-number': `${log.length}` }
    return new Response(body(), { status, headers })
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      asked.push(pathname + search)
      if (pathname === '/api/canvas.bin')
        return respond(request, 'application/octet-stream', () => createHeldBody(encodePixels(canvas), held))
      if (pathname === '/api/blocks') return respond(request, 'application/json', () => renderBlocks(canvas))
      if (pathname === '/api/live') return openStream(parseLastEventId(request))
      if (pathname === SHARED_STREAM) return openStream(log.length, formatMark('start', log.length))
      if (pathname === '/api/tail') return Response.json(createTail(log), { status })
      if (pathname === '/api/feed') return Response.json(createFeedPage(log, search), { status })
      if (pathname === '/api/history') return Response.json(createHistoryPage(log, search), { status })
      if (pathname === '/wall.png') return new Response(onePixel, { headers: { 'content-type': 'image/png' } })
      if (pathname.startsWith('/blocks/')) {
        const deed = findDeed(canvas, pathname.slice('/blocks/'.length))
        return Response.json(deed ?? {}, { status: deed ? 200 : 402 })
      }
      if (pathname === '/api/space') return Response.json(findSpaces(canvas, search))
      if (pathname.startsWith('/areas/')) return Response.json(readAreaState(canvas, pathname.slice('/areas/'.length)))
      return createPageResponse(dist, pathname, canvas, isShared)
    },
  })

  return {
    url: server.url,
    dist,
    asked,
    setStatus: (other) => void (status = other),
    showCanvas(next) {
      replaceCanvas(next)
      log.splice(0, log.length, ...listChanges(next))
    },
    sellBlock: (block, agent, px, t = computeNextTime(), words = {}) =>
      sell(block, agent, t, { ...(px === undefined ? {} : { px }), ...words }),
    sellArea(blocks, agent, t = computeNextTime()) {
      for (const block of blocks) sell(block, agent, t, {})
      return t
    },
    repaintBlock(block, px) {
      replaceCanvas({ ...canvas, blocks: canvas.blocks.map((claim) => (claim.i === block ? { ...claim, px } : claim)) })
      const t = 1_760_000_000_000 + (log.length + 1) * 3_600_000
      publishChange({ number: log.length + 1, kind: 'repaint', t, i: block, coord: formatCoord(block), px })
    },
    shareStream: (shared) => void (isShared = shared),
    endStreams() {
      for (const follower of followers) {
        follower.enqueue(formatMark('end', log.length))
        follower.close()
      }
      followers.clear()
    },
    pausePixelsAfter(blocks) {
      held?.resume()
      const { promise, resolve } = Promise.withResolvers<void>()
      held = blocks === undefined ? undefined : { blocks, release: promise, resume: resolve }
    },
    stop: () => server.stop(true),
  }
}

/** A response with a file of the built page; HTML has the headers and the first screen that the service would send. */
async function createPageResponse(
  dist: string,
  pathname: string,
  canvas: Canvas,
  isShared: boolean,
): Promise<Response> {
  const path = pathname === '/' ? '/index.html' : pathname === '/paint' ? '/paint.html' : pathname
  const file = Bun.file(dist + path)
  if (!path.endsWith('.html')) return new Response(file)
  const createHeaders = (html: string) => ({
    'content-type': 'text/html; charset=utf-8',
    ...formatContentPolicy({ built: path === '/index.html' ? 'wall' : 'paint', html }),
  })
  const text = await file.text()
  const built = isShared ? text.replace('</head>', `<meta name="live" content="${SHARED_STREAM}" /></head>`) : text
  if (path !== '/index.html') return new Response(built, { headers: createHeaders(built) })
  const { blocks, agents, pricing } = canvas
  const sold = new Set(blocks.map(({ i }) => i).filter(isBlockIndex))
  const last = agents[blocks.toSorted((a, b) => a.t - b.t).at(-1)?.a ?? -1]
  const lastBuyer = last && (last.name ?? last.wallet)
  const html = addFirstScreen(built, { sold, perBlock: pricing.perBlock, lastBuyer })
  return new Response(html, { headers: createHeaders(html) })
}

const formatEvent = (change: ChangeDto) =>
  `id: ${change.number}\nevent: ${change.kind}\ndata: ${JSON.stringify(change)}\n\n`

const formatMark = (kind: Mark['kind'], number: number) =>
  `event: ${kind}\ndata: ${JSON.stringify({ kind, number } satisfies Mark)}\n\n`

/** The number after which a stream continues. */
const parseLastEventId = ({ headers, url }: Request) =>
  Number(headers.get('last-event-id') ?? new URL(url).searchParams.get('after'))

function addSale(canvas: Canvas, block: CanvasBlock, agent: Sale['agent'], seq: number): Canvas {
  const agents = canvas.agents.filter(({ id }) => id !== agent.id)
  const owned = canvas.agents.find(({ id }) => id === agent.id)?.blocks ?? 0
  const claimed = canvas.stats.claimed + 1
  return {
    ...canvas,
    agents: [...agents, { ...agent, blocks: owned + 1 }].toSorted((a, b) => a.id - b.id),
    blocks: [...canvas.blocks, block].toSorted((a, b) => a.i - b.i),
    stats: {
      ...canvas.stats,
      claimed,
      remaining: TOTAL_BLOCKS - claimed,
      lastSaleId: seq,
      lastClaimedAt: block.t,
    },
  }
}

/** The pixels of all blocks, in the format of the service's `/api/canvas.bin`. */
export function encodePixels({ blocks }: Canvas): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(TOTAL_BLOCKS * PIXELS_PER_BLOCK).fill(UNPAINTED)
  for (const { i, px } of blocks) if (px !== undefined) bytes.set(Uint8Array.fromBase64(px), i * PIXELS_PER_BLOCK)
  return bytes
}

/** A canvas without the pictures of its blocks. */
export const omitPictures = (canvas: Canvas): Canvas => ({
  ...canvas,
  blocks: canvas.blocks.map(({ i, a, t, m, l }) => ({
    i,
    a,
    t,
    ...(m === undefined ? {} : { m }),
    ...(l === undefined ? {} : { l }),
  })),
})

const renderBlocks = (canvas: Canvas) => JSON.stringify(omitPictures(canvas))

/** The number of blocks after which a body is paused, and the end of the pause. */
type Held = { readonly blocks: number; readonly release: Promise<void>; readonly resume: () => void }

function createHeldBody(bytes: Uint8Array<ArrayBuffer>, held: Held | undefined): BodyInit {
  if (held === undefined) return bytes
  const { blocks, release } = held
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.slice(0, blocks * PIXELS_PER_BLOCK))
      await release
      controller.enqueue(bytes.slice(blocks * PIXELS_PER_BLOCK))
      controller.close()
    },
  })
}

function readAreaState(canvas: Canvas, name: string): AreaState {
  const area = parseArea(name)
  const sold = new Set(canvas.blocks.map(({ i }) => i))
  const blocks = area ? listAreaBlocks(area) : []
  const taken = blocks.filter((block) => sold.has(block)).length
  return { area: name, blocks: blocks.length, open: blocks.length - taken, taken, held: 0, price: null, owner: null }
}

function findSpaces(canvas: Canvas, search: string): Pick<Spaces, 'spaces'> {
  const query = new URLSearchParams(search)
  const [w, h] = [Number(query.get('w')), Number(query.get('h'))]
  const sold = new Set(canvas.blocks.map(({ i }) => i))
  const near = parseCoord(query.get('near') ?? '')
  const found = findOpenSpaces(
    computeOccupancy((block) => sold.has(block)),
    { w, h, near, limit: 1 },
  )
  const spaces = found.map(({ at }) => {
    const coord = formatCoord(at)
    return { coord, order: { at: coord, w, h }, price: (w * h).toFixed(2) }
  })
  return { spaces }
}

/** A log that results in the given wall: the wall's sales, ordered by time. */
function listChanges({ blocks, agents }: Canvas): ChangeDto[] {
  const inOrder = blocks.toSorted((a, b) => a.t - b.t)
  return inOrder.flatMap(({ a, ...block }, at) => {
    const agent = agents[a]
    const coord = `${block.i % COLS},${Math.floor(block.i / COLS)}`
    return agent ? [{ number: at + 1, kind: 'sale', seq: at + 1, coord, agent, ...block }] : []
  })
}

const TAIL_CHANGES = 100

function createTail(log: readonly ChangeDto[]): LogTail {
  const after = Math.max(0, log.length - TAIL_CHANGES)
  return { after, nextAfter: log.length, askAgainMs: 4000, changes: log.slice(after) }
}

function createFeedPage(log: readonly ChangeDto[], search: string): FeedPage {
  const query = new URLSearchParams(search)
  const sales = log.flatMap((change) => (change.kind === 'sale' ? [change] : []))
  const after = Number(query.get('after'))
  const page = sales.slice(after, after + Number(query.get('limit')))
  return { nextAfter: after + page.length, hasMore: after + page.length < sales.length, sales: page }
}

function createHistoryPage(log: readonly ChangeDto[], search: string): HistoryPage {
  const query = new URLSearchParams(search)
  const after = Number(query.get('after'))
  const nextAfter = Math.min(after + Number(query.get('limit')), log.length)
  return { nextAfter, hasMore: nextAfter < log.length, changes: log.slice(after, nextAfter) }
}

const onePixel = Uint8Array.fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
)
