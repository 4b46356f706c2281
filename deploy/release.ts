/**
 * `bun run release [FOLDER]`: builds the release that an operator installs, by default in `dist/release`. The same
 * sources and the same version of Bun give the same bytes, and nothing is downloaded.
 */

import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import manifest from '../package.json'
import { readFilesIn } from '../server/http/answer/viewer-files.ts'

const ROOT = join(import.meta.dir, '..')
const OUT = resolve(Bun.argv[2] ?? join(ROOT, 'dist/release'))
// Always in the same folder, because the program's bytes depend on the paths of its files.
const PAGE = join(ROOT, 'dist/release-page')
const PLATFORM = `${process.platform}-${process.arch}`
const PROGRAM = `pixel-wall-${PLATFORM}`
const BUNDLE = `pixel-wall-${manifest.version}-${PLATFORM}`

// The documents for operators, which link to each other.
const DOCUMENTS = ['OPERATING.md', 'docs/operating-reference.md', 'docs/postgres.md', 'docs/settings.md', 'LICENSE']

// The workers. The program finds them inside the executable by their bare file names.
const WORKERS = [
  'server/adapters/pictures/image-worker.ts',
  'server/adapters/pictures/own-pictures.ts',
  'db/sqlite/file/integrity-worker.ts',
]

rmSync(OUT, { recursive: true, force: true })
mkdirSync(join(OUT, BUNDLE), { recursive: true })
run('bun', 'run', 'build', '--outDir', PAGE)
await compileProgram()
rmSync(PAGE, { recursive: true })
addDocuments()
packArchive()
console.log(`${OUT} contains ${readdirSync(OUT).toSorted().join(', ')}`)

/**
 * Builds the single executable file with the runtime, the server, the page, the workers and the native part of
 * secp256k1.
 */
async function compileProgram(): Promise<void> {
  const page = await readFilesIn(PAGE)
  if (!page.has('index.html')) throw new Error('the page was not built')
  await Bun.build({
    entrypoints: ['server/cli.ts', ...WORKERS].map((path) => join(ROOT, path)),
    root: ROOT,
    target: 'bun',
    // With bytecode compiled ahead of time, the program's first response takes a quarter less work.
    bytecode: true,
    format: 'esm',
    naming: { entry: '[name].[ext]', asset: '[name].[ext]' },
    plugins: [createPagePlugin(page)],
    compile: { outfile: join(OUT, PROGRAM), autoloadDotenv: false, autoloadBunfig: false },
  })
}

/** Embeds the files that the source code otherwise finds next to itself. */
function createPagePlugin(page: ReadonlyMap<string, string>): BunPlugin {
  return {
    name: 'inside',
    setup(build) {
      build.onLoad({ filter: /\/server\/page-files\.ts$/ }, () => ({ loader: 'ts', contents: renderPageModule(page) }))
      build.onLoad({ filter: /\/secp256k1\/bindings\.js$/ }, ({ path }) => ({
        loader: 'js',
        contents: `const addon = require(${JSON.stringify(findAddon(join(path, '../prebuilds', PLATFORM)))})
module.exports = require('./lib')(new addon.Secp256k1())`,
      }))
    },
  }
}

function renderPageModule(page: ReadonlyMap<string, string>): string {
  const files = [...page].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const imports = files.map(([, path], at) => `import file${at} from ${JSON.stringify(path)} with { type: 'file' }`)
  const entries = files.map(([name], at) => `[${JSON.stringify(name)}, file${at}]`)
  return `${imports.join('\n')}\nexport const loadPageFiles = async () => new Map([${entries.join(', ')}])`
}

/** The native part of secp256k1 for this platform; on Linux, the one for the C library that Bun itself uses. */
function findAddon(folder: string): string {
  const name = readdirSync(folder).find((file) => file.endsWith('.node') && !file.includes('musl'))
  if (name === undefined) throw new Error(`no native part of secp256k1 for ${PLATFORM}`)
  return join(folder, name)
}

/** Adds the files that are installed or read next to the program. */
function addDocuments(): void {
  const bundle = join(OUT, BUNDLE)
  cpSync(join(OUT, PROGRAM), join(bundle, 'pixel-wall'))
  for (const name of readdirSync(join(ROOT, 'deploy'))) {
    if (name !== 'release.ts') cpSync(join(ROOT, 'deploy', name), join(bundle, name), { recursive: true })
  }
  for (const name of DOCUMENTS) cpSync(join(ROOT, name), join(bundle, name))
  writeFileSync(join(bundle, 'pixel-wall.env'), renderSettings())
  cpSync(join(ROOT, 'CHANGELOG.md'), join(bundle, 'CHANGES.md'))
  writeFileSync(join(bundle, 'sbom.json'), run(join(OUT, PROGRAM), 'sbom'))
}

/** The settings file to fill in, with the paths that the systemd units set up for the wall. */
function renderSettings(): string {
  const places = {
    DATABASE_PATH: '/var/lib/pixel-wall/wall.sqlite',
    ADMIN_SOCKET_PATH: '/var/lib/pixel-wall/wall.sock',
  }
  let text = readFileSync(join(ROOT, '.env.example'), 'utf8').replace('Copy to .env and fill', 'Fill')
  for (const [name, path] of Object.entries(places))
    text = text.replace(new RegExp(`^# ${name}=.*$`, 'm'), `${name}=${path}`)
  return text
}

/**
 * Packs one archive, with the same bytes on every machine and at any time, and writes the checksums of all released
 * files.
 */
function packArchive(): void {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rw,go+r-w', '--sort=name', '--mtime=@0']
  run('tar', '-C', OUT, ...owner, '--format=gnu', '-cf', join(OUT, `${BUNDLE}.tar`), BUNDLE)
  run('gzip', '-n', join(OUT, `${BUNDLE}.tar`))
  cpSync(join(OUT, BUNDLE, 'CHANGES.md'), join(OUT, 'CHANGES.md'))
  cpSync(join(OUT, BUNDLE, 'sbom.json'), join(OUT, 'sbom.json'))
  rmSync(join(OUT, BUNDLE), { recursive: true })
  const sums = readdirSync(OUT)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(OUT, name)))
          .digest('hex')}  ${name}`,
    )
  writeFileSync(join(OUT, 'SHA256SUMS'), `${sums.join('\n')}\n`)
}

/** Runs a program in the project's folder to its end; returns its output. Throws if the program fails. */
function run(...command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: ROOT })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}:\n${stderr.toString()}`)
  return stdout.toString()
}
