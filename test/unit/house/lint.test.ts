import { expect, test } from 'bun:test'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

// Goal: the lint rules really bite. Method: one run of oxlint, with our own settings, over a made-up tree. Each room holds
// a file with every arrow to every other room, one a line, so what is allowed is proved as well as what is refused; every
// other fault has a file of its own.

const root = join(import.meta.dir, '../../..')

const shared = ['shared/planted.ts', 'shared/contract/planted.ts']
const domain = ['server/domain/planted.ts', 'server/domain/wall/planted.ts']
const words = [...shared, ...domain, 'server/x402/planted.ts']
const ports = [...words, 'server/ports.ts']
const verbs = ['purchase', 'wall', 'books', 'health', 'instances'].map((room) => `server/${room}/planted.ts`)
const usecases = [...ports, ...verbs]
const mcp = [...usecases, 'server/mcp/planted.ts', 'server/mcp/tools/planted.ts']
const discovery = ['server/discovery/planted.ts', 'server/discovery/openapi/planted.ts']
const http = ['server/http/planted.ts', 'server/http/request/planted.ts']
const edges = [...mcp, ...discovery, ...http]
const operate = 'server/operate/planted.ts'
const sqlite = ['db/sqlite/planted.ts', 'db/sqlite/wall/planted.ts']
const postgres = ['db/postgres/planted.ts', 'db/postgres/wall/planted.ts']
const engines = ['db/planted.ts', ...sqlite, ...postgres]
const chain = 'server/adapters/chain/planted.ts'
const started = [
  ...edges,
  'server/config.ts',
  'server/adapters/planted.ts',
  chain,
  'server/app.ts',
  ...engines,
  operate,
]
const stored = [...shared, ...domain, 'server/ports.ts', 'db/planted.ts']
const viewer = ['viewer/planted.ts', 'viewer/gl/planted.ts', 'viewer/ui/label/planted.ts']
const bench = ['bench/planted.ts', 'bench/servers/planted.ts']
const client = 'server/client/planted.ts'
const cli = 'server/client/cli/planted.ts'
const embedded = ['server/local/planted.ts', 'server/local/token/planted.ts']

/** What each room may import, itself included: the direction of dependencies. */
const mayImport: Record<string, readonly string[]> = {
  'shared/planted.ts': ['shared/planted.ts'],
  'shared/contract/planted.ts': shared,
  'server/domain/planted.ts': [...shared, ...domain],
  'server/domain/wall/planted.ts': [...shared, ...domain],
  'server/x402/planted.ts': words,
  'server/ports.ts': words,
  'server/config.ts': words,
  ...Object.fromEntries(verbs.map((room) => [room, usecases])),
  'server/discovery/planted.ts': [...words, ...discovery],
  'server/discovery/openapi/planted.ts': [...words, ...discovery],
  'server/mcp/planted.ts': mcp,
  'server/mcp/tools/planted.ts': mcp,
  'server/http/planted.ts': edges,
  'server/http/request/planted.ts': edges,
  'server/adapters/planted.ts': [...ports, 'server/adapters/planted.ts', chain],
  [chain]: [...ports, 'server/adapters/planted.ts', chain],
  'server/app.ts': [...edges, 'server/config.ts'],
  'server/main.ts': [...started, 'server/serve.ts'],
  'server/serve.ts': started,
  'server/cli.ts': [...shared, 'server/config.ts', 'server/main.ts', operate],
  [operate]: [...usecases, 'server/config.ts', 'server/adapters/planted.ts', chain, ...engines, operate],
  'server/local/planted.ts': [
    ...usecases,
    'server/config.ts',
    'server/adapters/planted.ts',
    chain,
    'server/app.ts',
    ...engines,
    client,
    cli,
    ...embedded,
  ],
  [client]: [...shared, client],
  [cli]: [...shared, client, cli],
  'server/local/token/planted.ts': [...shared, 'server/ports.ts', ...embedded],
  'db/planted.ts': [...shared, ...domain, 'server/ports.ts', ...engines],
  ...Object.fromEntries(sqlite.map((room) => [room, [...stored, ...sqlite]])),
  ...Object.fromEntries(postgres.map((room) => [room, [...stored, ...postgres]])),
  ...Object.fromEntries(viewer.map((room) => [room, [...shared, ...viewer]])),
  ...Object.fromEntries(
    bench.map((room) => [
      room,
      [...shared, 'server/app.ts', 'server/config.ts', 'server/serve.ts', ...embedded, ...engines, ...bench],
    ]),
  ),
  'test/planted.ts': [],
}

