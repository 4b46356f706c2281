/** Every outage of the wall's dependencies: how it begins, its name, and how it ends. */

import { Database } from 'bun:sqlite'
import { cp } from 'node:fs/promises'
import type { DependencyKind } from '../../../server/domain/dependency.ts'
import { multicallAddress } from '../../../server/local/token/contracts.ts'
import { waitUntilArmed } from '../../../server/local/wall-process.ts'
import { inventedHash } from '../../support/chain/faulty-facilitator.ts'
import {
  createStatusFailure,
  answerWithPage,
  type Failing,
  type Front,
  hangForever,
  createPathFailure,
  createResultFailure,
} from '../../support/chain/front.ts'
import { buyBlock, fetchBlock, signBlockPayment } from '../../support/e2e/buyer.ts'
import { mayMount } from '../../support/scratch-folder.ts'
import { type FileStage, isServerOurs, type ServerStage } from './stage.ts'

/** One outage on a stage. */
export type Outage<On> = {
  /** The name that the wall reports: a dependency, or a separate alert. */
  readonly named: DependencyKind | 'older-copy' | 'orphan'
  readonly reason: RegExp
  /** The reason that the wall may report first, if the outage interrupts a request. Then `/readyz` shows `reason`. */
  readonly interrupted?: RegExp
  /** Another outage that comes with this one; for example, a disk is nearly full before it is full. */
  readonly along?: DependencyKind
  readonly begin: (stage: On) => unknown
  readonly end: (stage: On) => unknown
  /** Whether sales continue during the outage. */
  readonly sells?: true
  /**
   * Whether the gate skips the outage, because the outage takes too long or is detected in the same way as another one.
   */
  readonly longOnly?: true
  /** The seconds until the failure counts as an outage, if it does not count immediately. */
  readonly afterSeconds?: number
  /** Whether this machine can cause the outage. */
  readonly isPossible?: boolean
}

const HOST = '127\\.0\\.0\\.1:\\d+'

const createFacilitatorPattern = (words: string) => new RegExp(`^the facilitator at ${HOST} ${words}$`)
const createEndpointPattern = (words: string) => new RegExp(`^the chain endpoint ${HOST} ${words}$`)

// A dependency that stops listening closes the connections that it has not accepted yet.
const CLOSED = 'closes connections before it has responded'

const createFacilitatorOutage = (words: string, begin: (front: Front) => unknown): Outage<FileStage> => ({
  named: 'facilitator',
  reason: createFacilitatorPattern(words),
  begin: ({ facilitator }) => begin(facilitator),
  end: ({ facilitator }) => facilitator.endFailures(),
})

/** An outage for long runs only, because a probe detects it in the same way as other outages. */
const createLongFacilitatorOutage = (words: string, how: Failing): Outage<FileStage> => ({
  ...createFacilitatorOutage(words, (front) => front.failWith(how)),
  longOnly: true,
})

const createBuyerOutage = (words: string, how: Failing): Outage<FileStage> => ({
  ...createFacilitatorOutage(words, () => {}),
  async begin(stage) {
    stage.facilitator.failWith(createPathFailure('/verify', how))
    await tryToBuy(stage)
  },
})

/** An outage of a facilitator that verifies payments but does not settle them. */
const createSettlementOutage = (how: Failing): Outage<FileStage> => ({
  named: 'purchases',
  reason: /^\d+ of \d+ purchases in the last minute failed, most with settlement_unknown$/,
  sells: true,
  longOnly: true,
  async begin(stage) {
    stage.facilitator.failWith(createPathFailure('/settle', how))
    await Promise.all(Array.from({ length: BUYERS }, () => tryToBuy(stage)))
  },
  end: ({ facilitator }) => facilitator.endFailures(),
})

const createEndpointOutage = (words: string, begin: (front: Front) => unknown): Outage<FileStage> => ({
  named: 'chain-endpoint',
  reason: createEndpointPattern(words),
  begin: ({ endpoint }) => begin(endpoint),
  end: ({ endpoint }) => endpoint.endFailures(),
})

const createLongEndpointOutage = (words: string, how: Failing): Outage<FileStage> => ({
  ...createEndpointOutage(words, (front) => front.failWith(how)),
  longOnly: true,
})

/** An outage of one of two facilitators or chain endpoints, during which sales continue. */
const createHalfOutage = (
  which: 'facilitator' | 'endpoint',
  words: string,
  begin: (front: Front) => unknown,
): Outage<ServerStage> => ({
  named: which === 'endpoint' ? 'chain-endpoint' : which,
  reason: which === 'endpoint' ? createEndpointPattern(words) : createFacilitatorPattern(words),
  sells: true,
  begin: (stage) => begin(stage[which]),
  end: (stage) => stage[which].endFailures(),
})

/** Sends a payment for a block from a new wallet, and ignores the response. */
async function tryToBuy(stage: FileStage): Promise<void> {
  const payment = await signBlockPayment(stage.getWall(), await stage.around.createFundedWallet())
  await fetchBlock(stage.getWall(), 'next', payment)
}

