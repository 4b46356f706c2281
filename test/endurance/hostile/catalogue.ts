/** A catalogue of bad requests: one JSON a line, each with the answer it must get. */

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Statuses = Type.Array(Type.Integer({ minimum: 0, maximum: 599 }), { minItems: 1 })

const Case = Type.Object({
  id: Type.String(),
  area: Type.String(),
  method: Type.String(),
  path: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.Union([Type.String(), Type.Null()]),
  bodyB64: Type.Optional(Type.String()),
  raw: Type.Optional(Type.String()),
  chunked: Type.Optional(Type.Boolean()),
  expect: Type.Object({ status: Statuses, code: Type.Union([Type.Array(Type.String()), Type.Null()]) }),
  unpaid: Type.Optional(Type.Object({ status: Statuses })),
  pre: Type.Optional(Type.String()),
  note: Type.Optional(Type.String()),
})

/** One request and its answer. Status 0 is a connection that ends without an answer; a null code is any. */
export type Case = Static<typeof Case>

/** Reads a catalogue; throws with the number of the first line that is not in the format. */
export async function readCatalogue(path: string): Promise<readonly Case[]> {
  const lines = (await Bun.file(path).text()).split('\n')
  return lines.flatMap((line, at) => {
    if (line.trim() === '') return []
    const value: unknown = JSON.parse(line)
    const [flaw] = Value.Errors(Case, value)
    if (flaw !== undefined) throw new Error(`${path}:${at + 1}: ${flaw.path} ${flaw.message}`)
    return [Value.Decode(Case, value)]
  })
}

// A catalogue may name a refusal by its kind where the wall is more exact.
const kinds: Readonly<Record<string, string>> = { no_owner: 'not_found', no_purchases: 'not_found' }

/** Whether a code is one of those expected, or a kind of one. */
export function isExpected(code: string | undefined, { expect }: Case): boolean {
  if (expect.code === null) return true
  return code !== undefined && (expect.code.includes(code) || expect.code.includes(kinds[code] ?? ''))
}
