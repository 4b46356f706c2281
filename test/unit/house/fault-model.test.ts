import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { NO_FAULTS } from '../../endurance/sim/faults.ts'

// Goal: the fault model stays proven. Method: every test and fault it names is looked up in the tests.

const root = join(import.meta.dir, '../../..')

const rows = [
  ...(await Bun.file(join(root, 'docs/fault-model.md')).text()).matchAll(/^\| ((?:[A-HJ]\d+ ?)+) \|.*\| (.*) \|$/gm),
].map(([, names = '', proof = '']) => ({ names: names.trim().split(' '), proof }))

test('every point of failure has exactly one row in docs/fault-model.md, with a proof', () => {
  const counts = { A: 8, B: 5, C: 15, D: 7, E: 10, F: 3, G: 5, H: 2, J: 9 }
  const all = Object.entries(counts).flatMap(([letter, count]) =>
    Array.from({ length: count }, (_, at) => `${letter}${at + 1}`),
  )
  expect(rows.flatMap(({ names }) => names).toSorted()).toEqual(all.toSorted())
  for (const { proof } of rows) expect(proof).toMatch(/["`]|sim/)
})

test('every test that a row of the fault model names exists', async () => {
  const sources = await Promise.all(
    [...new Bun.Glob('test/**/*.ts').scanSync(root)].map((path) => Bun.file(join(root, path)).text()),
  )
  const text = sources.join('\n')
  const named = rows.flatMap(({ proof }) =>
    [...proof.replaceAll('\\"', "'").matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.replaceAll("'", '"')),
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((name) => !text.includes(name))).toEqual([])
})

test('every simulated fault that a row of the fault model names exists', () => {
  const faults = Object.keys(NO_FAULTS)
  const named = rows.flatMap(({ proof }) =>
    [...proof.matchAll(/sim ((?:`\w+` ?)+)/g)].flatMap(([, list = '']) =>
      [...list.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    ),
  )
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((name) => !faults.includes(name))).toEqual([])
})
