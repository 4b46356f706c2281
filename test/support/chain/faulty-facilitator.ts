import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * The faults of a settle call. In a fault whose name contains "after", the real facilitator settles first, so the money
 * has moved.
 */
export type SettleFault = keyof typeof settleFaults

/** The faults of a verify call. No call with a fault reaches the real facilitator. */
export type VerifyFault = keyof typeof verifyFaults

/** Controls and observes one kind of call, verify or settle. The wall's own probes are not counted. */
export type FaultyCall<Fault> = {
  /** Misbehaves once per name, in order; after the last name, the default applies again. */
  queueFaults(...faults: (Fault | 'honest')[]): void
  /** Sets the default: the behaviour whenever no fault is queued. */
  setDefault(fault: Fault | 'honest'): void
  /** How many calls have arrived. */
  countCalls(): number
  /** How many calls the real facilitator has answered. */
  countForwarded(): number
  /** Resolves once the nth call has arrived, counted from 1. */
  waitForCall(nth: number): Promise<void>
  /** Resolves once the real facilitator has answered its nth forwarded call, counted from 1. */
  waitForForward(nth: number): Promise<void>
  /** The bodies that arrived, oldest first, unchanged. */
  listBodies(): readonly string[]
}

/** A facilitator that can be made to misbehave. */
export type FaultyFacilitator = {
  url: string
  verify: FaultyCall<VerifyFault>
  settle: FaultyCall<SettleFault>
  stop(): Promise<void>
}

/** The hash that `invented-hash` reports; no chain has it. */
export const inventedHash = `0x${'ab'.repeat(32)}`

/**
 * Sits between the wall and the real facilitator; honest by default. It forwards requests by function calls, because a
 * process makes at most 256 concurrent requests by `fetch`. The real facilitator's requests to its chain count towards
 * that limit.
 */
