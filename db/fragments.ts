/**
 * SQL that differs between the engines, as fragments of a statement's text:
 *
 * - `{in integer $list}`: a condition that the column before it equals a member of the list
 * - `{each integer $list}`: a table of `key` (from 0) and `value`
 * - `{rows $list i:integer message:text}`: a table of `key` and the named fields of the list's objects
 * - `{bytes $value}`: a value that may be NULL where bytes are expected
 * - `{lock}`: at the end of a SELECT, locks its rows
 * - `{index name}`: after a table, the index that SQLite must use
 * - `{damaged table column}`: on SQLite, whether the row whose number is in the column is known to be damaged
 * - `{sqlite ...}`: SQL for SQLite alone
 *
 * A list with one member is not passed as a list: the member is bound directly, so that no engine has to read JSON or
 * an array.
 */

import type { Statement, Value, Values } from './tx.ts'

/** The channel on which PostgreSQL notifies listeners of a new log entry. */
export const CHANNEL = 'wall'

/** The SQL dialects of the engines. */
export type Dialect = 'sqlite' | 'postgres'

/** A value as an engine accepts it. */
export type Bound = string | number | Uint8Array | null

/** A statement's text compiled for one engine, ready to be prepared. */
export type Compiled = {
  readonly sql: string
  /** Returns a statement's values in the order of their placeholders. */
  readonly bind: (values: Values) => Bound[]
  readonly isWrite: boolean
  readonly hasRows: boolean
}

const FRAGMENT = /\{(in|each|rows|bytes|lock|index|damaged|sqlite)(?: ([^}]*))?\}/g
const VALUE = /\$([a-zA-Z]\w*(?:\.\w+)?)/g

type Fragment = (args: readonly string[]) => string

const sqlite: Readonly<Record<string, Fragment>> = {
  in: ([, list]) => `IN (SELECT value FROM json_each(${list}))`,
  each: ([, list]) => `json_each(${list})`,
  rows: ([list, ...fields]) =>
    `(SELECT key, ${renderColumns(fields, (name) => `value ->> '${name}'`)} FROM json_each(${list}))`,
  bytes: ([value]) => `${value}`,
  lock: () => '',
  index: ([name]) => `INDEXED BY ${name}`,
  damaged: ([table, column]) => `${column} IN (SELECT id FROM damaged WHERE name = '${table}')`,
  sqlite: (words) => words.join(' '),
  ...createOneMemberFragments((value) => value),
}

const postgres: Readonly<Record<string, Fragment>> = {
  in: ([type, list]) => `= ANY (${list}::${type}[])`,
  each: ([type, list]) =>
    `(SELECT ${KEY}, value FROM unnest(${list}::${type}[]) WITH ORDINALITY AS listed (value, place))`,
  // The list is an array because the planner expects ten rows from an array, but a hundred from a function over JSON.
  rows: ([list, ...fields]) => `
    (SELECT ${KEY}, ${renderColumns(fields, (name, type) => `(value ->> '${name}')::${type}`)}
    FROM unnest(${list}::json[]) WITH ORDINALITY AS listed (value, place))`,
  bytes: ([value]) => `${value}::bytea`,
  lock: () => 'FOR UPDATE',
  index: () => '',
  damaged: () => 'false',
  sqlite: () => '',
  ...createOneMemberFragments((value, type) => `${value}::${type}`),
}

/** The list fragments for a list with one member; `typed` casts a value to a type. */
function createOneMemberFragments(typed: (value: string, type: string) => string): Readonly<Record<string, Fragment>> {
  return {
    'in one': ([type = '', list = '']) => `= ${typed(list, type)}`,
    'each one': ([type = '', list = '']) => `(SELECT 0 AS key, ${typed(list, type)} AS value)`,
    'rows one': ([list, ...fields]) =>
      `(SELECT 0 AS key, ${renderColumns(fields, (name, type) => typed(`${list}.${name}`, type))})`,
  }
}

const KEY = '(place - 1)::integer AS key'

/** SQL that reads each field as a column; `read` renders a field's value from its name and type. */
function renderColumns(fields: readonly string[], read: (name: string, type: string) => string): string {
  const named = fields.map((field) => field.split(':'))
  return named.map(([name = '', type = '']) => `${read(name, type)} AS ${name}`).join(', ')
}

