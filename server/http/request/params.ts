/** Reads query parameters by a schema of the contract, and refuses the first invalid one with its rule. */

import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import { failure, type Failure, type FailureCode } from '../../domain/failure.ts'
import { readInteger, readQuery } from './query.ts'

/** The error code of each parameter. */
export type Codes<Query> = { readonly [Name in keyof Query]-?: FailureCode }

/** Makes the reader of a query. It fills in defaults. */
export function paramsReader<Schema extends TObject>(
  schema: Schema,
  codes: Codes<Static<Schema>>,
): (url: string) => Static<Schema> | Failure {
  const compiled = TypeCompiler.Compile(schema)
  const codeOf = new Map<string, FailureCode>(Object.entries(codes))
  const refuse = (name: string, rule: string) => failure(codeOf.get(name) ?? 'invalid_option', `${name} ${rule}.`)
  return (url) => {
    const given: Record<string, unknown> = {}
    for (const [name, said] of readQuery(url, [...codeOf.keys()])) {
      if ('flaw' in said) return refuse(name, said.flaw)
      given[name] = isInteger(schema.properties[name]) ? readInteger(said.text) : said.text
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
  return `must be one integer from ${minimum}${maximum === undefined ? ' up' : ` to ${maximum}`}, in plain decimal`
}