export async function startFaultyFacilitator(
  real: (request: Request) => Promise<Response>,
): Promise<FaultyFacilitator> {
  const verify = createCall(verifyFaults)
  const settle = createCall(settleFaults)
  const server = createServer((request, response) => {
    const forward = (body?: string) => forwardRequest(real, request.url ?? '/', body)
    const call = request.url === '/verify' ? verify : request.url === '/settle' ? settle : undefined
    const reply = call ? readBody(request).then((body) => call.answerCall(body, forward)) : forward()
    reply.then((answer) => sendAnswer(response, answer)).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    verify,
    settle,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Answer = { status: number; body: string; type: string } | 'hang' | 'reset'
type Play = (forward: () => Promise<Settled>) => Promise<Answer> | Answer
type Settled = { status: number; body: string; type: string }

const page = '<!doctype html><title>502</title><h1>Bad gateway</h1>'
const createHtmlAnswer = (status: number): Answer => ({ status, body: page, type: 'text/html' })
const garbage: Answer = { status: 200, body: '{"succ', type: 'application/json' }

const createJsonAnswer = (status: number, value: object): Answer => ({
  status,
  body: JSON.stringify(value),
  type: 'application/json',
})

const createInvalidAnswer = (invalidReason: string) => createJsonAnswer(200, { isValid: false, invalidReason })
const createRefusedAnswer = (errorReason: string) => ({
  success: false,
  errorReason,
  transaction: '',
  network: 'eip155:8453',
})

/** Lets the real facilitator settle, and changes its response. */
const rewriteAnswer =
  (status: number, changes: object): Play =>
  async (forward) => {
    const settled: unknown = JSON.parse((await forward()).body)
    return createJsonAnswer(status, { ...(typeof settled === 'object' ? settled : {}), ...changes })
  }

const forwardThenAnswer =
  (answer: Answer): Play =>
  async (forward) => {
    await forward()
    return answer
  }

const pending = { success: false, errorReason: 'settlement_pending' }

const settleFaults = {
  'hang-before': () => 'hang',
  'hang-after': forwardThenAnswer('hang'),
  'error-json-after': forwardThenAnswer(createJsonAnswer(500, { error: 'unexpected_settle_error' })),
  'error-html-after': forwardThenAnswer(createHtmlAnswer(500)),
  'error-before': () => createHtmlAnswer(503),
  'busy-before': () => createJsonAnswer(429, { error: 'too many requests' }),
  'unreadable-before': () => createJsonAnswer(400, { errorType: 'invalid_request' }),
  'failed-after': forwardThenAnswer(createJsonAnswer(200, createRefusedAnswer('invalid_exact_evm_transaction_failed'))),
  'lost-hash-after': rewriteAnswer(200, { transaction: '' }),
  'pending-after': rewriteAnswer(200, pending),
  'pending-500-after': rewriteAnswer(500, pending),
  'invented-hash': () => createJsonAnswer(200, { success: true, transaction: inventedHash, network: 'eip155:8453' }),
  'invented-hash-after': rewriteAnswer(200, { transaction: inventedHash }),
  'reset-before': () => 'reset',
  'reset-after': forwardThenAnswer('reset'),
  'refused-recipient': () => createJsonAnswer(200, createRefusedAnswer('invalid_exact_evm_recipient_mismatch')),
  garbage: () => garbage,
  'garbage-after': forwardThenAnswer(garbage),
} satisfies Record<string, Play>

const verifyFaults = {
  'error-500': () => createJsonAnswer(500, { error: 'unexpected_verify_error' }),
  'error-503': () => createHtmlAnswer(503),
  'error-429': () => createJsonAnswer(429, { error: 'too many requests' }),
  unreadable: () => createJsonAnswer(400, { errorType: 'invalid_request' }),
  hang: () => 'hang',
  reset: () => 'reset',
  garbage: () => garbage,
  'insufficient-funds': () => createInvalidAnswer('invalid_exact_evm_insufficient_balance'),
  'bad-signature': () => createInvalidAnswer('invalid_exact_evm_signature'),
} satisfies Record<string, Play>

function createCall<Fault extends string>(faults: Readonly<Record<Fault, Play>>) {
  const queue: (Fault | 'honest')[] = []
  const bodies: string[] = []
  const arrivals = createCounts()
  const forwards = createCounts()
  let habit: Fault | 'honest' = 'honest'
  return {
    queueFaults: (...names: (Fault | 'honest')[]) => void queue.push(...names),
    setDefault: (name: Fault | 'honest') => void (habit = name),
    countCalls: arrivals.count,
    countForwarded: forwards.count,
    waitForCall: arrivals.waitUntilReached,
    waitForForward: forwards.waitUntilReached,
    listBodies: () => bodies,
    async answerCall(body: string, forward: (body: string) => Promise<Settled>): Promise<Answer> {
      // The wall's own probes may arrive at any time: they get the default behaviour, and no test waits for them.
      if (isProbe(body)) return habit === 'honest' ? await forward(body) : await faults[habit](() => forward(body))
      const name = queue.shift() ?? habit
      bodies.push(body)
      arrivals.increment()
      const answerHonestly = async () => {
        const answer = await forward(body)
        forwards.increment()
        return answer
      }
      return name === 'honest' ? answerHonestly() : faults[name](answerHonestly)
    },
  }
}

/** Whether a body contains the wall's probe, which pays more money than anybody has. */
const isProbe = (body: string) => /"value":"1[0]{24}"/.test(body)

function createCounts() {
  let count = 0
  const waiting = new Set<() => void>()
  return {
    count: () => count,
    increment() {
      count += 1
      for (const wake of waiting) wake()
    },
    waitUntilReached: (nth: number) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          if (count < nth) return
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
        wake()
      }),
  }
}

async function forwardRequest(
  real: (request: Request) => Promise<Response>,
  path: string,
  body?: string,
): Promise<Settled> {
  const init = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }
  const response = await real(new Request(`http://facilitator${path}`, init))
  return { status: response.status, body: await response.text(), type: 'application/json' }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function sendAnswer(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return
  if (answer === 'reset') {
    response.socket?.destroy()
    return
  }
  response.writeHead(answer.status, { 'content-type': answer.type })
  response.end(answer.body)
}
