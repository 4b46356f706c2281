/** Reads query parameters strictly, so that no two parsers read a request differently. */

import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import { parseCoord } from '../../../shared/wall.ts'
import { codeOfField, type Failure, failure } from '../../domain/failure.ts'
import type { CardSubject } from '../../domain/picture/card.ts'
import type { WallView } from '../../domain/wall/wall-view.ts'
import { decodePercent, queryOf } from './request-url.ts'

/** A parameter as sent, or why it cannot be read. */
type QueryValue = { readonly text: string } | { readonly flaw: string }

// Parsers disagree about other spellings of a number.
const decimalPattern = /^(?:0|[1-9]\d*)$/

/** Reads the known parameters. All others are ignored. */
export function readQuery<Key extends string>(url: string, keys: readonly Key[]): ReadonlyMap<Key, QueryValue> {
  const values = new Map<Key, QueryValue>()
  const query = queryOf(url)
  if (query === '') return values
  for (const pair of query.split('&')) {
    const [name = '', ...rest] = pair.split('=')
    const decoded = decode(name)
    const key = keys.find((known) => known === decoded)
    if (key === undefined) continue
    values.set(key, values.has(key) ? { flaw: 'must be given only once' } : readValue(rest.join('=')))
  }
  return values
}

/** The texts of the known parameters, without those that cannot be read. */
export function textsIn<Key extends string>(url: string, keys: readonly Key[]): { readonly [Name in Key]?: string } {
  const texts: { [Name in Key]?: string } = {}
  for (const [key, value] of readQuery(url, keys)) if ('text' in value) texts[key] = value.text
  return texts
}

/** Finds the first unknown parameter; an empty name when it cannot be decoded. */
export function unknownParameterIn(url: string, keys: readonly string[]): string | undefined {
  const query = queryOf(url)
  if (query === '') return undefined
  for (const pair of query.split('&')) {
    const [name = ''] = pair.split('=')
    const decoded = decode(name) ?? ''
    if (pair !== '' && !keys.includes(decoded)) return decoded
  }
  return undefined
}

/** Reads a decimal integer from 0 up; `undefined` when it is invalid or not a safe integer. */
export function readInteger(text: string): number | undefined {
  const number = Number(text)
  return decimalPattern.test(text) && Number.isSafeInteger(number) ? number : undefined
}

function readValue(encoded: string): QueryValue {
  const text = decode(encoded)
  return text === undefined ? { flaw: 'must be percent-encoded UTF-8' } : { text }
}

// A form writes a space as a plus.
const decode = (text: string) => decodePercent(text.replaceAll('+', ' '))

/** Makes the reader of a query. It fills in defaults. */
export function paramsReader<Schema extends TObject>(schema: Schema): (url: string) => Static<Schema> | Failure {
  const compiled = TypeCompiler.Compile(schema)
  const names = Object.keys(schema.properties)
  const refuse = (name: string, rule: string) => failure(codeOfField(name, 'invalid_option'), `${name} ${rule}.`)
  return (url) => {
    const given: Record<string, unknown> = {}
    for (const [name, value] of readQuery(url, names)) {
      if ('flaw' in value) return refuse(name, value.flaw)
      given[name] = isInteger(schema.properties[name]) ? readInteger(value.text) : value.text
      // `undefined` would mean that the parameter was not given.
      if (given[name] === undefined) return refuse(name, ruleOf(schema.properties[name]))
    }
    const query: unknown = Value.Default(schema, given)
    if (compiled.Check(query)) return query
    const name = compiled.Errors(query).First()?.path.slice(1) ?? ''
    return refuse(name, ruleOf(schema.properties[name]))
  }
}

const isInteger = (schema: TSchema | undefined) => schema?.['type'] === 'integer'

function ruleOf(schema: TSchema = Type.Unknown()): string {
  const { anyOf, type, minimum, maximum, pattern } = schema
  if (Array.isArray(anyOf)) return `must be one of ${anyOf.map((choice: TSchema) => choice['const']).join(', ')}`
  if (type !== 'integer') return `must match ${pattern}`
  return `must be an integer from ${minimum}${maximum === undefined ? ' up' : ` to ${maximum}`}, in plain decimal digits`
}

/** Reads the subject from a query; the wall when it names none. Invalid values are left to the page. */
export function subjectOf(url: string, view: WallView): CardSubject {
  const given = textsIn(url, ['block', 'work', 'agent'])
  const block = parseCoord(given.block ?? '')
  if (block !== undefined) return { kind: 'block', block }
  const work = parseCoord(given.work ?? '')
  if (work !== undefined) return { kind: view.claimed.has(work) ? 'work' : 'block', block: work }
  const agent = agentNamed(view, given.agent)
  return agent === undefined ? { kind: 'wall' } : { kind: 'agent', agent }
}

/** Finds an agent by its number or by its wallet, in full or truncated. */
const agentNamed = ({ agentByName }: WallView, text = ''): number | undefined => agentByName.get(text.toLowerCase())?.id
