/** Puts results between two marks in `docs/benchmarks.md`. */

import { join } from 'node:path'

const DOCUMENT = join(import.meta.dir, '../docs/benchmarks.md')
const START = '<!-- bench: start -->'
const END = '<!-- bench: end -->'

/** Replaces what stands between the marks. Throws when the document has none. */
export async function writeResults(text: string): Promise<void> {
  await Bun.write(DOCUMENT, between(await Bun.file(DOCUMENT).text(), text))
}

/** A text with what stands between its marks replaced. Throws when it has none. */
export function between(document: string, text: string): string {
  const [start, end] = [document.indexOf(START), document.indexOf(END)]
  if (start < 0 || end < start) throw new Error(`the document has no place for results: ${START} and ${END}`)
  return `${document.slice(0, start + START.length)}\n${text}\n${document.slice(end)}`
}
