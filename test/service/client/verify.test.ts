import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { numberToHex, pad } from 'viem'
import { verify, type VerifyOptions } from '../../../server/client/wall.ts'
import { TRANSFER, USED } from '../../../shared/chain/arrivals.ts'
import { openNearlySoldWall } from '../../support/nearly-sold.ts'
import { toHash, TERMS, createWalletAddress } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { OFFER, openWall } from '../../support/service/wall.ts'

// Goal: verifying a full wall takes few requests, whatever an endpoint rejects, and an interrupted run continues.
// Method: a wall with some or all blocks sold, and an endpoint that invents the events of the sales: the n-th sale is
// paid in block n of the chain.

const ALL = 14_400
const SOLD = 400
const HEAD = 1_000_000
const PAYEE = createWalletAddress(0xdecade)

const scratch = createScratchFolder()

const walls: Bun.Server<undefined>[] = []
afterAll(async () => {
  for (const wall of walls) await wall.stop(true)
})

/** Opens a wall on which `sold` blocks are sold; returns its address. */
async function openSoldWall(sold: number): Promise<string> {
  const open = await openWall({ payees: new Set([OFFER.terms.payTo, PAYEE]) }, await openNearlySoldWall(ALL - sold))
  const wall = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => open.app.handle(request) })
  walls.push(wall)
  return wall.url.href
}

let url: string
beforeAll(async () => {
  url = await openSoldWall(SOLD)
})

type Call = { readonly id: number; readonly method: string; readonly params: readonly [never, never] }

/** How an endpoint behaves: its limits, and the events that it returns. */
type Manner = {
  readonly calls?: number // maximum calls in one request
  readonly blocks?: number // maximum blocks in one call
  readonly eventsFrom?: number // height from which it has no events
  readonly alsoAt?: number // height of another payment
  readonly busy?: number // number of the request that it rejects as overloaded
}

const createEvents = (height: number) => {
  const where = { address: TERMS.asset, transactionHash: toHash(height), blockNumber: numberToHex(height) }
  return [
    { ...where, topics: [USED, pad(PAYEE), toHash(height)], data: '0x', logIndex: '0x0' },
    { ...where, topics: [TRANSFER, pad(PAYEE), pad(PAYEE)], data: pad('0xf4240'), logIndex: '0x1' },
  ]
}

/** An endpoint of a chain on which this many sales were paid, with one block per second. */
function startEndpoint(
  paid: number,
  { calls: callsMax = 100, blocks: blocksMax = 10_000, eventsFrom = HEAD + 1, alsoAt, busy }: Manner = {},
) {
  const requests: Call[][] = []
  const answerCall = ({ method, params }: Call): object => {
    if (method === 'eth_chainId') return { result: numberToHex(8453) }
    if (method === 'eth_getBlockByNumber') {
      const number = params[0] === 'latest' ? numberToHex(HEAD) : params[0]
      return { result: { number, timestamp: number } }
    }
    if (method === 'eth_getTransactionReceipt')
      return { result: { status: '0x1', logs: createEvents(Number(BigInt(params[0]))) } }
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string }
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    if (to - from + 1 > blocksMax || from >= eventsFrom) return { error: { code: -32_600, message: 'too many blocks' } }
    const heights = Array.from({ length: Math.max(0, Math.min(to, paid) - from + 1) }, (_, at) => from + at)
    const besides = alsoAt !== undefined && from <= alsoAt && alsoAt <= to ? [alsoAt] : []
    return { result: [...heights, ...besides].map((height) => createEvents(height)[1]) }
  }
  const rpc = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const batch = (await request.json()) as Call[]
      requests.push(batch)
      if (requests.length === busy)
        return Response.json(
          batch.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32_016, message: 'over rate limit' } })),
        )
      if (batch.length > callsMax)
        return Response.json({ error: { code: -32_600, message: 'too many calls' } }, { status: 400 })
      return Response.json(batch.map((call) => ({ jsonrpc: '2.0', id: call.id, ...answerCall(call) })))
    },
  })
  return { rpc: [rpc.url.href], requests, [Symbol.dispose]: () => void rpc.stop(true) }
}

const verifyWall = (options: VerifyOptions, name: string, address = url) =>
  verify(address, { ...options, folder: join(scratch, name) })

const createProvedResult = (sold: number) => ({
  findings: [],
  blocks: sold,
  amount: BigInt(sold) * 1_000_000n,
  unbound: sold,
  plain: 0,
})
const PROVED = createProvedResult(SOLD)

test('checking all payments of a full wall takes at most 200 requests of up to 100 calls, and verifying the wall again takes three requests', async () => {
  using chain = startEndpoint(ALL)
  const full = await openSoldWall(ALL)
  const first = await verifyWall(chain, 'full', full)
  expect(first).toMatchObject({ ...createProvedResult(ALL), searched: { from: 1n, through: BigInt(HEAD) } })
  expect(first.requests.payments).toBeLessThanOrEqual(200)
  expect(Math.max(...chain.requests.map(({ length }) => length))).toBe(100)
  // The requests are for the chain's id, its newest block, and the events of blocks that may still be replaced.
  expect(await verifyWall(chain, 'full', full)).toMatchObject({
    ...createProvedResult(ALL),
    requests: { payments: 2, search: 1 },
  })
})

test('verification gives the same result with an endpoint that accepts only a few calls and blocks at a time', async () => {
  using chain = startEndpoint(SOLD, { calls: 10, blocks: 2000 })
  expect(await verifyWall(chain, 'narrow')).toMatchObject(PROVED)
})

test('a search that an endpoint error interrupted continues where it stopped, and reports its progress', async () => {
  using broken = startEndpoint(SOLD, { eventsFrom: 600_000 })
  await expect(verifyWall(broken, 'resumed')).rejects.toMatchObject({ kind: 'unavailable', code: 'chain_unavailable' })
  using chain = startEndpoint(SOLD)
  const searched: (readonly [number, number | undefined])[] = []
  const onProgress: VerifyOptions['onProgress'] = ({ stage, done, total }) =>
    void (stage === 'search' && searched.push([done, total]))
  const report = await verifyWall({ ...chain, onProgress }, 'resumed')
  expect(report).toMatchObject({ ...PROVED, requests: { payments: 2 } })
  expect(searched[0]?.[0]).toBeGreaterThan(600_000)
  expect(searched.at(-1)).toEqual([HEAD - 1, HEAD - 1])
})

test('if an endpoint does not respond, verification uses the next endpoint', async () => {
  using chain = startEndpoint(SOLD)
  expect(await verifyWall({ rpc: ['http://127.0.0.1:9', ...chain.rpc] }, 'next')).toMatchObject(PROVED)
})

test('a payment without a deed is found by its event, and reported with its transaction and nonce', async () => {
  using chain = startEndpoint(SOLD + 1)
  const { findings } = await verifyWall(chain, 'stray')
  expect(findings).toMatchObject([{ kind: 'payment_without_deed', tx: toHash(SOLD + 1), nonce: toHash(SOLD + 1) }])
})

test('a payment without a deed is not reported as an error if it is less than ten minutes old, because its deed may follow', async () => {
  using chain = startEndpoint(SOLD, { alsoAt: HEAD - 599 })
  expect(await verifyWall(chain, 'young')).toMatchObject({ ...PROVED, young: 1 })
})

test('an endpoint that is briefly overloaded gets the same request again', async () => {
  using chain = startEndpoint(SOLD, { busy: 4 })
  const { requests } = await verifyWall(chain, 'busy')
  // The requests are for the chain's id, its newest block, and four batches of receipts, one of which is requested
  // twice.
  expect(requests.payments).toBe(7)
})