/** Packages a room must not reach for: a technology that lives elsewhere. */
const strangers: Record<string, readonly string[]> = {
  'shared/planted.ts': ['viem', 'elysia', 'bun', 'bun:sqlite', 'node:fs'],
  'shared/contract/planted.ts': ['viem', 'elysia', 'bun', 'bun:sqlite', 'node:fs'],
  ...Object.fromEntries(
    domain.map((room) => [room, ['viem', 'elysia', 'bun:sqlite', 'node:crypto', '@x402/core/types']]),
  ),
  'server/x402/planted.ts': ['viem', 'elysia', 'bun:sqlite', 'node:fs'],
  'server/ports.ts': ['viem', 'elysia', 'bun:sqlite', '@x402/core/types'],
  ...Object.fromEntries(verbs.map((room) => [room, ['viem', 'elysia', 'bun:sqlite', '@x402/core/client']])),
  'server/http/planted.ts': ['viem', 'viem/chains', 'bun:sqlite'],
  'server/http/request/planted.ts': ['viem', 'viem/chains', 'bun:sqlite'],
  'server/discovery/planted.ts': ['viem', 'elysia', 'bun:sqlite', 'node:fs'],
  'server/discovery/openapi/planted.ts': ['viem', 'bun:sqlite', 'node:fs'],
  'server/mcp/planted.ts': ['viem', 'elysia', 'bun:sqlite'],
  'server/mcp/tools/planted.ts': ['viem', 'elysia', 'bun:sqlite'],
  'server/adapters/planted.ts': ['elysia', 'bun:sqlite'],
  [chain]: ['elysia', 'bun:sqlite'],
  'server/app.ts': ['viem', 'bun:sqlite'],
  'server/main.ts': ['bun:sqlite'],
  'server/serve.ts': ['bun:sqlite'],
  'server/cli.ts': ['bun:sqlite', 'viem', 'elysia'],
  [operate]: ['viem', 'elysia', 'bun:sqlite'],
  [client]: ['elysia', 'bun', 'bun:sqlite'],
  [cli]: ['elysia', 'bun', 'bun:sqlite'],
  'server/local/planted.ts': ['bun:sqlite'],
  'server/local/token/planted.ts': ['bun:sqlite'],
  'db/planted.ts': ['viem', 'elysia', 'bun:sqlite'],
  ...Object.fromEntries([...sqlite, ...postgres].map((room) => [room, ['viem', 'elysia']])),
  ...Object.fromEntries(viewer.map((room) => [room, ['viem', 'elysia', 'bun', 'bun:sqlite', 'node:fs']])),
}

/** Every way to write an import: to the direction rule all are the same arrow. */
const waysToImport = (specifier: string, name: string) => [
  `import '${specifier}'`,
  `import type { A as T${name} } from '${specifier}'`,
  `import { a as v${name} } from '${specifier}'`,
  `export { a as e${name} } from '${specifier}'`,
  `export * from '${specifier}'`,
  `export const later${name} = () => import('${specifier}')`,
]

