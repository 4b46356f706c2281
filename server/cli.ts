/** `pixel-wall`: serves the wall and runs the operator's commands. */

import manifest from '../package.json'
import { escapeLine, escapeText } from '../shared/terminal.ts'
import { findNearestWord } from '../shared/text.ts'
import { ConfigError, EXIT_CONFIG, listWarnings } from './config.ts'
import type { Command } from './operate/command.ts'
import { loadSettings } from './settings-file.ts'

/** The commands. Each command is loaded only when it runs. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  books: async () => (await import('./operate/books.ts')).books,
  resolve: async () => (await import('./operate/resolve.ts')).resolve,
  hide: async () => (await import('./operate/moderate.ts')).hide,
  unhide: async () => (await import('./operate/moderate.ts')).unhide,
  ban: async () => (await import('./operate/moderate.ts')).ban,
  unban: async () => (await import('./operate/moderate.ts')).unban,
  hidden: async () => (await import('./operate/moderate.ts')).hidden,
  reports: async () => (await import('./operate/reports.ts')).reports,
  check: async () => (await import('./operate/check.ts')).check,
  status: async () => (await import('./operate/status.ts')).status,
  listed: async () => (await import('./operate/listed.ts')).listed,
  export: async () => (await import('./operate/export.ts')).exportMoney,
  backup: async () => (await import('./operate/backup.ts')).backup,
  move: async () => (await import('./operate/move.ts')).move,
  'accept-restore': async () => (await import('./operate/accept-restore.ts')).acceptRestore,
  sbom: async () => (await import('./operate/sbom.ts')).sbom,
}

const USAGE = `Serves and operates a pixel wall.

  pixel-wall [--env-file FILE] serve             serves the wall until SIGTERM
  pixel-wall [--env-file FILE] COMMAND ...       ${Object.keys(COMMANDS).join(', ')}
  pixel-wall --version

Settings come from the environment. Settings that are not set there come from FILE; without --env-file, from /etc/pixel-wall.env,
if it exists, else from ./.env. Run a command with --help to see its usage.
`

// Accepts both `--env-file=FILE` and `--env-file FILE`.
const typed = Bun.argv.slice(2).flatMap((word, at) => (at === 0 ? word.split(/(?<=^--env-file)=/) : [word]))
const file = typed[0] === '--env-file' ? typed[1] : undefined
const [name, ...args] = file === undefined ? typed : typed.slice(2)
const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined

if (name === '--version') {
  console.log(manifest.version)
} else if (name === '--help' || name === 'help') {
  console.log(USAGE)
} else if (name === 'serve' && args.length === 0) {
  loadEnvironment()
  const { main } = await import('./main.ts')
  await main()
} else if (command === undefined) {
  console.error(`${describeMistake()}\n\n${USAGE}`)
  process.exitCode = 2
} else {
  const { runCommand } = await import('./operate/command.ts')
  const loaded = await command()
  if (args.includes('--help')) console.log(loaded.usage)
  else {
    loadEnvironment()
    process.exitCode = await runCommand(loaded, args)
  }
}

/** The usage error for the given arguments. */
function describeMistake(): string {
  if (name === undefined) return 'No command given.'
  if (name === 'serve') return '`serve` takes no arguments; put --env-file FILE before it.'
  const meant = findNearestWord(name, ['serve', ...Object.keys(COMMANDS)])
  return escapeLine(`Unknown command ${name}${meant === undefined ? '.' : `; did you mean ${meant}?`}`)
}

/** Loads the settings file into the environment. Ends the process if it cannot be read. */
function loadEnvironment(): void {
  try {
    const warnings = loadSettings(process.env, file)
    for (const warning of [...warnings, ...listWarnings(process.env)]) console.error(escapeLine(warning))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(escapeText(error.message))
    process.exit(EXIT_CONFIG)
  }
}
