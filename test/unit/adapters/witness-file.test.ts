import { expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { witnessAt } from '../../../server/adapters/witness-file.ts'
import { scratchFolder } from '../../support/scratch-folder.ts'

const folder = scratchFolder()

const FILE = { kind: 'sqlite', path: join(folder, 'wall.sqlite') } as const

const position = { change: 12, payment: 34, height: 24_000_000n }

test('a witness reads what it was last told, and only its owner may read the file', async () => {
  const path = join(folder, 'wall.witness')
  const witness = witnessAt(path, FILE)
  expect(await witness.read()).toBeUndefined()
  await witness.write(position)
  await witness.write({ ...position, change: 13 })
  expect(await witnessAt(path, FILE).read()).toEqual({ ...position, change: 13 })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['wall.witness'])
})

test('what is no witness is refused, so that it is told of', async () => {
  const path = join(folder, 'odd.witness')
  for (const text of ['', '{', '{"change":1}', '{"change":-1,"payment":1,"height":"1"}']) {
    await Bun.write(path, text)
    expect(witnessAt(path, FILE).read()).rejects.toThrow()
  }
})

test('a place that cannot be written says so', () => {
  expect(witnessAt(join(folder, 'none', 'wall.witness'), FILE).write(position)).rejects.toThrow()
})

test('without a place nothing is kept', async () => {
  const witness = witnessAt(undefined, FILE)
  await witness.write(position)
  expect(await witness.read()).toBeUndefined()
})

test('a witness lies apart from a database on another device, and from a server on another machine', async () => {
  await Bun.write(FILE.path, '')
  const isApart = (path: string, database: Parameters<typeof witnessAt>[1]) => witnessAt(path, database).isApart()
  expect(await isApart(join(folder, 'wall.witness'), FILE)).toBe(false)
  expect(await isApart('/dev/shm/wall.witness', FILE)).toBe(statSync('/dev/shm').dev !== statSync(folder).dev)
  expect(await isApart('/dev/shm/wall.witness', { ...FILE, path: join(folder, 'none.sqlite') })).toBe(false)
  const server = (url: string) => isApart(join(folder, 'wall.witness'), { kind: 'postgres', url })
  expect(await server('postgres://wall@db.example/wall')).toBe(true)
  for (const here of ['localhost/wall', '127.0.0.1:5433/wall', '[::1]/wall', 'wall/wall?host=/run/postgresql'])
    expect(await server(`postgres://wall@${here}`)).toBe(false)
})
