/** Reads query parameters strictly, so that no two parsers read a request differently. */

import type { Static, TObject } from '@sinclair/typebox'
import { parseCoord } from '../../../shared/wall.ts'
import { isFailure, type Failure } from '../../domain/failure.ts'
import type { CardSubject } from '../../domain/picture/card.ts'
import type { WallView } from '../../domain/wall/wall-view.ts'
import { createReader, refuseField, Unreadable } from '../../read.ts'
import { refuse } from '../answer/refuse.ts'
import { decodePercent, getQuery } from './request-url.ts'

// Parsers disagree about integers that are written in any other form, such as `01` or `1e3`.
const decimalPattern = /^(?:0|[1-9]\d*)$/

/** The parameters of a query. If a name cannot be decoded, the empty name is used. */
export function readParams(url: string): Readonly<Record<string, unknown>> {
  // Without a prototype, even `__proto__` is an ordinary parameter name.
  const params: Record<string, unknown> = Object.create(null)
  for (const pair of getQuery(url).split('&')) {
    if (pair === '') continue
    const [encoded = '', ...rest] = pair.split('=')
    const name = decodeParam(encoded) ?? ''
    const text = decodeParam(rest.join('=')) ?? new Unreadable('must be percent-encoded UTF-8')
    params[name] = name in params ? new Unreadable('must be given only once') : text
  }
  return params
}

/** The parameters whose values can be read; the others are left out. */
export const readTexts = (url: string): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(readParams(url)).filter((param): param is [string, string] => typeof param[1] === 'string'),
  )

/** Reads a decimal integer of at least 0; `undefined` if it is invalid or not a safe integer. */
export function readInteger(text: unknown): number | undefined {
  const number = Number(text)
  return typeof text === 'string' && decimalPattern.test(text) && Number.isSafeInteger(number) ? number : undefined
}

// HTML forms encode a space as a plus.
const decodeParam = (text: string) => decodePercent(text.replaceAll('+', ' '))

/** Creates a function that reads a query by its schema. It ignores unknown parameters. */
export function createParamsReader<Schema extends TObject>(schema: Schema): (url: string) => Static<Schema> | Failure {
  const read = createReader(schema, refuseField('invalid_option'))
  const properties = Object.entries(schema.properties)
  return (url) => {
    const params = readParams(url)
    const given: Record<string, unknown> = {}
    for (const [name, { type }] of properties) {
      const text = params[name]
      if (text !== undefined) given[name] = type === 'integer' ? (readInteger(text) ?? text) : text
    }
    return read(given)
  }
}

type Answer<Query> = (query: Query, request: Request) => Response | Promise<Response>

/**
 * Makes the handler of a route with a query. Elysia would keep only one of two parameters with the same name, split
 * text at commas and send its own error bodies. So the handler, not the Elysia route, has the query's schema, and
 * exposes it as `documents`.
 */
export function createQueryHandler<Schema extends TObject>(schema: Schema, answer: Answer<Static<Schema>>) {
  const read = createParamsReader(schema)
  const handle = async ({ request }: { readonly request: Request }): Promise<Response> => {
    const query = read(request.url)
    return isFailure(query) ? refuse(query) : await answer(query, request)
  }
  return Object.assign(handle, { documents: schema })
}

/** Reads the subject of a page from its query; returns the wall if there is none. The page reports invalid values. */
export function readSubject(url: string, view: WallView): CardSubject {
  const given = readTexts(url)
  const block = parseCoord(given['block'] ?? '')
  if (block !== undefined) return { kind: 'block', block }
  const work = parseCoord(given['work'] ?? '')
  if (work !== undefined) return { kind: view.claimed.has(work) ? 'work' : 'block', block: work }
  const agent = findAgent(view, given['agent'])
  return agent === undefined ? { kind: 'wall' } : { kind: 'agent', agent }
}

/** Finds an agent by its number, or by its full or truncated wallet address. */
const findAgent = ({ agentByName }: WallView, text = ''): number | undefined => agentByName.get(text.toLowerCase())?.id
