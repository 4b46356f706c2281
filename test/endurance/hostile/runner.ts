/** Sends the requests of a catalogue, and reports deviations. */

import type { Case } from './catalogue.ts'
import { fill, replaceTokens, wordsOf } from './fill.ts'
import { recordIn, recordOf } from './json.ts'
import type { Stage } from './stage.ts'
import { type Answer, bytesOf, exchange } from './wire.ts'

/** Sends one case and returns its problems; without problems, the case passes. */
export async function problemsOf(stage: Stage, item: Case): Promise<string[]> {
  const before = stage.changes()
  const answer = await answerTo(stage, item)
  const problems = [...answerProblems(item, answer), ...shapeProblems(item, answer)]
  if (answer.status !== 200 && stage.changes() !== before) problems.push('a row was changed, or a settlement asked for')
  return problems.map((problem) => `${item.id}: ${problem}`)
}

async function answerTo(stage: Stage, item: Case): Promise<Answer> {
  if ('raw' in item) return await exchange(stage.host, replaceTokens(item.raw, wordsOf(stage)))
  const bytes = bytesOf(stage.host, await fill(stage, item))
  return await exchange(stage.host, bytes, { isHead: item.method === 'HEAD' })
}

function answerProblems({ area, expect: { status, code } }: Case, answer: Answer): string[] {
  if (!status.includes(answer.status))
    return [`answered ${answer.status} instead of ${status.join(' or ')}: ${answer.body.slice(0, 120)}`]
  const said = area === 'mcp' ? rpcCodeOf(answer) : wordOf(recordIn(answer.body)['error'])
  if (code === null || (said !== undefined && code.includes(said))) return []
  return [`said ${said} instead of ${code.join(' or ')}`]
}

/** The code of a JSON-RPC error, or of a failed tool. */
function rpcCodeOf({ body }: Answer): string | undefined {
  const { error, result } = recordIn(body)
  const told = recordOf(recordOf(result)['structuredContent'])
  return wordOf(recordOf(error)['code']) ?? wordOf(told['code']) ?? wordOf(told['error'])
}

const wordOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

/** Every error of the wall must have the Error format. */
function shapeProblems(item: Case, { status, headers, body }: Answer): string[] {
  if (status < 400 || 'raw' in item || item.area === 'mcp' || item.method === 'HEAD') return []
  if (status === 402 && (item.headers['accept'] ?? '').includes('html')) return []
  const { error, message } = recordIn(body)
  if (typeof error !== 'string' || typeof message !== 'string') return [`no error and message: ${body.slice(0, 80)}`]
  return status !== 402 && headers.has('payment-required') ? [`asked for payment with ${status}`] : []
}
