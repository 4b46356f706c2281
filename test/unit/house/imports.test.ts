import { expect, test } from 'bun:test'
import { dirname, join } from 'node:path'

// Goal: dependencies point one way. Method: every import of every file, type-only ones included, is looked up in one
// table.

const root = join(import.meta.dir, '../../..')

const WORDS = ['shared/', 'server/domain/', 'server/x402/', 'server/times.ts']
const USE_CASES = ['server/purchase/', 'server/wall/', 'server/books/', 'server/health/', 'server/instances/']
const PORTS = ['server/ports.ts', 'server/operator-ports.ts']
const INSIDE = [...WORDS, ...PORTS, 'server/read.ts', ...USE_CASES]
const STORE = ['shared/', 'server/domain/', ...PORTS, 'server/times.ts', 'db/*', 'db/purchase/', 'db/wall/']
const ADAPTERS = ['chain/', 'facilitator/', 'metrics/', 'pictures/', 'wallets/', ''].map(
  (room) => `server/adapters/${room}`,
)
const BESIDE = [...WORDS, ...PORTS, 'server/adapters/*', 'server/adapters/chain/endpoints.ts']
const SEEN = ['shared/', 'viewer/camera/']
const DRAWN = [...SEEN, 'viewer/wall/', 'viewer/theme.ts', 'viewer/state.ts']
const STUDIO = ['data/read-json.ts', 'gl/', 'input/', 'ui/', 'shell.ts'].map((name) => `viewer/${name}`)
const PAGE = ['page', 'page-words', 'url-state'].map((name) => `viewer/${name}.ts`)
const LOCK_FILES = ['package.json', 'bun.lock']
const TYPEBOX = '@sinclair/typebox*'
const NODE = ['bun', 'bun:*', 'node:*']
const locateSource = (name: string) => `server/${name}.ts`
const MEASURED = ['app', 'config', 'serve', 'adapters/wallets/recover', 'http/answer/precompressed-body'].map(
  locateSource,
)
const BORROWED = ['page/browser.ts', 'postgres/server.ts', 'e2e/proxies.ts', 'machine.ts', 'prng.ts'].map(
  (file) => `test/support/${file}`,
)

/**
 * The imports that a room may have besides its own files: `files` of the project, and either the packages in `uses`, or
 * all packages except those in `shuns`.
 */
type Room = { readonly files: readonly string[] } & ({ uses: readonly string[] } | { shuns: readonly string[] })

/**
 * The rooms, by the beginning of their paths; the first match counts. `*` stands for the files directly in one folder.
 */
