/** `pixel-wall reports`: lists reported artworks with their pictures, and applies the operator's decision. */

import { parseArgs } from 'node:util'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { formatBlocks, formatCountWithNoun } from '../../shared/money.ts'
import { drawBlocks } from '../../shared/terminal.ts'
import { ALL_BLOCKS, parseCoord, type BlockIndex } from '../../shared/wall.ts'
import { DRAWN, type ReportedWork } from '../wall/reported-works.ts'
import { sendCommand, printLines, runRemotely, UsageError, type Command } from './command.ts'
import { readReasonAndUser } from './moderate.ts'

const USAGE = `Lists the works that readers reported, those with the most reports first, or closes the reports on one work. The wall must be running.

  pixel-wall reports                              with a picture of each work, in a terminal with 256 colours
  pixel-wall reports hide COLUMN,ROW --why TEXT      hides the work that the block is part of, and closes its reports
  pixel-wall reports dismiss COLUMN,ROW --why TEXT   leaves the work as it is, and closes its reports

Nothing is hidden automatically. A closed report is deleted after 90 days. \`pixel-wall hidden --trail\` still lists what was hidden.
`

const NOTES_SHOWN = 5

/** Lists the reported works, or applies a decision about one of them. */
export const reports: Command = {
  usage: USAGE,
  async run(args) {
    const options = { why: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    const [act, target, ...rest] = positionals
    if (act === undefined && values.why === undefined) return await printReports()
    if ((act !== 'hide' && act !== 'dismiss') || target === undefined || rest.length > 0) throw new UsageError()
    const { who, why } = readReasonAndUser(values.why)
    if (why === null) throw new UsageError('give the reason with --why TEXT')
    return await runRemotely('close-reports', { outcome: act === 'hide' ? 'hidden' : 'dismissed', target, who, why })
  },
}

async function printReports(): Promise<number> {
  const { lines } = await sendCommand('reports', {})
  const [waiting = '0', ...works] = lines
  if (works.length === 0) printLines(['There are no reports.'])
  for (const work of works) printReport(Value.Parse(Work, JSON.parse(work)))
  if (works.length < Number(waiting))
    printLines([`and ${formatCountWithNoun(Number(waiting) - works.length, 'more work')}`])
  return 0
}

function printReport({ place, owner, blocks, message, link, reports: open, around }: ReportedWork): void {
  const reasons = [...Map.groupBy(open, ({ reason }) => reason)].map(([reason, same]) => `${same.length} ${reason}`)
  printLines([
    `${place}, ${formatBlocks(blocks)} of ${owner ?? 'nobody'}: ${reasons.join(', ')}`,
    ...(message === null ? [] : [`  message  ${message}`]),
    ...(link === null ? [] : [`  link     ${link}`]),
    ...open
      .filter(({ note }) => note !== null)
      .slice(-NOTES_SHOWN)
      .map(({ at, reason, note }) => `  ${new Date(at).toISOString()} ${reason}: ${note}`),
  ])
  const middle = parseCoord(place)
  if (!process.stdout.isTTY || middle === undefined) return
  const painted = new Map<BlockIndex, Uint8Array | null>()
  for (const [index, pixels] of around) {
    const block = ALL_BLOCKS[index]
    if (block !== undefined) painted.set(block, pixels === null ? null : Buffer.from(pixels, 'base64'))
  }
  console.log(drawBlocks(painted, DRAWN.across, DRAWN.down, middle))
}

const TextOrNull = Type.Union([Type.String(), Type.Null()])

const Work = Type.Unsafe<ReportedWork>(
  Type.Object({
    place: Type.String(),
    owner: TextOrNull,
    blocks: Type.Integer(),
    message: TextOrNull,
    link: TextOrNull,
    reports: Type.Array(Type.Object({ at: Type.Integer(), reason: Type.String(), note: TextOrNull })),
    around: Type.Array(Type.Tuple([Type.Integer(), TextOrNull])),
  }),
)
