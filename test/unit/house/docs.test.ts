import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SETTINGS } from '../../../server/config.ts'
import { REPEAT } from '../../../server/domain/advice.ts'
import { AREA_EDIT_MAX_BYTES } from '../../../server/http/areas.ts'
import { UPLOAD_MAX_BYTES } from '../../../server/http/request/clients.ts'
import { TOOLS } from '../../../server/mcp/registry.ts'
import { BUDGETS, STREAMS_PER_ADDRESS, STREAMS_PER_SITE } from '../../../server/wall/rate-limits.ts'
import { OPERATIONS } from '../../support/service/operations.ts'

// Goal: the documents stay true. Method: names in them are looked up in the tree, and names in the code are looked up
// in them.

const root = join(import.meta.dir, '../../..')
const readText = (path: string) => Bun.file(join(root, path)).text()
const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'OPERATING.md',
  'SECURITY.md',
  'AGENTS.md',
  ...new Bun.Glob('docs/*.md').scanSync(root),
]

test('docs/settings.md and .env.example explain every setting and no other', async () => {
  const table = [...(await readText('docs/settings.md')).matchAll(/^\| (`[A-Z][^|]*) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name),
  )
  const example = [...(await readText('.env.example')).matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(([, name = '']) => name)
  const settings = Object.keys(SETTINGS).toSorted()
  expect(table.toSorted()).toEqual(settings)
  expect(example.toSorted()).toEqual(settings)
})

test('every command that the documents run with bun is a script of the package', async () => {
  const manifest = (await Bun.file(join(root, 'package.json')).json()) as { scripts: Record<string, string> }
  for (const document of documents) {
    const commands = [
      ...(await readText(document)).matchAll(/bun(?:@[\d.]+)?(?: --env-file=\S+)? run ([a-z][a-z-]*)/g),
    ].map(([, name = '']) => name)
    for (const command of commands) expect(Object.keys(manifest.scripts)).toContain(command)
  }
})

test('every operator command in the documents exists in the program', async () => {
  const program = await readText('server/cli.ts')
  const sources = await Array.fromAsync(new Bun.Glob('server/operate/*.ts').scan({ cwd: root }))
  for (const document of [...documents, 'CHANGELOG.md', ...sources]) {
    const commands = [
      ...(await readText(document)).matchAll(
        /(?:^|[^/\w])pixel-wall (?:--env-file \S+ )?(?!pixel-wall)([a-z][a-z-]*)/g,
      ),
    ]
    const unknown = commands.filter(
      ([, name = '']) => !new RegExp(`^  '?${name}'?: async`, 'm').test(program) && name !== 'serve',
    )
    expect([document, unknown.map(([text]) => text)]).toEqual([document, []])
  }
})

// The name is not ours on npm: its owner there would get the keys of everybody who runs such a command.
const FETCHES_OUR_NAME =
  /\b(?:npx|bunx|(?:pnpm|yarn) dlx|npm (?:exec|x|install|i|add)|(?:bun|pnpm|yarn) (?:x|add))(?: -\S+)* pixel-wall(?![-\w./])/

test('no file instructs readers to fetch the client from npm, and the README of the client installs the archive of this version', async () => {
  const listed = Bun.spawnSync(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root }).stdout
  const ours = listed
    .toString()
    .split('\n')
    .filter((path) => /\.(md|ts|html|json|ya?ml|txt|conf|service|sh)$/.test(path))
  expect(ours).toContain('server/client/README.md')
  const telling = await Promise.all(
    ours.map(async (path) => (FETCHES_OUR_NAME.test(await readText(path)) ? [path] : [])),
  )
  expect(telling.flat()).toEqual([])
  const commands = ['npx', 'npx -y', 'npm install', 'bunx', 'pnpm dlx'].map(
    (command) => `${command} pixel-${'wall'} buy`,
  )
  expect(commands.filter((command) => !FETCHES_OUR_NAME.test(command))).toEqual([])
  const { version } = (await Bun.file(join(root, 'package.json')).json()) as { version: string }
  expect(await readText('server/client/README.md')).toContain(`npm install ./pixel-wall-${version}.tgz`)
})

test('every file and folder that the documents name exists', async () => {
  for (const document of documents) {
    const named = [
      ...(await readText(document)).matchAll(
        /`((?:server|shared|db|viewer|bench|test|deploy|docs|examples)\/[^`\s*<]*)`/g,
      ),
    ].map(([, path = '']) => path)
    const missing = named.filter((path) => !existsSync(join(root, path)))
    expect([document, missing]).toEqual([document, []])
  }
})

test('every documented route and every tool is in docs/api.md', async () => {
  const overview = new Set((await readText('docs/api.md')).match(/[\w/{}.]+/g))
  const names = [...OPERATIONS.map(({ path }) => path), ...TOOLS.map(({ name }) => name)]
  expect(names.filter((name) => !overview.has(name))).toEqual([])
})

test('every alert that the server raises has a section in OPERATING.md', async () => {
  const sections = [...(await readText('OPERATING.md')).matchAll(/^#### (.+)$/gm)].flatMap(([, names = '']) =>
    names.split(', '),
  )
  const sources = await Array.fromAsync(new Bun.Glob('server/**/*.ts').scan({ cwd: root }), readText)
  const alerts = [...sources.join('\n').matchAll(/\balert\('([a-z-]+)'/g)].map(([, name = '']) => name)
  expect(alerts.length).toBeGreaterThan(5)
  expect(alerts.filter((name) => !sections.includes(name))).toEqual([])
})

test('OPERATING.md, which is read under stress, has at most 5,000 words', async () => {
  expect((await readText('OPERATING.md')).split(/\s+/).length).toBeLessThan(5000)
})

// The anchor that GitHub creates for a heading.
const createAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const listAnchors = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => `#${createAnchor(heading)}`)

test('every link between the documents leads to a file and a heading that exist', async () => {
  for (const document of documents) {
    const broken: string[] = []
    for (const [, path = '', anchor] of (await readText(document)).matchAll(
      /\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)/g,
    )) {
      const target = path === '' ? document : join(dirname(document), path)
      const isThere = existsSync(join(root, target))
      if (!isThere || (anchor !== undefined && !listAnchors(await readText(target)).includes(anchor)))
        broken.push(path + (anchor ?? ''))
    }
    expect([document, broken]).toEqual([document, []])
  }
})

test('docs/operating-reference.md lists every budget with its real figures', async () => {
  const reference = await readText('docs/operating-reference.md')
  const rows = reference.matchAll(/^\| `([a-z ]+)` \| (address|wallet|block) \| (\d+) \| ([\d.]+) \| (.*) \|$/gm)
  const documented = [...rows].map(([, name, per, burst, perSecond, what]) => [
    name,
    { per, burst: Number(burst), perSecond: Number(perSecond), what },
  ])
  expect(Object.fromEntries(documented)).toEqual(BUDGETS)
  expect(reference).toContain(`at most ${STREAMS_PER_ADDRESS} live streams`)
  expect(reference).toContain(`at most ${STREAMS_PER_SITE} live streams together`)
})

test('the error responses of the proxies contain the advice of the wall about sent payments', async () => {
  const [words = ''] = REPEAT.split(' GET ')
  for (const recipe of ['deploy/nginx.conf', 'deploy/Caddyfile'])
    expect(await readText(recipe)).toContain(`If you sent a payment: ${words}"}`)
})

test('the recipe for nginx applies the budgets that are counted per request', async () => {
  const recipe = await readText('deploy/nginx.conf')
  const paces = Object.fromEntries(
    [...recipe.matchAll(/zone=(\w+):\w+ rate=(\d+)r\/s/g)].map(([, zone, pace]) => [zone, Number(pace)]),
  )
  const bursts = Object.fromEntries(
    [...recipe.matchAll(/limit_req zone=(\w+) burst=(\d+) nodelay/g)].map(([, zone, burst]) => [zone, Number(burst)]),
  )
  const byRequest = ['pictures', 'uploads', 'previews', 'searches', 'pages', 'calls', 'streams'] as const
  expect(paces).toEqual(Object.fromEntries(byRequest.map((name) => [name, BUDGETS[name].perSecond])))
  expect(bursts).toEqual(Object.fromEntries(byRequest.map((name) => [name, BUDGETS[name].burst])))
  expect(recipe).toContain(`limit_conn open_streams ${STREAMS_PER_ADDRESS};`)
})

test('the recipe for nginx accepts request bodies for areas up to the size that the wall accepts', async () => {
  const recipe = await readText('deploy/nginx.conf')
  const findBodySize = (place: string) =>
    recipe.split(`location ${place} {`)[1]?.match(/client_max_body_size (\w+);/)?.[1]
  expect(findBodySize('= /areas')).toBe(`${UPLOAD_MAX_BYTES / 2 ** 20}m`)
  expect(findBodySize('/areas/')).toBe(`${AREA_EDIT_MAX_BYTES / 2 ** 10}k`)
})