const ROOMS: Readonly<Record<string, Room>> = {
  'shared/contract/': { files: ['shared/*'], uses: [TYPEBOX] },
  'shared/': { files: [], uses: [TYPEBOX, 'viem/utils', 'jsonc-parser'] },
  'server/domain/': { files: ['shared/'], uses: [] },
  'server/x402/': { files: WORDS, uses: ['viem/utils', '@x402/', TYPEBOX] },
  'server/times.ts': { files: [], uses: [] },
  'server/read.ts': { files: ['shared/', 'server/domain/'], uses: [TYPEBOX] },
  'server/operator-ports.ts': { files: WORDS, uses: [] },
  'server/ports.ts': { files: WORDS, uses: [] },
  'server/config.ts': { files: WORDS, shuns: ['viem', 'elysia*', 'bun:sqlite'] },
  ...Object.fromEntries(USE_CASES.map((room) => [room, { files: INSIDE, uses: ['p-limit', TYPEBOX] }])),
  'server/discovery/openapi/': {
    files: [...WORDS, 'server/discovery/'],
    uses: ['viem/utils', TYPEBOX, 'elysia'],
  },
  'server/discovery/': { files: [...WORDS, 'package.json'], uses: ['viem/utils', TYPEBOX] },
  'server/http/': { files: [...INSIDE, 'server/discovery/', 'server/mcp/'], shuns: ['viem*', 'bun:sqlite'] },
  'server/mcp/': { files: [...INSIDE, 'server/discovery/'], shuns: ['elysia*', 'viem*', 'bun:sqlite'] },
  ...Object.fromEntries(ADAPTERS.map((room) => [room, { files: BESIDE, shuns: ['elysia*', 'bun:sqlite'] }])),
  'server/app.ts': {
    files: [...INSIDE, 'server/config.ts', 'server/discovery/', 'server/http/', 'server/mcp/'],
    shuns: ['viem*', 'bun:sqlite'],
  },
  'server/operate/': {
    files: [
      ...INSIDE,
      ...['config', 'open-rail', 'preflight'].map(locateSource),
      'server/adapters/',
      'db/',
      ...LOCK_FILES,
    ],
    shuns: ['elysia*', 'viem*', 'bun:sqlite'],
  },
  'server/client/': { files: ['shared/'], shuns: ['bun', 'bun:*', 'elysia*'] },
  'server/local/': {
    files: [...INSIDE, 'server/config.ts', 'server/adapters/', 'server/app.ts', 'server/client/', 'db/'],
    shuns: ['bun:sqlite'],
  },
  'server/cli.ts': {
    files: ['shared/', ...['config', 'settings-file', 'main'].map(locateSource), 'server/operate/', 'package.json'],
    uses: [],
  },
  'server/': {
    files: [...INSIDE, 'server/*', 'server/adapters/', 'server/http/', 'server/operate/', 'db/', 'package.json'],
    shuns: ['bun:sqlite', 'viem*'],
  },
  'db/sqlite/': { files: STORE, uses: NODE },
  'db/postgres/': { files: STORE, uses: NODE },
  'db/': { files: STORE.concat('db/'), uses: ['node:*'] },
  'viewer/camera/': { files: ['shared/'], uses: [] },
  'viewer/wall/': { files: [...SEEN, 'viewer/theme.ts'], uses: [] },
  'viewer/theme.ts': { files: ['shared/', 'viewer/wall/'], uses: [] },
  'viewer/state.ts': { files: [...SEEN, 'viewer/wall/'], uses: [] },
  'viewer/data/': { files: ['shared/', 'viewer/wall/', 'viewer/appearance.ts', 'viewer/page-words.ts'], uses: [] },
  'viewer/gl/': { files: DRAWN, uses: ['regl'] },
  'viewer/input/': { files: [...SEEN, 'viewer/state.ts', 'viewer/ui/dom.ts'], uses: [] },
  'viewer/ui/': { files: [...DRAWN, 'viewer/data/', 'viewer/input/keys.ts', 'viewer/styles/', ...PAGE], uses: [] },
  'viewer/studio/': { files: [...DRAWN, ...STUDIO], uses: [] },
  'viewer/': { files: ['shared/'], uses: ['vite', '@modelcontextprotocol/ext-apps'] },
  'bench/': {
    files: ['shared/', 'db/', 'server/local/', ...MEASURED, ...BORROWED],
    shuns: [],
  },
}

const matchesPattern = (path: string, pattern: string) =>
  pattern.endsWith('/*')
    ? dirname(path) === pattern.slice(0, -2)
    : path.startsWith(pattern.replace('*', '')) && (/[/*]$/.test(pattern) || path === pattern)

const AN_IMPORT = /(?:^(?:import|export|\})[^'\n]*\bfrom |^import |\bimport\()'([^'\n]+)'/gm

const matchesAny = (path: string, patterns: readonly string[]) =>
  patterns.some((pattern) => matchesPattern(path, pattern))

test.each(Object.entries(ROOMS))(
  'the code in %s imports only its own files, and the files and packages that its row in the table allows',
  async (name, room) => {
    const isOurs = (path: string) => Object.keys(ROOMS).find((one) => path.startsWith(one)) === name
    const files = [...new Bun.Glob('{shared,server,db,viewer,bench}/**/*.ts').scanSync(root)].filter(isOurs)
    const strays: string[] = []
    for (const file of files) {
      // Text between backticks is left out, because it may contain code that is shown to agents.
      const text = (await Bun.file(join(root, file)).text()).replaceAll(/`(?:\\.|[^`\\])*`/g, '')
      for (const [, named = ''] of text.matchAll(AN_IMPORT)) {
        const mayUse = 'uses' in room ? matchesAny(named, room.uses) : !matchesAny(named, room.shuns)
        const mayImport = named.startsWith('.') ? matchesAny(join(dirname(file), named), [name, ...room.files]) : mayUse
        if (!mayImport) strays.push(`${file}: ${named}`)
      }
    }
    expect(files.length).toBeGreaterThan(0)
    expect(strays).toEqual([])
  },
)
