/**
 * Reads the input of callers according to the schemas of the contract: query parameters, bodies, tool arguments and
 * listings.
 */

import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { describeFlaw } from '../shared/contract/kinds.ts'
import { getFieldCode, createFailure, type Failure, type FailureCode } from './domain/failure.ts'

/**
 * The first error in a value. `schema` is the schema of the field with the error; it is `undefined` if the field is
 * unknown or the value is not an object.
 */
export type Flaw = { readonly name: string; readonly schema: TSchema | undefined; readonly value: unknown }

/** A parameter that cannot be read, and so fits no schema. */
export class Unreadable {
  readonly rule: string
  constructor(rule: string) {
    this.rule = rule
  }
}

/** Reads a value, or refuses it. `schema` says what the reader accepts. */
export type Reader<Read> = ((given: unknown) => Read | Failure) & { readonly schema: TObject }

/**
 * Makes the reader of a schema, which fills in defaults. Reports only the first error, because listing all errors of a
 * large body takes longer than sending the body.
 */
export function createReader<Schema extends TObject>(
  schema: Schema,
  refuse: (flaw: Flaw, given: unknown) => Failure,
): Reader<Static<Schema>> {
  const compiled = TypeCompiler.Compile(schema)
  const properties = new Map<string, TSchema>(Object.entries(schema.properties))
  const defaults = [...properties].filter(([, property]) => 'default' in property)
  const filled = Object.fromEntries(defaults.map(([name, property]) => [name, property.default]))
  const read = (given: unknown): Static<Schema> | Failure => {
    const value: unknown = defaults.length === 0 ? given : { ...filled, ...(given as object) }
    if (compiled.Check(value)) return value
    const { path = '', value: found } = compiled.Errors(value).First() ?? {}
    const name = path.slice(1)
    return refuse({ name, schema: properties.get(name), value: found }, given)
  }
  return Object.assign(read, { schema })
}

/**
 * Refuses a field with the field's own failure code, or with `otherwise` if the field has none, and states the field's
 * rule.
 */
export const refuseField =
  (otherwise: FailureCode) =>
  (flaw: Flaw): Failure =>
    createFailure(getFieldCode(flaw.name, otherwise), describeViolation(flaw))

/** The name of a field and its rule, as a sentence. */
export const describeViolation = ({ name, schema = Type.Unknown(), value }: Flaw): string =>
  `${name}${value instanceof Unreadable ? ` ${value.rule}` : describeFlaw(schema, value)}.`