const specifierOf = (from: string, to: string) => {
  const path = relative(dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

/** The file planted in `room`: arrows to every other room, then to the packages it must not know. */
const arrowsFrom = (room: string) => {
  const siblings = Object.keys(mayImport).filter((to) => to !== room || to.endsWith('/planted.ts'))
  const all = [
    ...siblings.map((to) => ({ specifier: specifierOf(room, to), refused: !mayImport[room]?.includes(to) })),
    ...(strangers[room] ?? []).map((specifier) => ({ specifier, refused: true })),
  ]
  return all.flatMap(({ specifier, refused }, at) =>
    waysToImport(specifier, `${at}`).map((line) => ({ line, refused })),
  )
}

/** Faults no file may hold, by the rule that must catch each. */
const faults: ReadonlyArray<{ rule: string; path: string; text: string }> = [
  {
    rule: 'typescript(no-floating-promises)',
    path: 'server/wall/floating.ts',
    text: 'const save = async () => 1\nexport const go = () => {\n  save()\n}\n',
  },
  {
    rule: 'typescript(no-floating-promises)',
    path: 'server/adapters/floating-port.ts',
    text: 'export const go = ({ save }: { save: () => Promise<void> }) => {\n  save()\n}\n',
  },
  {
    rule: 'typescript(no-misused-promises)',
    path: 'server/http/misused.ts',
    text: 'export const go = (list: string[]) => list.forEach(async (one) => console.log(one))\n',
  },
  {
    rule: 'typescript(switch-exhaustiveness-check)',
    path: 'server/domain/switch.ts',
    text: "export const go = (kind: 'a' | 'b') => {\n  switch (kind) {\n    case 'a':\n      return 1\n  }\n}\n",
  },
  { rule: 'typescript(no-explicit-any)', path: 'shared/any.ts', text: 'export const go = (it: any) => it\n' },
  {
    rule: 'typescript(no-non-null-assertion)',
    path: 'shared/bang.ts',
    text: 'export const go = (it: string | undefined) => it!.length\n',
  },
  {
    rule: 'typescript(consistent-type-imports)',
    path: 'shared/type-import.ts',
    text: "import { One } from './one.ts'\nexport const go = (one: One) => one\n",
  },
  {
    rule: 'typescript(consistent-type-imports)',
    path: 'server/domain/type-inline.ts',
    text: "export type One = import('../http/one.ts').One\n",
  },
  { rule: 'typescript(consistent-type-definitions)', path: 'shared/interface.ts', text: 'export interface One {}\n' },
  { rule: 'eslint(eqeqeq)', path: 'shared/equals.ts', text: 'export const go = (it: unknown) => it == 1\n' },
  { rule: 'eslint(prefer-const)', path: 'shared/let.ts', text: 'let one = 1\nexport const go = () => one\n' },
  { rule: 'import(no-default-export)', path: 'viewer/default.ts', text: 'export default 1\n' },
  {
    rule: 'import(no-cycle)',
    path: 'server/domain/cycle-a.ts',
    text: "import type { B } from './cycle-b.ts'\nexport type A = B[]\n",
  },
  {
    rule: 'import(no-cycle)',
    path: 'server/domain/cycle-b.ts',
    text: "import type { A } from './cycle-a.ts'\nexport type B = A[]\n",
  },
  { rule: 'eslint(max-lines)', path: 'db/sqlite/long.ts', text: 'export {}\n'.repeat(401) },
  {
    rule: 'eslint(max-lines-per-function)',
    path: 'server/http/long.ts',
    text: `export const go = () => {\n${'  console.log(1)\n'.repeat(70)}}\n`,
  },
]

type Finding = { code: string; filename: string; labels: ReadonlyArray<{ span: { line: number } }> }

/** What oxlint, under our settings, says of `files`. */
const lint = async (files: Record<string, string>): Promise<readonly Finding[]> => {
  const scratch = await mkdtemp(join(tmpdir(), 'wall-lint-'))
  try {
    await symlink(join(root, 'node_modules'), join(scratch, 'node_modules'))
    for (const settings of ['.oxlintrc.json', 'tsconfig.base.json', 'tsconfig.json'])
      await Bun.write(join(scratch, settings), Bun.file(join(root, settings)))
    for (const [path, text] of Object.entries(files)) await Bun.write(join(scratch, path), text)
    // To a file: oxlint leaves before a pipe has taken a report of this length.
    const report = Bun.file(join(scratch, 'report.json'))
    const command = [process.execPath, join(root, 'node_modules/.bin/oxlint'), '--format=json']
    await Bun.spawn(command, { cwd: scratch, stdout: report }).exited
    const { diagnostics }: { diagnostics: Finding[] } = await report.json()
    return diagnostics
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

const arrows = Object.fromEntries(Object.keys(mayImport).map((room) => [room, arrowsFrom(room)]))
const findings = lint({
  ...Object.fromEntries(Object.entries(arrows).map(([room, all]) => [room, all.map(({ line }) => line).join('\n')])),
  ...Object.fromEntries(faults.map(({ path, text }) => [path, text])),
  'viewer/vite.config.ts': 'export default {}\n',
})

test.each(Object.keys(mayImport).filter((room) => room !== 'test/planted.ts'))(
  '%s imports the rooms below it and no other',
  async (room) => {
    const refusedLines = (await findings)
      .filter(({ code, filename }) => code === 'eslint(no-restricted-imports)' && filename === room)
      .map(({ labels }) => labels[0]?.span.line)
    const refused = arrows[room]?.filter((_, at) => refusedLines.includes(at + 1)).map(({ line }) => line)
    expect(refused).toEqual(arrows[room]?.filter((arrow) => arrow.refused).map(({ line }) => line))
  },
)

test.each(faults)('$rule catches the fault in $path', async ({ rule, path }) => {
  const caught = (await findings).filter(({ filename }) => filename === path).map(({ code }) => code)
  expect(caught).toContain(rule)
})

test("Vite's own settings may be a default export", async () => {
  expect((await findings).filter(({ filename }) => filename === 'viewer/vite.config.ts')).toEqual([])
})
