#!/usr/bin/env node
/** `pixel-wall`: buys, paints and reads a wall from the command line. */

import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { getMember } from '../../../shared/json.ts'
import { escapeLine } from '../../../shared/terminal.ts'
import { EXIT_STATUS } from '../wall-error.ts'
import {
  type AreaReceipt,
  keptPainter,
  painterIn,
  type Receipt,
  stateFolder,
  wall,
  WallError,
  type WallOptions,
} from '../wall.ts'
import { formatPurchase, buy, paint } from './buy.ts'
import { parseHttpUrl, type Call, type Command, parseEndpoints, MAX_DOLLARS, UsageError } from './command.ts'
import { look, mine, watch } from './look.ts'
import { readAccount } from './private-key.ts'
import { repaint } from './repaint.ts'
import { verify } from './verify.ts'

const COMMANDS: Readonly<Record<string, Command>> = { buy, paint, repaint, look, mine, watch, verify }

const COMMON = {
  url: 'URL of the wall (default: PIXEL_WALL_URL, else http://127.0.0.1:8402)',
  'key-file': 'file with the private key (default: PRIVATE_KEY, else a prompt)',
} as const

const FLAGS = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const

const USAGE_STATUS = 2

const USAGE = `Buys, paints and follows blocks of a pixel wall over x402.

  pixel-wall <command> [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(9)}${summary}`)
  .join('\n')}

  pixel-wall <command> --help lists its options; --json prints the result as JSON; --version prints the version.

  A signed payment is saved on disk until the wall says what became of it. After an interruption, run the same command
  again: it continues with the same payment and never pays twice. --max covers all that a command may spend, including on
  unfinished purchases that an earlier command left.

  Exit status: 0 done; 1 rejected (nothing was paid); 2 usage error, or price above --max (nothing was paid); 3 a payment
  may still be charged (run the same command again); 4 the wall is unreachable or busy (nothing was paid); 5 you paid but
  did not get what you asked for (the signed payment is saved; ask the operator). verify: 0 everything is proved; 1
  problems were found, each on a line of its own; 2 the wall or the chain could not be reached.
