import { expect, test } from 'bun:test'
import { compileStatement, type Dialect } from '../../../db/fragments.ts'
import {
  toPostgresText,
  queryRows,
  runTogether,
  type Statement,
  type Text,
  type Tx,
  type Values,
} from '../../../db/tx.ts'

// Goal: each statement is compiled correctly for each engine, and parts of work are sent together. Method: texts
// compared literally, and a driver that returns each statement's own text.

/** Runs work, and records which statements were sent as one list. */
function runTransaction<T>(work: Tx<T>): { readonly result: T; readonly lists: readonly (readonly string[])[] } {
  const lists: string[][] = []
  const getText = ({ text }: Statement) => (typeof text === 'string' ? text : text.postgres)
  let step = work.next()
  while (step.done !== true) {
    lists.push(step.value.map(getText))
    step = work.next(step.value.map((statement) => ({ rows: [getText(statement)], count: 1 })))
  }
  return { result: step.value, lists }
}

function* readTwice(first: string, second: string): Tx<string> {
  const [a] = yield* queryRows<string>(first)
  const [b] = yield* queryRows<string>(second)
  return `${a}${b}`
}

test('parallel parts of work send their statements in shared lists, in the order of the parts, and each part gets its own results', () => {
  const { result, lists } = runTransaction(
    runTogether(readTwice('a', 'b'), queryRows<string>('c'), readTwice('d', 'e')),
  )
  expect(result).toEqual(['ab', ['c'], 'de'])
  expect(lists).toEqual([
    ['a', 'c', 'd'],
    ['b', 'e'],
  ])
})

test('nested parts of work share their statement lists', () => {
  const { result, lists } = runTransaction(
    runTogether(runTogether(queryRows<string>('a'), readTwice('b', 'c')), queryRows<string>('d')),
  )
  expect(result).toEqual([[['a'], 'bc'], ['d']])
  expect(lists).toEqual([['a', 'b', 'd'], ['c']])
})

test('counters are incremented together, after all other statements; statements that follow an increment go out in the next list', () => {
  const counters = 'UPDATE counters SET number = number + 1'
  const { lists } = runTransaction(
    runTogether(readTwice(counters, 'entry 1'), readTwice('a', 'b'), readTwice('c', counters), queryRows<string>('d')),
  )
  expect(lists).toEqual([['a', 'c', 'd'], ['b'], [counters, counters], ['entry 1']])
})

const compileText = (text: Text, dialect: Dialect, values: Values = {}) => compileStatement({ text, values }, dialect)

test.each([
  ['i {in integer $list}', 'i IN (SELECT value FROM json_each(?1))', 'i = ANY ($1::integer[])'],
  ['SELECT 1 {lock}', 'SELECT 1 ', 'SELECT 1 FOR UPDATE'],
  ['t {index x}', 't INDEXED BY x', 't '],
  ['{damaged blocks b.i}', "b.i IN (SELECT id FROM damaged WHERE name = 'blocks')", 'false'],
  ['SELECT 1{sqlite , substr($s, 1, 8)}', 'SELECT 1, substr(?1, 1, 8)', 'SELECT 1'],
  ['substr({bytes $p}, 1)', 'substr(?1, 1)', 'substr($1::bytea, 1)'],
  ['$b $a $b', '?1 ?2 ?1', '$1 $2 $1'],
])('%s is compiled for each engine', (text, sqlite, postgres) => {
  expect([compileText(text, 'sqlite').sql, compileText(text, 'postgres').sql]).toEqual([sqlite, postgres])
})

test('a list with one member is bound as that member, in SQL text of its own, and a list of any other length is bound as a whole', () => {
  const texts = ['i {in integer $list}', '{each integer $list}', '{rows $list i:integer said:text}']
  const values = { list: [{ i: 7, said: null }] }
  expect(texts.map((text) => compileText(text, 'postgres', values).sql)).toEqual([
    'i = $1::integer',
    '(SELECT 0 AS key, $1::integer AS value)',
    '(SELECT 0 AS key, $1::integer AS i, $2::text AS said)',
  ])
  expect(compileText('{rows $list i:integer said:text}', 'sqlite', values).bind(values)).toEqual([7, null])
  expect(compileText('i {in integer $list}', 'sqlite', { list: [7] }).bind({ list: [7] })).toEqual([7])
  expect(compileText('i {in integer $list}', 'sqlite', { list: [] }).bind({ list: [] })).toEqual(['[]'])
})

test('a list is bound in the form that each engine reads, with quotes escaped', () => {
  const values = { list: [{ message: 'a "b" \\ {c}', link: null }, {}], numbers: [1, 2] }
  const bindValues = (dialect: Dialect) => compileText('$list $numbers', dialect).bind(values)
  expect(bindValues('sqlite')).toEqual([JSON.stringify(values.list), '[1,2]'])
  expect(bindValues('postgres')).toEqual([
    `{"{\\"message\\":\\"a \\\\\\"b\\\\\\" \\\\\\\\ {c}\\",\\"link\\":null}","{}"}`,
    '{1,2}',
  ])
})

test('binding a statement throws if one of its values is missing, and leaves out values that the statement does not use', () => {
  expect(() => compileText('SELECT $b', 'sqlite').bind({ a: 1 })).toThrow('no value b')
  expect(compileText('SELECT $a', 'postgres').bind({ a: 1, b: 2 })).toEqual([1])
})

test('a value that is given as a function is computed only for an engine whose SQL text uses it', () => {
  const text = 'SELECT 1{sqlite , $sums}'
  const values = { sums: () => Uint8Array.of(7) }
  expect(compileText(text, 'sqlite').bind(values)).toEqual([Uint8Array.of(7)])
  const failing = {
    sums: () => {
      throw new Error('computed')
    },
  }
  expect(compileText(text, 'postgres').bind(failing)).toEqual([])
})

test('only statements that change rows count as writes, and a statement for PostgreSQL alone is empty for SQLite', () => {
  const isWrite = (text: string) => compileText(text, 'postgres').isWrite
  expect(['SELECT 1 FOR UPDATE', 'SELECT state FROM blocks'].map(isWrite)).toEqual([false, false])
  expect(['INSERT INTO a VALUES (1)', 'UPDATE a SET b = 1', 'DELETE FROM a'].map(isWrite)).toEqual([true, true, true])
  expect(compileText(toPostgresText('SELECT 1'), 'sqlite').sql).toBe('')
})
