/** A catalogue of requests, most of them invalid: one JSON object per line, each with the required response. */

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Expected = Type.Object({
  status: Type.Array(Type.Integer({ minimum: 200, maximum: 599 }), { minItems: 1 }),
  code: Type.Union([Type.Array(Type.String()), Type.Null()]),
})

const Request = Type.Object({
  id: Type.String(),
  area: Type.String(),
  method: Type.String(),
  path: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.Union([Type.String(), Type.Null()]),
  bodyB64: Type.Optional(Type.String()),
  chunked: Type.Optional(Type.Boolean()),
  // The payment in the header: a valid payment with these fields replaced, each named by its path.
  pay: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  expect: Expected,
  note: Type.Optional(Type.String()),
})

const Bytes = Type.Object({
  id: Type.String(),
  area: Type.Literal('raw_http'),
  raw: Type.String(),
  expect: Expected,
  note: Type.Optional(Type.String()),
})

const Case = Type.Union([Request, Bytes])

/** A request in parts, or as bytes, and its required response. A null code matches any code. */
export type Case = Static<typeof Case>
export type RequestCase = Static<typeof Request>

/** Reads a catalogue; throws with the number of the first line that is not in the format. */
export async function readCatalogue(path: string): Promise<readonly Case[]> {
  const lines = (await Bun.file(path).text()).trimEnd().split('\n')
  return lines.map((line, at) => {
    const value: unknown = JSON.parse(line)
    const [flaw] = Value.Errors(Case, value)
    if (flaw !== undefined) throw new Error(`${path}:${at + 1}: ${flaw.path} ${flaw.message}`)
    return Value.Decode(Case, value)
  })
}
