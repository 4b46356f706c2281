/**
 * `bun run endurance outages [--only OUTAGE]`: takes everything that a wall depends on away from it, each for a moment, and tells in one
 * table how long it took until the outage was named, and until it was over. Ends with 1 if one of them misses.
 */

import { parseArgs } from 'node:util'
import { ON_A_FILE, ON_A_SERVER, type Outage } from './outages.ts'
import { type Seen, seeThrough } from './see-through.ts'
import { openFileStage, openServerStage, type Stage } from './stage.ts'

const NAMED_MAX_S = 30
const OVER_MAX_S = 10

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const { only } = values
const all = [...Object.keys(ON_A_FILE), ...Object.keys(ON_A_SERVER)]
if (only !== undefined && !all.includes(only)) {
  console.error(['bun run endurance outages [--only OUTAGE]', '', ...all.map((what) => `  ${what}`)].join('\n'))
  process.exit(2)
}

console.log(`| outage | named | s until named (${NAMED_MAX_S}) | s until over (${OVER_MAX_S}) | |`)
console.log('|---|---|--:|--:|---|')
// Both at once: each waits most of the time.
const missed = await Promise.all([play(openFileStage, ON_A_FILE), play(openServerStage, ON_A_SERVER)])
process.exit(missed.some((count) => count > 0) ? 1 : 0)

/** Plays outages one after the other; answers how many missed. */
async function play<On extends Stage>(
  open: () => Promise<On>,
  outages: Readonly<Record<string, Outage<On>>>,
): Promise<number> {
  const wanted = Object.entries(outages).filter(([what]) => only === undefined || what === only)
  if (wanted.length === 0) return 0
  const stage = await open()
  let missed = 0
  try {
    for (const [what, outage] of wanted) {
      if (outage.isPossible === false) {
        console.log(`| ${what} | | | | cannot be made on this machine |`)
        continue
      }
      const seen = await seeThrough(stage, outage)
      const misses = [...seen.misses, ...lateness(seen)]
      if (misses.length > 0) missed++
      const after = outage.afterSeconds === undefined ? '' : `, counted from ${outage.afterSeconds} s on`
      console.log(
        `| ${what}${after} | ${seen.called} | ${shown(seen.namedS)} | ${shown(seen.overS)} | ${misses.length === 0 ? 'ok' : `MISSED: ${misses.join('; ')}`} |`,
      )
    }
  } finally {
    await stage.stop()
  }
  return missed
}

function lateness({ namedS = 0, overS = 0 }: Seen): string[] {
  return [
    ...(namedS > NAMED_MAX_S ? [`named later than ${NAMED_MAX_S} s`] : []),
    ...(overS > OVER_MAX_S ? [`over later than ${OVER_MAX_S} s`] : []),
  ]
}

function shown(seconds: number | undefined): string {
  return seconds === undefined ? 'never' : Math.max(0, seconds).toFixed(1)
}
