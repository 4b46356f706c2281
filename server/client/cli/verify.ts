import { formatCount } from '../../../shared/money.ts'
import { formatReport } from '../verify/report-lines.ts'
import { verify as verifyWall, type VerifyProgress } from '../verify/verify.ts'
import { parseHttpUrl, type Command, parseEndpoints, UsageError } from './command.ts'

/** `pixel-wall verify`: looks up every deed of a wall on the chain. */
export const verify: Command = {
  summary: 'checks every deed of a wall against the chain, without trusting the wall',
  usage: '[url]',
  options: {
    rpc: 'JSON-RPC endpoints, separated by commas (default: a public one)',
    since: 'look up only deeds after this number',
    folder: 'folder for the cache of data read from the chain',
  },
  flags: { all: 'read everything from the chain again' },
  argumentsMax: 1,
  failureStatus: 2,
  async run({ args: [address], options: { rpc, since, folder }, flags, url, print }) {
    if (since !== undefined && !/^\d{1,9}$/.test(since)) throw new UsageError('--since must be the number of a deed.')
    const report = await verifyWall(address === undefined ? url : parseHttpUrl(address), {
      rpc: parseEndpoints(rpc),
      since: since === undefined ? undefined : Number(since),
      all: flags.has('all'),
      folder,
      onProgress: showProgress,
    })
    if (process.stderr.isTTY) process.stderr.write(CLEARED)
    print(JSON.parse(JSON.stringify(report, stringifyBigint)) as object, formatReport(report))
    return report.findings.length === 0 ? 0 : 1
  },
}

const stringifyBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

const CLEARED = '\r\u001B[K'

const DOING = {
  deeds: 'deeds read',
  payments: 'payments looked up',
  search: 'blocks of the chain searched for payments without a deed',
} as const

function showProgress({ stage, done, total }: VerifyProgress): void {
  const of = total === undefined ? '' : ` of ${formatCount(total)}`
  if (process.stderr.isTTY) process.stderr.write(`${CLEARED}${formatCount(done)}${of} ${DOING[stage]} `)
}
