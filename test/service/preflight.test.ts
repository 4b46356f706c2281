import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../server/config.ts'
import { findFreePort } from '../../server/local/wall-process.ts'
import { listenOn, findPathProblems, findPortProblems, toWallPort } from '../../server/preflight.ts'
import { createScratchFolder } from '../support/scratch-folder.ts'

const folder = createScratchFolder()

const createConfig = (settings: Record<string, string>) =>
  readConfig({
    BASE_URL: 'https://wall.example',
    PAY_TO: `0x${'11'.repeat(20)}`,
    FACILITATOR_URL: 'https://pay.example',
    DATABASE_PATH: join(folder, 'wall.sqlite'),
    ...settings,
  })

test('a port that another program uses is reported with its setting, and the check of a free port leaves it free', async () => {
  const other = Bun.serve({ hostname: '127.0.0.1', port: await findFreePort(), fetch: () => new Response() })
  const port = String(other.port)
  const words = `another program is listening on 127.0.0.1, port ${port} (EADDRINUSE)`
  const [wall, monitors] = [createConfig({ PORT: port }), createConfig({ PORT: '0', METRICS_PORT: port })]
  expect(findPortProblems(wall)).toEqual([`cannot listen on PORT: ${words}`])
  expect(findPortProblems(monitors)).toEqual([`cannot listen on METRICS_PORT: ${words}`])
  await other.stop(true)
  expect([...findPortProblems(wall), ...findPortProblems(wall), ...findPortProblems(monitors)]).toEqual([])
})

test('a host setting that is the address of a different machine is reported', () => {
  expect(findPortProblems(createConfig({ HOST: '192.0.2.1' }))).toEqual([
    'cannot listen on PORT: 192.0.2.1 is not an address of this machine; check HOST and METRICS_HOST (EADDRNOTAVAIL)',
  ])
})

test('a port that needs root is reported, and an exception caused by a bug is not reported as a problem with a setting', () => {
  const place = toWallPort(createConfig({ PORT: '80' }))
  const createFailingListen = (error: Error) => () =>
    listenOn(place, () => {
      throw error
    })
  expect(createFailingListen(Object.assign(new Error('no'), { code: 'EACCES' }))).toThrow(
    'cannot listen on PORT: port 80 is reserved for root; use one above 1023 (EACCES)',
  )
  expect(createFailingListen(new TypeError('ours'))).toThrow(TypeError)
})

test('a path where no file can be created is reported with its setting', () => {
  expect(findPathProblems(createConfig({}))).toEqual([])
  expect(findPathProblems(createConfig({ DATABASE_PATH: ':memory:' }))).toEqual([])
  const file = join(folder, 'file')
  writeFileSync(file, '')
  mkdirSync(join(folder, 'folder'))
  const missing = join(folder, 'none')
  expect(
    findPathProblems(createConfig({ DATABASE_PATH: join(missing, 'wall.sqlite'), WITNESS_PATH: join(file, 'w') })),
  ).toEqual([`DATABASE_PATH: the folder ${missing} does not exist`, `WITNESS_PATH: ${file} is not a folder`])
  expect(findPathProblems(createConfig({ DATABASE_PATH: join(folder, 'folder') }))).toEqual([
    `DATABASE_PATH: ${join(folder, 'folder')} is not a file`,
  ])
})

test.each(['DATABASE_PATH', 'WITNESS_PATH', 'ADMIN_SOCKET_PATH'] as const)(
  'if %s is the path of a folder, this is the only problem that is reported',
  (setting) => {
    const path = join(folder, `folder of ${setting}`)
    mkdirSync(path)
    expect(findPathProblems(createConfig({ [setting]: path }))).toEqual([
      expect.stringMatching(new RegExp(`^${setting}: .* is not a `)),
    ])
  },
)

test.each(['WITNESS_PATH', 'ADMIN_SOCKET_PATH'] as const)(
  'if %s is the path of a database file or of another program’s file, a problem is reported and the file is kept',
  (setting) => {
    const database = join(folder, `${setting}.sqlite`)
    for (const path of [database, `${database}-wal`, `${database}.lock`, join(folder, `${setting}.txt`)]) {
      writeFileSync(path, 'kept')
      const troubles = findPathProblems(createConfig({ DATABASE_PATH: database, [setting]: path }))
      expect(troubles).toEqual([expect.stringContaining(`${setting}: ${path} is `)])
      expect(readFileSync(path, 'utf8')).toBe('kept')
    }
    const fresh = join(folder, `new ${setting}.sqlite`)
    expect(findPathProblems(createConfig({ DATABASE_PATH: fresh, [setting]: fresh }))).toEqual([
      `${setting}: ${fresh} is a file of the database`,
    ])
  },
)

test('a wall’s witness file, and a socket that a crashed wall left behind, are not reported as problems', () => {
  const [witness, socket] = [join(folder, 'witness'), join(folder, 'left.sock')]
  writeFileSync(witness, '{"change":1,"payment":1,"height":"1"}\n')
  const left = Bun.serve({ unix: socket, fetch: () => new Response() })
  expect(findPathProblems(createConfig({ WITNESS_PATH: witness, ADMIN_SOCKET_PATH: socket }))).toEqual([])
  void left.stop(true)
})
