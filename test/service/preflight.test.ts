import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../server/config.ts'
import { folderTroubles, listenOn, portTroubles, wallPort } from '../../server/preflight.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const folder = scratchFolder()

const config = (settings: Record<string, string>) =>
  readConfig({
    BASE_URL: 'https://wall.example',
    PAY_TO: `0x${'11'.repeat(20)}`,
    FACILITATOR_URL: 'https://pay.example',
    DATABASE_PATH: join(folder, 'wall.sqlite'),
    ...settings,
  })

test('a port that another program has is named with its setting, and a free one is free afterwards', async () => {
  const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = String(other.port)
  const words = `another program is listening on 127.0.0.1, port ${port} (EADDRINUSE)`
  const [wall, monitors] = [config({ PORT: port }), config({ PORT: '0', METRICS_PORT: port })]
  expect(portTroubles(wall)).toEqual([`cannot listen on PORT: ${words}`])
  expect(portTroubles(monitors)).toEqual([`cannot listen on METRICS_PORT: ${words}`])
  await other.stop(true)
  expect([...portTroubles(wall), ...portTroubles(wall), ...portTroubles(monitors)]).toEqual([])
})

test('an address of another machine is named', () => {
  expect(portTroubles(config({ HOST: '192.0.2.1' }))).toEqual([
    'cannot listen on PORT: 192.0.2.1 is not an address of this machine; check HOST and METRICS_HOST (EADDRNOTAVAIL)',
  ])
})

test('a port for root alone is named, and a fault of ours is none of the settings', () => {
  const place = wallPort(config({ PORT: '80' }))
  const failing = (error: Error) => () =>
    listenOn(place, () => {
      throw error
    })
  expect(failing(Object.assign(new Error('no'), { code: 'EACCES' }))).toThrow(
    'cannot listen on PORT: port 80 is reserved for root; use one above 1023 (EACCES)',
  )
  expect(failing(new TypeError('ours'))).toThrow(TypeError)
})

test('a place where no file can be is named with its setting', () => {
  expect(folderTroubles(config({}))).toEqual([])
  expect(folderTroubles(config({ DATABASE_PATH: ':memory:' }))).toEqual([])
  const file = join(folder, 'file')
  writeFileSync(file, '')
  mkdirSync(join(folder, 'folder'))
  const missing = join(folder, 'none')
  expect(
    folderTroubles(config({ DATABASE_PATH: join(missing, 'wall.sqlite'), WITNESS_PATH: join(file, 'w') })),
  ).toEqual([`DATABASE_PATH: the folder ${missing} does not exist`, `WITNESS_PATH: ${file} is not a folder`])
  expect(folderTroubles(config({ DATABASE_PATH: join(folder, 'folder') }))).toEqual([
    `DATABASE_PATH: ${join(folder, 'folder')} is not a file`,
  ])
})
