import { afterAll, beforeAll, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '../../../db/sqlite/open.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { sellBlock } from '../../support/engine.ts'
import { startPostgres, type PostgresServer } from '../../support/postgres/server.ts'
import { TERMS } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

// Goal: an operator who moves a wall learns what was done and what to do next, and never sees a password. Method: the
// command as an operator types it, between a real file and a real server.

const folder = createScratchFolder()
const path = join(folder, 'wall.sqlite')
const back = join(folder, 'back.sqlite')
const other = join(folder, 'other.sqlite')
const SECRET = 'hush-hush'

let server: PostgresServer
let url: string
beforeAll(async () => {
  server = await startPostgres()
  const place = new URL(server.getUrl(await server.createDatabase()))
  place.password ||= SECRET
  url = place.href
}, 30_000)
afterAll(async () => {
  await server.stop()
})

/** Runs the command with a wall's settings. Its output must never contain a password. */
async function runMove(settings: Record<string, string>, ...args: readonly string[]) {
  const { out, err, status } = await runCommand(settings, tmpdir(), 'move', ...args)
  for (const password of [SECRET, new URL(url).password]) expect(out + err).not.toContain(password)
  return { out, err, status }
}

test('a moved wall cannot be moved again from its old location, and its new location accepts no other wall', async () => {
  const wall = await openSqlite(path, TERMS.network)
  await sellBlock(wall, 'next', 1, 1)
  const rehearsed = await runMove({ DATABASE_PATH: path }, '--to', url, '--rehearse')
  expect(rehearsed).toMatchObject({ status: 0, err: '', out: expect.stringContaining('Nothing was kept') })
  wall.close()

  const moved = await runMove({ DATABASE_PATH: path }, '--to', url)
  expect([moved.status, moved.err]).toEqual([0, ''])
  for (const words of [
    'payments   1',
    'set DATABASE_URL',
    'remove DATABASE_PATH',
    'pixel-wall books',
    `no wall can start on ${path}`,
  ])
    expect(moved.out).toContain(words)
  const again = await runMove({ DATABASE_PATH: path }, '--to', url)
  expect(again).toMatchObject({ status: 2, out: '', err: expect.stringContaining('has moved to') })
  ;(await openSqlite(other, TERMS.network)).close()
  const another = await runMove({ DATABASE_PATH: other }, '--to', url)
  expect(another).toMatchObject({ status: 2, out: '', err: expect.stringContaining('already contains a wall') })

  const returned = await runMove({ DATABASE_URL: url }, '--to', back, '--json')
  expect([returned.status, JSON.parse(returned.out)]).toEqual([
    0,
    {
      moved: true,
      from: expect.stringMatching(/^[\w.]+:\d+\/\w+$/),
      to: back,
      rows: expect.objectContaining({ payments: 1 }),
    },
  ])
  expect(await Bun.file(back).exists()).toBe(true)
})

test('a move to an invalid, missing or unreachable location is rejected, and the error does not contain the password', async () => {
  const nowhere = `mysql://me:${SECRET}@db.example/wall`
  expect(await runMove({ DATABASE_PATH: path }, '--to', nowhere)).toMatchObject({
    status: 2,
    err: expect.stringContaining('--to must be a file, or a postgres:// URL'),
  })
  const gone = `postgres://me:${SECRET}@127.0.0.1:1/wall`
  expect(await runMove({ DATABASE_PATH: other }, '--to', gone)).toMatchObject({
    status: 2,
    err: expect.stringContaining('the database at 127.0.0.1:1/wall cannot be used'),
  })
  for (const args of [[], ['--to'], ['--to', back, 'again']])
    expect(await runMove({ DATABASE_PATH: path }, ...args)).toMatchObject({
      status: 2,
      err: expect.stringContaining('pixel-wall move --to'),
    })
})
