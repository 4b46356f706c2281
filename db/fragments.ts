/**
 * SQL that differs between the engines, as fragments of a text:
 *
 * - `{in integer $list}`, `{not in text $list}`: a condition on the column before it
 * - `{each integer $list}`: a table of `key` (from 0) and `value`
 * - `{each $list i:integer message:text}`: a table of `key` and the named fields of the list's objects
 * - `{bytes $value}`: a value that may be NULL where bytes are expected
 * - `{lock}`, `{lock skip}`: at the end of a SELECT, locks its rows; `skip` passes by those that others have locked
 * - `{index name}`: after a table, the index that SQLite must use
 * - `{damaged table column}`: whether SQLite found the row damaged that the column numbers
 */

import type { Text, Value, Values } from './tx.ts'

/** Where PostgreSQL tells those who listen that an entry was kept. */
export const CHANNEL = 'wall'

/** The engines, as they differ in SQL. */
export type Dialect = 'sqlite' | 'postgres'

/** A text of one engine, ready to be prepared. */
export type Compiled = {
  readonly sql: string
  readonly names: readonly string[] // of its values; on PostgreSQL in the order of their numbers
  readonly isWrite: boolean
  readonly hasRows: boolean
}

const FRAGMENT = /\{(not in|in|each|bytes|lock skip|lock|index|damaged)(?: ([^}]*))?\}/g

type Fragment = (args: readonly string[]) => string

const sqlite: Readonly<Record<string, Fragment>> = {
  in: ([, list]) => `IN (SELECT value FROM json_each(${list}))`,
  'not in': ([, list]) => `NOT IN (SELECT value FROM json_each(${list}))`,
  each: ([first = '', ...fields]) =>
    first.startsWith('$')
      ? `(SELECT key, ${fields
          .map(fieldOf)
          .map(({ name }) => `value ->> '${name}' AS ${name}`)
          .join(', ')} FROM json_each(${first}))`
      : `json_each(${fields[0]})`,
  bytes: ([value]) => `${value}`,
  lock: () => '',
  'lock skip': () => '',
  index: ([name]) => `INDEXED BY ${name}`,
  damaged: ([table, column]) => `${column} IN (SELECT id FROM damaged WHERE name = '${table}')`,
}

const postgres: Readonly<Record<string, Fragment>> = {
  in: ([type, list]) => `= ANY (${list}::${type}[])`,
  'not in': ([type, list]) => `<> ALL (${list}::${type}[])`,
  // A function that makes a set of JSON is guessed to make a hundred rows; of an array the planner guesses ten.
  each: ([first = '', ...fields]) =>
    first.startsWith('$')
      ? `(SELECT ${KEY}, ${fields
          .map(fieldOf)
          .map(({ name, type }) => `(value ->> '${name}')::${type} AS ${name}`)
          .join(', ')} FROM unnest(${first}::json[]) WITH ORDINALITY AS listed (value, place))`
      : `(SELECT ${KEY}, value FROM unnest(${fields[0]}::${first}[]) WITH ORDINALITY AS listed (value, place))`,
  bytes: ([value]) => `${value}::bytea`,
  lock: () => 'FOR UPDATE',
  'lock skip': () => 'FOR UPDATE SKIP LOCKED',
  index: () => '',
  damaged: () => 'false',
}

const KEY = '(place - 1)::integer AS key'

function fieldOf(field: string) {
  const [name = '', type = ''] = field.split(':')
  return { name, type }
}

const FRAGMENTS = { sqlite, postgres } as const

const compiled = { sqlite: new Map<string, Compiled>(), postgres: new Map<string, Compiled>() } as const

/** A text for one engine. Each is compiled once. */
export function compile(text: Text, dialect: Dialect): Compiled {
  const own = typeof text === 'string' ? text : text[dialect]
  const known = compiled[dialect].get(own)
  if (known !== undefined) return known
  const made = compiledOf(own, dialect)
  compiled[dialect].set(own, made)
  return made
}

function compiledOf(text: string, dialect: Dialect): Compiled {
  const expanded = text.replaceAll(FRAGMENT, (_, name: string, args = '') => {
    const fragment = FRAGMENTS[dialect][name]
    if (fragment === undefined) throw new Error(`there is no fragment ${name}`)
    return fragment(String(args).split(' '))
  })
  const names = [...new Set([...expanded.matchAll(/\$([a-zA-Z]\w*)/g)].map(([, name = '']) => name))]
  const sql =
    dialect === 'sqlite'
      ? expanded
      : expanded.replaceAll(/\$([a-zA-Z]\w*)/g, (_, name) => `$${names.indexOf(name) + 1}`)
  const isWrite = /\b(INSERT INTO|UPDATE\s+\w+\s+SET|DELETE FROM)\b/.test(sql)
  return { sql, names, isWrite, hasRows: !isWrite || /\bRETURNING\b/.test(sql) }
}

/** A value as an engine takes it. */
export type Bound = string | number | Uint8Array | null

/** A value of a compiled statement, as the engine takes it. */
export function boundValue(values: Values, name: string, dialect: Dialect): Bound {
  const value = values[name]
  if (value === undefined) throw new Error(`the statement has no value ${name}`)
  if (typeof value === 'boolean') return value ? 1 : 0
  if (isList(value)) return dialect === 'sqlite' ? JSON.stringify(value) : arrayOf(value)
  return value
}

const isList = (value: Value): value is Extract<Value, readonly unknown[]> => Array.isArray(value)

/** A list as PostgreSQL reads an array. */
const arrayOf = (list: readonly (string | number | object)[]): string => `{${list.map(elementOf).join(',')}}`

function elementOf(element: string | number | object): string {
  if (typeof element === 'number') return String(element)
  const text = typeof element === 'string' ? element : JSON.stringify(element)
  return `"${text.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"`
}
