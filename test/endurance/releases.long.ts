import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { waitUntilArmed, startWall, type WallProcess } from '../../server/local/wall-process.ts'
import { buyBlock } from '../support/e2e/buyer.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { createScratchFolder } from '../support/scratch-folder.ts'

// Goal: the downloaded release runs a wall without Bun, Node or a clone of the repository. Method: the release is
// built, unpacked and installed into a folder, and its program runs there without a `PATH`.

const ROOT = join(import.meta.dir, '../..')
const folder = createScratchFolder()
const made = join(folder, 'made')
const root = join(folder, 'root')
const program = join(root, 'usr/local/bin/pixel-wall')
const NAME = `pixel-wall-${process.platform}-${process.arch}`

type End = { readonly out: string; readonly err: string; readonly status: number }

let around: Surroundings
let wall: WallProcess
let settings: Readonly<Record<string, string>>

function runCommand(command: readonly string[], env: Readonly<Record<string, string>>, cwd: string): End {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd, env: { ...env } })
  return { out: stdout.toString(), err: stderr.toString(), status: exitCode }
}

/** Runs the installed program without a `PATH`. */
const runProgram = (...args: readonly string[]) => runCommand([program, ...args], settings, around.folder)

const system = { PATH: Bun.env['PATH'] ?? '' }
const locateUnpackedRelease = () =>
  join(folder, readdirSync(folder).find((name) => name.startsWith('pixel-wall-')) ?? '')
const installRelease = () =>
  runCommand(['sh', join(locateUnpackedRelease(), 'install.sh')], { ...system, DESTDIR: root }, folder)

beforeAll(async () => {
  const path = `${join(process.execPath, '..')}:${system.PATH}`
  expect(runCommand([process.execPath, 'deploy/release.ts', made], { PATH: path }, ROOT)).toMatchObject({
    status: 0,
    err: '',
  })
  const archive = readdirSync(made).find((name) => name.endsWith('.tar.gz')) ?? ''
  expect(runCommand(['tar', '-xzf', join(made, archive)], system, folder).status).toBe(0)
  mkdirSync(root)
  expect(installRelease()).toMatchObject({ status: 0, err: '' })
  around = await startSurroundings()
  settings = { ...(await around.createFileSettings()), METRICS_PORT: '0' }
  wall = await startWall(settings, { program: [program, 'serve'], folder: around.folder })
  await waitUntilArmed(wall.url)
}, 120_000)
afterAll(async () => {
  await wall.stop()
  await around.stop()
})

test('the checksums match the published files, and the program is one of them', () => {
  expect(readdirSync(made)).toContain(NAME)
  const checked = runCommand(['sha256sum', '--check', 'SHA256SUMS'], system, made)
  expect([checked.status, checked.out.split('\n').filter((line) => line.endsWith(': OK')).length]).toEqual([0, 4])
})

test('if a release is built again into another folder, the checksums are the same', () => {
  const again = join(folder, 'another/folder')
  const path = `${join(process.execPath, '..')}:${system.PATH}`
  expect(runCommand([process.execPath, 'deploy/release.ts', again], { PATH: path }, ROOT).status).toBe(0)
  const readSums = (place: string) => readFileSync(join(place, 'SHA256SUMS'), 'utf8')
  expect(readSums(again)).toBe(readSums(made))
}, 60_000)