const failWithRateLimit = createStatusFailure(429, { 'Retry-After': '3600' })

// If this many purchases fail, the wall reports an outage.
const BUYERS = 6

const CLOCK_OFF_S = 300

/** Returns earlier block times, as if the wall's own clock were ahead. */
const answerEarlierBlock: Failing = async (request, ask) => {
  const isMulticall = (await request.clone().text()).includes(multicallAddress.toLowerCase().slice(2))
  if (isMulticall) return Response.json({ jsonrpc: '2.0', id: 1, error: { code: 3, message: 'execution reverted' } })
  return await createResultFailure('eth_getBlockByNumber', (block) =>
    typeof block === 'object' && block !== null && 'timestamp' in block
      ? { ...block, timestamp: `0x${(Number(block.timestamp) - CLOCK_OFF_S).toString(16)}` }
      : block,
  )(request, ask)
}

/** Makes an endpoint repeat its first response to each call. */
function createStaleFailure(): Failing {
  const answers = new Map<string, unknown>()
  return async (request, ask) => {
    const { id, ...call } = (await request.clone().json()) as { readonly id: number }
    const key = JSON.stringify(call)
    if (!answers.has(key)) answers.set(key, await (await ask(request)).json())
    return Response.json({ ...(answers.get(key) as object), id })
  }
}

// The process is stopped for this part of each second.
const STOPPED_MS = 900

const beats = new Map<number, Timer>()

function pauseRepeatedly({ pid }: { readonly pid: number }): void {
  const pauseBriefly = () => {
    process.kill(pid, 'SIGSTOP')
    setTimeout(() => process.kill(pid, 'SIGCONT'), STOPPED_MS)
  }
  beats.set(pid, setInterval(pauseBriefly, 1000))
}

function resumeProcess({ pid }: { readonly pid: number }): Promise<void> {
  clearInterval(beats.get(pid))
  return Bun.sleep(STOPPED_MS)
}

const locks = new Map<string, Database>()

/** Outages of a wall on a file with one facilitator and one chain endpoint. */
export const ON_A_FILE: Readonly<Record<string, Outage<FileStage>>> = {
  'the facilitator is gone': {
    ...createFacilitatorOutage('cannot be reached', (front) => front.stopListening()),
    interrupted: createFacilitatorPattern(CLOSED),
  },
  'the facilitator hangs': createLongFacilitatorOutage('does not respond', hangForever),
  'the facilitator rejects our API key': createLongFacilitatorOutage(
    'rejects our API key, or needs one \\(401\\)',
    createStatusFailure(401),
  ),
  'the facilitator rate-limits the wall': createLongFacilitatorOutage(
    'is rate-limiting us \\(429\\)',
    createStatusFailure(429),
  ),
  'the facilitator returns status 500': createLongFacilitatorOutage(
    'returns status 500 for /supported',
    createStatusFailure(500),
  ),
  'the facilitator returns a web page': createLongFacilitatorOutage('does not return JSON', answerWithPage),
  'the facilitator supports another network': createFacilitatorOutage('does not support eip155:8453', (front) =>
    front.failWith(() => Response.json({ kinds: [] })),
  ),
  'the facilitator’s certificate is not trusted': createFacilitatorOutage(
    'presents an untrusted certificate .*',
    (front) => front.forgeCertificate(),
  ),
  'the facilitator hangs on verify requests': {
    ...createBuyerOutage('does not respond to verify requests', hangForever),
    longOnly: true,
  },
  'the facilitator returns status 500 for verify requests': createBuyerOutage(
    'returns status 500 for /verify',
    createStatusFailure(500),
  ),
  'the facilitator rejects valid signatures': createBuyerOutage('rejects valid signatures', () =>
    Response.json({ isValid: false, invalidReason: 'invalid_exact_evm_signature' }),
  ),
  'the facilitator verifies but does not settle': createSettlementOutage(createStatusFailure(500)),
  'the facilitator reports settlements that do not exist': createSettlementOutage(() =>
    Response.json({ success: true, transaction: inventedHash, network: 'eip155:8453' }),
  ),
  'the chain endpoint is gone': {
    ...createEndpointOutage('cannot be reached', (front) => front.stopListening()),
    interrupted: createEndpointPattern(CLOSED),
  },
  'the chain endpoint hangs': createLongEndpointOutage('does not respond', hangForever),
  'the chain endpoint rate-limits the wall': createLongEndpointOutage(
    'is rate-limiting us \\(429\\)',
    failWithRateLimit,
  ),
  'the chain endpoint rate-limits the wall, and a purchase is the first to meet the limit': {
    ...createEndpointOutage('is rate-limiting us \\(429\\)', () => {}),
    async begin(stage) {
      const payment = await signBlockPayment(stage.getWall(), await stage.around.createFundedWallet())
      stage.endpoint.failWith(failWithRateLimit)
      await fetchBlock(stage.getWall(), 'next', payment)
    },
  },
  'the chain endpoint returns status 500': createLongEndpointOutage('returns status 500', createStatusFailure(500)),
  'the chain endpoint returns a web page': createLongEndpointOutage('does not return JSON-RPC', answerWithPage),
  'the chain endpoint’s certificate is not trusted': {
    ...createEndpointOutage('presents an untrusted certificate .*', (front) => front.forgeCertificate()),
    longOnly: true,
  },
  'the chain endpoint serves another chain': {
    ...createEndpointOutage('serves eip155:1, not eip155:8453', () => {}),
    begin: (stage) => stage.restart(() => stage.endpoint.failWith(createResultFailure('eth_chainId', () => '0x1'))),
  },
  'the chain produces no blocks': {
    named: 'chain',
    reason: /^the chain has produced no block for more than a minute/,
    longOnly: true,
    afterSeconds: 60,
    begin: ({ around }) => around.network.halt(),
    end: ({ around }) => around.network.resume(),
  },
  'the clock is ahead': {
    named: 'clock',
    reason: /^the clock of this machine is more than 60 s ahead of the newest block$/,
    begin: ({ endpoint }) => endpoint.failWith(answerEarlierBlock),
    end: ({ endpoint }) => endpoint.endFailures(),
  },
  'the wall itself is too slow': {
    named: 'event-loop',
    reason: /^the wall is too slow/,
    sells: true,
    longOnly: true,
    begin: ({ getWall }) => pauseRepeatedly(getWall()),
    end: ({ getWall }) => resumeProcess(getWall()),
  },
  'another program locks the database file': {
    named: 'store-write',
    reason: /another program has locked the file/,
    begin({ databasePath }) {
      const lock = new Database(databasePath)
      lock.run('BEGIN IMMEDIATE')
      locks.set(databasePath, lock)
    },
    end: ({ databasePath }) => locks.get(databasePath)?.close(),
  },
  'the disk is nearly full': {
    named: 'disk',
    reason: /nearly full/,
    sells: true,
    isPossible: mayMount,
    begin: (stage) => stage.disk.fill('part', 40),
    end: (stage) => stage.disk.removeFile('part'),
  },
  'the disk is full': {
    named: 'store-write',
    reason: /the disk is full/,
    along: 'disk',
    isPossible: mayMount,
    begin: (stage) => stage.disk.fill('all', 96),
    end: (stage) => stage.disk.removeFile('all'),
  },
  'an older copy of the database was restored': {
    named: 'older-copy',
    reason: /./,
    longOnly: true,
    async begin(stage) {
      const copy = `${stage.databasePath}.copy`
      await stage.restart(() => cp(stage.databasePath, copy))
      await waitUntilArmed(stage.getWall().url)
      await buyBlock(stage.getWall(), await stage.around.createFundedWallet())
      await stage.restart(() => cp(copy, stage.databasePath))
    },
    end: (stage) => stage.restart(() => stage.runOperatorCommand('accept-restore', '--yes')),
  },
}

