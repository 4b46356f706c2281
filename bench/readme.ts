/** Puts results between two marks in README.md. */

import { join } from 'node:path'

const README = join(import.meta.dir, '../README.md')
const START = '<!-- bench: start -->'
const END = '<!-- bench: end -->'

/** Replaces what stands between the marks. Throws when README.md has none. */
export async function writeResults(text: string): Promise<void> {
  const readme = await Bun.file(README).text()
  await Bun.write(README, between(readme, text))
}

/** A text with what stands between its marks replaced. Throws when it has none. */
export function between(readme: string, text: string): string {
  const [start, end] = [readme.indexOf(START), readme.indexOf(END)]
  if (start < 0 || end < start) throw new Error(`README.md has no place for results: ${START} and ${END}`)
  return `${readme.slice(0, start + START.length)}\n${text}\n${readme.slice(end)}`
}