test('every relative link in the operating documents leads to a file, both in the archive and after installation', () => {
  const documents = ['OPERATING.md', 'docs/operating-reference.md', 'docs/postgres.md', 'docs/settings.md']
  const listLinks = (document: string) =>
    [...readFileSync(join(locateUnpackedRelease(), document), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
      ([, path = '']) => join(dirname(document), path),
    )
  const files = ['prometheus/alerts.yml', 'grafana/wall.json', 'nginx.conf', ...documents.flatMap(listLinks)]
  expect(files).toContain('docs/postgres.md')
  for (const place of [locateUnpackedRelease(), join(root, 'usr/local/share/doc/pixel-wall')])
    expect(files.filter((path) => !existsSync(join(place, path)))).toEqual([])
})

test('the program does not contain the path of the clone that it was built from', () => {
  expect(readFileSync(join(made, NAME)).includes(ROOT)).toBe(false)
})

test('the program is less than 60 MB larger than the runtime, and contains no compiler, bundler, axios or Solana package', () => {
  const beside = statSync(join(made, NAME)).size - statSync(process.execPath).size
  expect(beside).toBeLessThan(60_000_000)
  const { components } = JSON.parse(runProgram('sbom').out) as { components: ReadonlyArray<{ name: string }> }
  expect(components.filter(({ name }) => /axios|solana|typescript|esbuild|rollup|vite|solc/i.test(name))).toEqual([])
})

test('the installed program sells a block, serves pages, pictures and assets, and converts an uploaded picture', async () => {
  const world = { ...around, url: wall.url }
  await buyBlock(world, await around.createFundedWallet(), '80,45')
  for (const path of ['/', '/paint', '/wall.png', '/card.png', '/atlas', '/openapi.json', '/api/canvas'])
    expect([path, (await fetch(wall.url + path, { headers: { accept: 'text/html, */*' } })).status]).toEqual([
      path,
      200,
    ])
  const page = await (await fetch(wall.url, { headers: { accept: 'text/html' } })).text()
  const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  expect(assets.length).toBeGreaterThan(1)
  for (const path of assets) expect([path, (await fetch(wall.url + path)).status]).toEqual([path, 200])

  const card = await (await fetch(`${wall.url}/card.png`)).bytes()
  const shown = await fetch(`${wall.url}/api/pixels?w=2&h=1`, {
    method: 'POST',
    headers: { 'content-type': 'image/png' },
    body: card,
  })
  expect(shown.status).toBe(200)
  // Outages do not count here: while this process waits for a command, its facilitator cannot respond.
  expect(wall.readJournal().filter((line) => line.includes('"http-failed"'))).toEqual([])
})

test('the installed program recovers signatures with the library compiled for this machine', () => {
  expect(wall.readJournal().filter((line) => /"keys/.test(line))).toEqual([
    expect.stringContaining('"library":"native"'),
  ])
})

test('the installed program has every command that its help lists, and runs books, resolve, hide and sbom', async () => {
  const { out } = runProgram('--help')
  const commands = (/COMMAND \.\.\. +(.*)/.exec(out)?.[1] ?? '').split(', ')
  expect(commands).toContain('books')
  for (const command of commands)
    expect([command, runProgram(command, '--help').out]).toEqual([command, expect.stringContaining(command)])
  expect(runProgram('nothing').status).toBe(2)
  const { version } = (await Bun.file(join(ROOT, 'package.json')).json()) as { version: string }
  expect(runProgram('--version').out).toBe(`${version}\n`)
  expect(runProgram('books')).toMatchObject({ status: 0, out: expect.stringContaining('They balance.') })
  expect(runProgram('resolve')).toMatchObject({ status: 0, out: 'there are no open purchases\n' })
  expect(runProgram('hide', '80,45')).toMatchObject({ status: 0 })
  const { components } = JSON.parse(runProgram('sbom').out) as { components: ReadonlyArray<{ name: string }> }
  expect(components.map(({ name }) => name)).toContain('viem')
})

test('a backup with --keep 2 deletes all but the two newest backups, and leaves the other files in the folder', () => {
  const copies = join(folder, 'copies')
  mkdirSync(copies)
  writeFileSync(join(copies, 'before-upgrade.sqlite'), 'by hand')
  const made = [1, 2, 3].map(() => {
    expect(runProgram('backup', '--into', copies, '--keep', '2').status).toBe(0)
    return readdirSync(copies)
      .filter((name) => name.startsWith('wall-'))
      .toSorted()
  })
  expect(made.map((names) => names.length)).toEqual([1, 2, 2])
  expect(made[2]?.[0]).toBe(made[1]?.[1] ?? '')
  expect(existsSync(join(copies, 'before-upgrade.sqlite'))).toBe(true)
  expect(runProgram('backup', '--into', copies, '--keep', 'all').status).toBe(2)
})

test('a second installation keeps the settings, and keeps the previous program beside the new one', () => {
  const file = join(root, 'etc/pixel-wall.env')
  writeFileSync(file, 'PAY_TO=0x1\n')
  expect(installRelease()).toMatchObject({ status: 0, err: '' })
  expect(existsSync(`${program}.before`)).toBe(false)
  writeFileSync(join(locateUnpackedRelease(), 'pixel-wall'), '#!/bin/sh\necho 9.9.9\n')
  expect(installRelease()).toMatchObject({ status: 0, out: 'pixel-wall 9.9.9 is installed.\n' })
  expect(readFileSync(`${program}.before`)).toEqual(readFileSync(join(made, NAME)))
  expect(readFileSync(file, 'utf8')).toBe('PAY_TO=0x1\n')
  runCommand(['mv', `${program}.before`, program], system, folder)
})

test('the program exits with status 78 if the settings file is missing, the database is of a newer version, or settings are invalid, and it reports all invalid settings together', async () => {
  const broken = runCommand([program, 'serve'], { PORT: 'x', PAY_TO: '0x1' }, around.folder)
  expect(broken.status).toBe(78)
  for (const name of ['PORT', 'PAY_TO', 'BASE_URL', 'FACILITATOR_URL']) expect(broken.err).toContain(`- ${name} `)
  const unreadable = runCommand([program, '--env-file', join(folder, 'none.env'), 'books'], {}, around.folder)
  expect([unreadable.status, unreadable.err]).toEqual([
    78,
    expect.stringMatching(/Cannot read the settings in .*none.env \(ENOENT\)/),
  ])

  const path = join(folder, 'newer.sqlite')
  expect(runProgram('backup', path).status).toBe(0)
  const database = new Database(path)
  database.run('PRAGMA user_version = 99')
  database.close()
  const newer = runCommand([program, 'serve'], { ...settings, PORT: '0', DATABASE_PATH: path }, around.folder)
  expect([newer.status, newer.err]).toEqual([78, expect.stringContaining('written by a newer version (99')])
})

test.skipIf(Bun.which('systemd-analyze') === null)(
  'systemd accepts the units, and rates the exposure of each service below 2',
  () => {
    const units = join(root, 'etc/systemd/system')
    for (const name of readdirSync(units)) {
      const path = join(units, name)
      // systemd-analyze looks for the program at the path in the unit, but this test installed it elsewhere.
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('/usr/local/bin/pixel-wall', program))
      if (!name.includes('@'))
        expect([name, runCommand(['systemd-analyze', 'verify', path], system, folder).err]).toEqual([name, ''])
      if (!name.endsWith('.service') || name.includes('@')) continue
      const { out } = runCommand(['systemd-analyze', 'security', '--offline=true', path], system, folder)
      expect(Number(/exposure level for \S+ ([\d.]+)/.exec(out)?.[1])).toBeLessThan(2)
    }
  },
)
