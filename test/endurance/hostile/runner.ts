/** Sends the requests of a catalogue, and reports how the responses differ from the required ones. */

import type { Case } from './catalogue.ts'
import { fillRequest, replaceTokens, createTokenLookup } from './fill.ts'
import { parseRecord, toRecord } from './json.ts'
import type { Stage } from './stage.ts'
import { type Answer, encodeWireRequest, exchangeBytes } from './wire.ts'

/** Sends the request of one case and returns its problems; if there are none, the case passes. */
export async function findProblems(stage: Stage, item: Case): Promise<string[]> {
  const before = stage.readState()
  const answer = await fetchAnswer(stage, item)
  const problems = [...listAnswerProblems(item, answer), ...listShapeProblems(item, answer)]
  const changed = [...stage.readState()].filter(([name, rows]) => before.get(name) !== rows)
  if (answer.status !== 200 && changed.length > 0) problems.push(`changed ${changed.map(([name]) => name).join()}`)
  return problems.map((problem) => `${item.id}: ${problem}`)
}

async function fetchAnswer(stage: Stage, item: Case): Promise<Answer> {
  if ('raw' in item) return await exchangeBytes(stage.host, replaceTokens(item.raw, createTokenLookup(stage)))
  const bytes = encodeWireRequest(stage.host, await fillRequest(stage, item))
  return await exchangeBytes(stage.host, bytes, { isHead: item.method === 'HEAD' })
}

function listAnswerProblems({ area, expect: { status, code } }: Case, answer: Answer): string[] {
  if (!status.includes(answer.status))
    return [`responded with ${answer.status} instead of ${status.join(' or ')}: ${answer.body.slice(0, 120)}`]
  const said = area === 'mcp' ? findRpcCode(answer) : toText(parseRecord(answer.body)['error'])
  if (code === null || (said !== undefined && code.includes(said))) return []
  return [`returned the code ${said} instead of ${code.join(' or ')}`]
}

/** The code of a JSON-RPC error, or of a failed tool call. */
function findRpcCode({ body }: Answer): string | undefined {
  const { error, result } = parseRecord(body)
  const content = toRecord(toRecord(result)['structuredContent'])
  return toText(toRecord(error)['code']) ?? toText(content['code']) ?? toText(content['error'])
}

const toText = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

/** Returns a problem if an error response lacks the Error format, or a response other than a 402 asks for payment. */
function listShapeProblems(item: Case, { status, headers, body }: Answer): string[] {
  if (status < 400 || 'raw' in item || item.area === 'mcp' || item.method === 'HEAD') return []
  if (status === 402 && (item.headers['accept'] ?? '').includes('html')) return []
  const { error, message } = parseRecord(body)
  if (typeof error !== 'string' || typeof message !== 'string')
    return [`the body lacks an error or a message: ${body.slice(0, 80)}`]
  return status !== 402 && headers.has('payment-required') ? [`asked for payment in a ${status} response`] : []
}
