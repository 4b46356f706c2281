import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Goal: the files follow the house rules that no linter checks. Method: read every file of the repository as text and
// report each breach as `path:line`. The linter checks sizes and language rules; imports.test.ts checks the direction
// of imports.

const root = join(import.meta.dir, '../../..')

/** Tracked files, and new ones that git does not ignore. */
const paths = new TextDecoder()
  .decode(Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root }).stdout)
  .split('\0')
  .filter((path) => path !== '')

const binary = /\.(png|jpe?g|gif|webp|ico|woff2?|gz|wasm|sqlite)$/

const readable = paths.filter((path) => !binary.test(path) && existsSync(join(root, path)))

const files: ReadonlyArray<{ path: string; text: string }> = await Promise.all(
  readable.map(async (path) => ({ path, text: await Bun.file(join(root, path)).text() })),
)

const isCode = (path: string) => /\.(ts|js)$/.test(path)

/** Code without its comments, with the same lines. */
const stripComments = (text: string) =>
  text.replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, '')).replaceAll(/(^|\s)\/\/.*$/gm, '')

/** Every line of the files in `among` that matches `breach`, after its `path:line`. */
const listBreaches = (among: typeof files, breach: RegExp) =>
  among.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (breach.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
  )

/** The code, without comments, of the files under `folders`. */
const listCode = (...folders: readonly string[]) =>
  files
    .filter(({ path }) => isCode(path) && folders.some((folder) => path.startsWith(folder)))
    .map(({ path, text }) => ({ path, text: stripComments(text) }))

test('no file contains a note about unfinished work', () => {
  expect(files.length).toBeGreaterThan(500)
  // One-letter character classes keep this file from breaking its own rule.
  expect(listBreaches(files, /\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b/)).toEqual([])
})

// A reader can take in about this many files of a folder at a glance. The root is exempt, because some tools require
// their files there.
const FILES_MAX = 20

test('no folder except the root and db/migrations directly contains more than twenty files', () => {
  // Binary files, such as pictures, do not count. Migrations only grow in number, and nobody reads them together.
  const folders = Map.groupBy(readable, (path) => dirname(path))
  const crowded = [...folders].filter(
    ([folder, own]) => folder !== '.' && folder !== 'db/migrations' && own.length > FILES_MAX,
  )
  expect(crowded.map(([folder, own]) => `${folder}: ${own.length}`)).toEqual([])
})

test('only db/ contains SQL', () => {
  const sql =
    /\b(SELECT\s.*\bFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|(CREATE|DROP|ALTER)\s+TABLE|PRAGMA)\b|bun:sqlite/i
  expect(listBreaches(listCode('shared/', 'server/', 'viewer/', 'bench/'), sql)).toEqual([])
})

test('the domain, the protocol and the shared code use no clock, randomness, network or environment', () => {
  const outside =
    /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bperformance\b|\bfetch\(|\bcrypto\b|\bset(Timeout|Interval)\b|\bprocess\b|\bBun\b|\bconsole\b/
  expect(listBreaches(listCode('shared/', 'server/domain/', 'server/x402/'), outside)).toEqual([])
})

test('no file contains a path of the machine it was written on, and no local settings file is tracked', () => {
  const home = /(?<![\w.~-])\/(home|root|Users|work)\/[\w.]/
  expect(listBreaches(files, home)).toEqual([])
  expect(paths.filter((path) => /(^|\/)(\.npmrc|\.env)$/.test(path))).toEqual([])
})

test('every package comes from the public registry', () => {
  // bun.lock contains the source of a package only if the source is not the default registry.
  const sources = files.filter(({ path }) =>
    ['bun.lock', 'bunfig.toml', 'test/endurance/clients/bun.lock'].includes(path),
  )
  expect(sources).toHaveLength(3)
  expect(listBreaches(sources, /https?:\/\/|\bregistry\b\s*=/)).toEqual([])
})

test('every action of a workflow is pinned to one commit', () => {
  const workflows = files.filter(({ path }) => path.startsWith('.github/workflows/'))
  expect(workflows.length).toBeGreaterThan(0)
  expect(listBreaches(workflows, /\buses:(?! [\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$)/)).toEqual([])
})

type Versions = Readonly<Record<string, string>>
type Manifest = { readonly name: string; readonly version: string } & Readonly<
  Partial<Record<'dependencies' | 'devDependencies' | 'overrides', Versions>>
>
const readManifest = (path: string): Promise<Manifest> => Bun.file(join(root, path)).json()

test('every dependency is pinned to one exact version', async () => {
  const manifests = await Promise.all(
    ['package.json', 'server/client/package.json', 'test/endurance/clients/package.json'].map(readManifest),
  )
  for (const { dependencies, devDependencies, overrides } of manifests) {
    const versions = [dependencies, devDependencies, overrides].flatMap((kind) => Object.entries(kind ?? {}))
    expect(versions.length).toBeGreaterThan(0)
    expect(versions.filter(([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  }
})

test('the published client has the version of the project and depends on the versions it is tested with', async () => {
  const [whole, client] = await Promise.all([readManifest('package.json'), readManifest('server/client/package.json')])
  expect([client.name, client.version]).toEqual([whole.name, whole.version])
  const tested: Versions = { ...whole.dependencies, ...whole.devDependencies }
  const names = Object.keys(client.dependencies ?? {})
  expect(client.dependencies).toEqual(Object.fromEntries(names.map((name) => [name, tested[name] ?? 'none'])))
})