const FRAGMENTS = { sqlite, postgres } as const
const NUMBER = { sqlite: '?', postgres: '$' } as const

/** A text compiled for one engine: the lists it uses, and one compiled form per combination of one-member lists. */
type Known = { readonly lists: readonly string[]; readonly forms: Compiled[] }

const known = { sqlite: new Map<string, Known>(), postgres: new Map<string, Known>() } as const

/** Compiles a statement for one engine, only once per text and combination of its one-member lists. */
export function compileStatement({ text, values }: Pick<Statement, 'text' | 'values'>, dialect: Dialect): Compiled {
  const own = typeof text === 'string' ? text : text[dialect]
  let all = known[dialect].get(own)
  if (all === undefined) {
    all = { lists: findListNames(own), forms: [] }
    known[dialect].set(own, all)
  }
  const { lists, forms } = all
  const form = lists.reduce((bits, list, at) => (isListOfOne(values[list]) ? bits | (1 << at) : bits), 0)
  return (forms[form] ??= compileText(own, dialect, new Set(lists.filter((_, at) => (form & (1 << at)) !== 0))))
}

const findListNames = (text: string): readonly string[] => [
  ...new Set(
    [...text.matchAll(FRAGMENT)].flatMap(([, name = '', args = '']) => findListName(name, args.split(' ')) ?? []),
  ),
]

/** The name of the list that a fragment reads, if it reads one. */
const findListName = (name: string, args: readonly string[]): string | undefined =>
  ['in', 'each', 'rows'].includes(name) ? args.find((arg) => arg.startsWith('$'))?.slice(1) : undefined

function compileText(text: string, dialect: Dialect, ofOnes: ReadonlySet<string>): Compiled {
  const expanded = text.replaceAll(FRAGMENT, (_, name: string, given = '') => {
    const args = String(given).split(' ')
    const fragment = FRAGMENTS[dialect][ofOnes.has(findListName(name, args) ?? '') ? `${name} one` : name]
    if (fragment === undefined) throw new Error(`there is no fragment ${name}`)
    return fragment(args)
  })
  const names = [...new Set([...expanded.matchAll(VALUE)].map(([, name = '']) => name))]
  const sql = expanded.replaceAll(VALUE, (_, name) => `${NUMBER[dialect]}${names.indexOf(name) + 1}`)
  const isWrite = /\b(INSERT INTO|UPDATE\s+\w+\s+SET|DELETE FROM)\b/.test(sql)
  const readers = names.map((name) => createValueReader(name, ofOnes, dialect))
  const bind = (values: Values) => readers.map((read) => read(values))
  return { sql, bind, isWrite, hasRows: !isWrite || /\bRETURNING\b/.test(sql) }
}

/** Returns a reader for a name in a text: the name of a value, or `list.field` for the only object of a list. */
function createValueReader(name: string, ofOnes: ReadonlySet<string>, dialect: Dialect): (values: Values) => Bound {
  const [given = '', field] = name.split('.')
  return (values) => {
    const value = values[given]
    if (value === undefined) throw new Error(`the statement has no value ${given}`)
    if (typeof value === 'function') return value()
    if (!ofOnes.has(given)) return toBound(value, dialect)
    const [only] = value as List
    return (field === undefined ? only : (only as Readonly<Record<string, Bound>>)[field]) as Bound
  }
}

function toBound(value: Exclude<Value, () => Uint8Array>, dialect: Dialect): Bound {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (isList(value)) return dialect === 'sqlite' ? JSON.stringify(value) : formatArray(value)
  return value
}

type List = Extract<Value, readonly unknown[]>

const isList = (value: Value): value is List => Array.isArray(value)

const isListOfOne = (value: Value | undefined): boolean => value !== undefined && isList(value) && value.length === 1

const formatArray = (list: readonly (string | number | object)[]): string => `{${list.map(formatElement).join(',')}}`

function formatElement(element: string | number | object): string {
  if (typeof element === 'number') return String(element)
  const text = typeof element === 'string' ? element : JSON.stringify(element)
  return `"${text.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"`
}
