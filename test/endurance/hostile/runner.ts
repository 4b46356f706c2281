/** Runs cases against a stage, one by one, and names what was not as it must be. */

import { get, settled } from '../../support/e2e/buyer.ts'
import { type Case, isExpected } from './catalogue.ts'
import { cause } from './faults.ts'
import { recordIn, recordOf } from './json.ts'
import { endlessChunks, play } from './scripts.ts'
import type { Stage } from './stage.ts'
import { ENDLESS, fill, type Filled } from './tokens.ts'
import { type Answer, send } from './wire.ts'

/** How one case went; no problems is a pass. */
export type Outcome = {
  readonly item: Case
  readonly ms: number
  readonly mayWait: boolean
  readonly problems: readonly string[]
}

/** The longest an answer may take that waits for nobody, in milliseconds. */
export const SLOW_MS = 100

// A slow answer is asked for again: a machine that does something else must not look like a slow server.
const TRIES = 3

const dripPattern = /\{\{drip/
const waitingPattern = /\{\{(?:drip|halfclose|abort|sig:contract|sig:\w+:6492)/

/** Whether a case waits for others: faults, slow senders, contract wallets. Sales wait too, for the chain. */
const mayWait = (item: Case) => item.area === 'fault' || waitingPattern.test(`${item.raw ?? ''}${item.body ?? ''}`)

/** Runs all cases; `told` hears of each. Those that drip run beside the others. */
export async function runAll(
  stage: Stage,
  items: readonly Case[],
  told: (outcome: Outcome) => void = () => {},
): Promise<readonly Outcome[]> {
  const isDrip = (item: Case) => dripPattern.test(item.raw ?? '')
  const dripping = items.filter(isDrip).map((item) => runCase(stage, item))
  const outcomes: Outcome[] = []
  for (const item of items.filter((other) => !isDrip(other))) {
    const outcome = await runCase(stage, item)
    told(outcome)
    outcomes.push(outcome)
  }
  for (const outcome of await Promise.all(dripping)) {
    told(outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

async function runCase(stage: Stage, item: Case): Promise<Outcome> {
  let outcome = await tryCase(stage, item)
  for (let tries = 1; tries < TRIES && isSlow(outcome) && outcome.problems.length === 0; tries++)
    outcome = await tryCase(stage, item)
  return isSlow(outcome) ? { ...outcome, problems: [...outcome.problems, `took ${outcome.ms.toFixed(0)} ms`] } : outcome
}

const isSlow = ({ ms, mayWait: waits }: Outcome) => !waits && ms > SLOW_MS

async function tryCase(stage: Stage, item: Case): Promise<Outcome> {
  try {
    return await (item.raw === undefined ? runRequest(stage, item) : runRaw(stage, item, item.raw))
  } catch (error) {
    return { item, ms: 0, mayWait: true, problems: [error instanceof Error ? error.message : String(error)] }
  }
}

async function runRaw(stage: Stage, item: Case, raw: string): Promise<Outcome> {
  const isAlone = !dripPattern.test(raw)
  const before = await stage.rowsVersion()
  const { answer, payment } = await play(stage, raw)
  const problems = [...statusProblems(item, answer)]
  if (payment !== undefined) problems.push(...(await comesTrue(stage, 'next', payment)))
  else if (isAlone && (await stage.rowsVersion()) !== before) problems.push('a row was changed')
  return { item, ms: answer.ms, mayWait: mayWait(item), problems }
}

async function runRequest(stage: Stage, item: Case): Promise<Outcome> {
  const filled = await fill(stage, item)
  const before = await lookAround(stage, filled)
  const mend = item.area === 'fault' ? await cause(stage, item.pre ?? '') : undefined
  const flying = filled.flight === undefined ? undefined : get(stage.world, filled.open, filled.flight)
  const answer = await sendCase(stage, item, filled)
  const beside = await flying
  await mend?.()
  const problems = [...statusProblems(item, answer), ...codeProblems(item, answer), ...shapeProblems(item, answer)]
  const bought = answer.status === 200 && filled.payment !== undefined
  if (beside !== undefined) problems.push(...(await joinProblems(answer, beside)))
  else if (item.area === 'fault') problems.push(...(await faultProblems(stage, item, filled, answer)))
  else if (answer.status !== 200) problems.push(...(await changeProblems(stage, filled, before)))
  if (item.unpaid !== undefined) problems.push(...(await unpaidProblems(stage, item, item.unpaid.status, filled)))
  return { item, ms: answer.ms, mayWait: mayWait(item) || bought, problems }
}

function sendCase(stage: Stage, item: Case, { path, headers, body }: Filled): Promise<Answer> {
  if (item.body === ENDLESS) return endlessChunks(stage, item.method, path)
  return send(stage.host, { method: item.method, target: path, headers, body, chunked: item.chunked === true })
}

type Surroundings = { readonly rows: number; readonly settles: number; readonly balance: bigint }

async function lookAround({ world, rowsVersion }: Stage, { payment }: Filled): Promise<Surroundings> {
  const balance = payment === undefined ? 0n : await world.network.balanceOf(world.payTo)
  return { rows: await rowsVersion(), settles: world.facilitator.settle.count(), balance }
}

function statusProblems({ expect }: Case, { status, body }: Answer): string[] {
  if (expect.status.includes(status)) return []
  return [`answered ${status} instead of ${expect.status.join(' or ')}: ${body.slice(0, 120)}`]
}

function codeProblems(item: Case, answer: Answer): string[] {
  const code = codeOf(item, answer)
  return isExpected(code, item) ? [] : [`said ${code} instead of ${item.expect.code?.join(' or ')}`]
}

/** The code of a refusal: of HTTP's own shape, of JSON-RPC, or of a tool that failed. */
function codeOf(item: Case, { body }: Answer): string | undefined {
  const answer = recordIn(body)
  if (item.area !== 'mcp') return wordOf(answer['error'])
  const rpc = wordOf(recordOf(answer['error'])['code'])
  if (rpc !== undefined) return rpc
  const result = recordOf(answer['result'])
  if (result['isError'] !== true) return wordOf(answer['error'])
  const told = recordOf(result['structuredContent'])
  // What JSON-RPC calls invalid params, tools may say in their own result.
  return wordOf(told['code']) ?? (item.expect.code?.includes('-32602') === true ? '-32602' : wordOf(told['error']))
}

const wordOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

/** Every refusal of ours is in the one shape. */
function shapeProblems({ area, method, headers }: Case, { status, headers: told, body }: Answer): string[] {
  if (status < 400 || area === 'mcp' || area === 'raw_http' || method === 'HEAD') return []
  if (status === 402 && (headers['accept'] ?? '').includes('html')) return []
  const problems: string[] = []
  const { error, message } = recordIn(body)
  if (typeof error !== 'string' || typeof message !== 'string')
    problems.push(`no error and message: ${body.slice(0, 80)}`)
  if (status !== 402 && told.has('payment-required')) problems.push(`asked for payment with ${status}`)
  if (error === 'settlement_unknown' && !told.has('retry-after')) problems.push('no Retry-After')
  return problems
}

/** Nothing changes without a 200: no row, no settlement, no dollar. */
async function changeProblems(stage: Stage, filled: Filled, before: Surroundings): Promise<string[]> {
  const after = await lookAround(stage, filled)
  const problems: string[] = []
  if (after.rows !== before.rows) problems.push('a row was changed')
  if (after.settles !== before.settles) problems.push('a settlement was asked for')
  if (after.balance !== before.balance) problems.push('money moved')
  return problems
}

/** Two entrances, one purchase. */
async function joinProblems({ body }: Answer, beside: Response): Promise<string[]> {
  const receipt = recordIn(await beside.text())
  const tx = wordOf(recordOf(receipt['deed'])['tx'])
  if (beside.status !== 200 || tx === undefined) return [`the purchase over HTTP answered ${beside.status}`]
  return body.includes(tx) ? [] : ['the two answers name different transactions']
}

/** A fault ends as it should: without a settlement where none may be, else with the block, by the same payment. */
async function faultProblems(stage: Stage, item: Case, filled: Filled, answer: Answer): Promise<string[]> {
  const { payment } = filled
  if (payment === undefined) return []
  const problems = answer.headers.has('payment-required') && answer.status >= 500 ? ['asked for payment in doubt'] : []
  const code = codeOf(item, answer)
  if (code === 'database_unavailable' && stage.world.facilitator.settle.bodies().some((body) => isOf(filled, body)))
    problems.push('settled without a claim')
  if (answer.status === 402 || answer.status === 502) return problems
  return [...problems, ...(await comesTrue(stage, filled.open, payment))]
}

const isOf = ({ payer }: Filled, body: string) => payer !== undefined && body.includes(payer.address.toLowerCase())

/** The same payment, sent again, gets its receipt, once the wall knows. */
async function comesTrue(stage: Stage, target: string, payment: string): Promise<string[]> {
  const { status } = await settled(stage.world, target, payment)
  return status === 200 ? [] : [`the same payment later got ${status}`]
}

/** The same request without its payment. */
async function unpaidProblems(
  stage: Stage,
  item: Case,
  statuses: readonly number[],
  filled: Filled,
): Promise<string[]> {
  const headers = Object.fromEntries(Object.entries(filled.headers).filter(([name]) => name !== 'payment-signature'))
  const answer = await sendCase(stage, item, { ...filled, headers })
  return statuses.includes(answer.status) ? [] : [`unpaid it answered ${answer.status}`]
}