`

type Env = Readonly<Record<string, string | undefined>>

/** Runs a command; returns the exit status. */
async function runCommand([name = '', ...rest]: readonly string[], env: Env): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) return await runWithoutCommand(name)
  const isJson = rest.includes('--json')
  const earlier: Earlier = { finished: [], open: [] }
  try {
    const { options, flags, isHelp, args } = parseCommandLine(command, rest)
    if (isHelp) return print(formatUsage(name, command))
    return (await command.run(createCall({ options, flags, args, isJson, env, earlier }))) ?? 0
  } catch (error) {
    const status = reportFailure(error, isJson, earlier)
    return command.failureStatus ?? status
  }
}

async function runWithoutCommand(name: string): Promise<number> {
  if (name === '--version') return print(`${await readVersion()}\n`)
  if (name === '--help' || name === '-h' || name === 'help') return print(USAGE)
  writeNotice(name === '' ? 'usage: Give a command.' : `usage: There is no command ${name}.`)
  process.stderr.write(`\n${USAGE}`)
  return USAGE_STATUS
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  return String(getMember(manifest, 'version'))
}

function parseCommandLine(command: Command, args: readonly string[]) {
  const names = Object.keys({ ...command.options, ...COMMON })
  const texts: Record<string, { type: 'string' }> = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...texts, ...FLAGS, ...toFlagOptions(command) },
  })
  if (positionals.length > command.argumentsMax) throw new UsageError('Too many arguments.')
  const options: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) if (typeof value === 'string') options[name] = value
  const flags = new Set(Object.keys(values).filter((name) => !Object.hasOwn(options, name)))
  return { args: positionals, options, flags, isHelp: flags.has('help') }
}

const toFlagOptions = ({ flags = {} }: Command): Record<string, { type: 'boolean' }> =>
  Object.fromEntries(Object.keys(flags).map((name) => [name, { type: 'boolean' }]))

/** The outcome of purchases that earlier commands left unfinished, as far as this command knows it. */
type Earlier = { readonly finished: (Receipt | AreaReceipt)[]; readonly open: object[] }

type CallParts = Pick<Call, 'args' | 'options' | 'flags'> & {
  readonly isJson: boolean
  readonly env: Env
  readonly earlier: Earlier
}

const SAY_EVERY_MS = 15_000

function createCall({ args, options, flags, isJson, env, earlier }: CallParts): Call {
  const url = parseHttpUrl(options['url'] ?? env['PIXEL_WALL_URL'] ?? 'http://127.0.0.1:8402')
  let saidAt = -Infinity
  const notices: WallOptions = {
    onWait(_, why) {
      if (performance.now() - saidAt < SAY_EVERY_MS) return
      saidAt = performance.now()
      writeNotice(why)
    },
    onEarlier(receipt) {
      earlier.finished.push(receipt)
      writeNotice(`Finished an earlier purchase: ${formatPurchase(receipt, url)[0]}`)
    },
    onOpen(error) {
      earlier.open.push(describeError(error))
      writeNotice(`An earlier purchase is unfinished: ${error.message}`)
    },
    onLocked: () => writeNotice('Another command is buying with this wallet; waiting for it to finish...'),
  }
  return {
    args,
    options,
    flags,
    url,
    printProgress: writeNotice,
    openForReading: () => wall(url),
    async openAsOwner() {
      const maxDollars = requireDollars(options['max'] ?? MAX_DOLLARS)
      const account = await readAccount(options['key-file'], env)
      const rpc = parseEndpoints(options['rpc'])
      return wall(url, { ...notices, maxDollars, account, rpc, painter: await painterIn(stateFolder(env)) })
    },
    async openAsPainter() {
      const painter = await keptPainter(stateFolder(env))
      return painter && wall(url, { painter })
    },
    print(result, lines, drawing) {
      const printed = isJson ? [JSON.stringify({ ...result, ...omitEmpty(earlier) })] : lines
      if (drawing !== undefined && !isJson) process.stdout.write(`${drawing}\n`)
      for (const line of printed) process.stdout.write(`${escapeLine(line)}\n`)
    },
  }
}

function requireDollars(text: string): string {
  if (!/^\d{1,6}(\.\d{1,2})?$/.test(text)) throw new UsageError('--max must be an amount in dollars, such as 1.00.')
  return text
}

// The wall may belong to anybody, so no text from it may control the terminal.
const writeNotice = (line: string) => void process.stderr.write(`${escapeLine(line)}\n`)

function reportFailure(error: unknown, isJson: boolean, earlier: Earlier): number {
  const shown = describeError(error)
  if (isJson) process.stdout.write(`${escapeLine(JSON.stringify({ ...shown, ...omitEmpty(earlier) }))}\n`)
  else writeNotice(`${shown.status === undefined ? '' : `${shown.status} `}${shown.error}: ${shown.message}`)
  if (error instanceof WallError) return EXIT_STATUS[error.kind]
  return isMisuse(error) ? USAGE_STATUS : EXIT_STATUS.unknown
}

/** An error as `--json` prints it. */
function describeError(error: unknown) {
  if (!(error instanceof WallError)) {
    const message = error instanceof Error ? error.message : String(error)
    return { error: isMisuse(error) ? 'usage' : 'failed', status: undefined, message }
  }
  const { code, status, message, charged, amount, until } = error
  return { error: code, status, message, charged, amount, until }
}

/** The fields about earlier purchases, if there are any. */
const omitEmpty = ({ finished, open }: Earlier) => ({
  ...(finished.length === 0 ? {} : { finished }),
  ...(open.length === 0 ? {} : { open }),
})

// `parseArgs` throws for unknown options.
const isMisuse = (error: unknown) =>
  error instanceof UsageError ||
  (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))

function formatUsage(name: string, { summary, usage, options, flags }: Command): string {
  const all = Object.entries({ ...options, ...flags, ...COMMON, json: 'print the result as JSON' })
  const lines = all.map(([option, what]) => `  --${option.padEnd(11)}${what}`)
  return [`pixel-wall ${name} ${usage}`.trim(), '', summary, '', ...lines, ''].join('\n')
}

process.exitCode = await runCommand(process.argv.slice(2), process.env)