const isGone = /^the database (cannot be read|did not respond in time)$/

/** Outages of walls on a database server, which have a second facilitator and a second chain endpoint. */
export const ON_A_SERVER: Readonly<Record<string, Outage<ServerStage>>> = {
  'one of two facilitators is gone': {
    ...createHalfOutage('facilitator', 'cannot be reached', (front) => front.stopListening()),
    interrupted: createFacilitatorPattern(CLOSED),
  },
  'one of two chain endpoints hangs': {
    ...createHalfOutage('endpoint', 'does not respond', (front) => front.failWith(hangForever)),
    longOnly: true,
  },
  'one of two chain endpoints lags behind': createHalfOutage('endpoint', 'lags behind', (front) =>
    front.failWith(createStaleFailure()),
  ),
  'the database server is gone': {
    named: 'store-read',
    reason: isGone,
    begin: ({ proxies }) => proxies.forEach((proxy) => proxy.breakDown()),
    end: ({ proxies }) => proxies.forEach((proxy) => proxy.endFailures()),
  },
  'the database server hangs': {
    named: 'store-read',
    reason: isGone,
    begin: ({ proxies }) => proxies.forEach((proxy) => proxy.freeze()),
    end: ({ proxies }) => proxies.forEach((proxy) => proxy.endFailures()),
  },
  'the database server accepts no writes': {
    named: 'store-write',
    reason: /the server does not accept writes/,
    isPossible: isServerOurs,
    begin: (stage) => stage.changeSetting('default_transaction_read_only', 'on'),
    end: (stage) => stage.changeSetting('default_transaction_read_only', 'off'),
  },
  'the synchronous standby is missing': {
    named: 'standby',
    reason: /^no synchronous standby/,
    isPossible: isServerOurs,
    begin: (stage) => stage.changeSetting('synchronous_standby_names', 'missing'),
    end: (stage) => stage.changeSetting('synchronous_standby_names', ''),
  },
  'one of two instances is cut off': {
    named: 'store-read',
    reason: isGone,
    async begin({ proxies: [proxy], other, around }) {
      proxy.breakDown()
      // Meanwhile the other instance sells a block, and the instance that was cut off must show that sale once it has
      // reconnected.
      await buyBlock(other, await around.createFundedWallet())
    },
    end: ({ proxies: [proxy] }) => proxy.endFailures(),
  },
}
