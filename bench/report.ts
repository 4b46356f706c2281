/** Renders the results as text, and writes them into `docs/benchmarks.md`. */

import { join } from 'node:path'
import type { Findings } from './findings.ts'

const DOCUMENT = join(import.meta.dir, '../docs/benchmarks.md')
const START = '<!-- bench: start -->'
const END = '<!-- bench: end -->'

/** The findings of each scenario, by its title. */
export type Report = Readonly<Record<string, Findings>>

/** The meaning of a ratio, its limits, and the reason for a miss. */
type Goal = {
  readonly atLeast?: number
  readonly atMost?: number
  readonly says: string
  readonly whyMissed?: string
}

/** The goal of each ratio that has one. */
export type Goals = Readonly<Record<string, Goal>>

/** A figure with two or three significant digits, or as a whole number from 100 on. */
export function formatShort(value: number): string {
  if (Number.isNaN(value)) return '-'
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value.toPrecision(value < 1 ? 2 : 3)
}

/** The rows of one scenario, aligned. */
export function renderTable({ rows }: Findings): string {
  const width = Math.max(...rows.map(({ what }) => what.length))
  return rows
    .map(({ what, figures }) => {
      const all = Object.entries(figures).map(([unit, value]) => `${formatShort(value)} ${unit}`.padStart(20))
      return `  ${what.padEnd(width)}${all.join('')}`
    })
    .join('\n')
}

/** For each ratio, whether it meets its goal, and a line of text that says so and gives the reason for a miss. */
export function checkGoals(report: Report, goals: Goals): { readonly line: string; readonly isMet: boolean }[] {
  const ratios = Object.values(report).flatMap(({ ratios: some }) => Object.entries(some))
  return ratios.map(([name, ratio]) => {
    const isMet = meetsGoal(ratio, goals[name])
    const line = `  ${isMet ? 'yes' : ' NO'}  ${name.padEnd(52)} ${formatShort(ratio).padStart(6)}  ${describeGoal(goals[name])}`
    return { line: isMet ? line : `${line}\n       ${goals[name]?.whyMissed ?? UNEXPLAINED}`, isMet }
  })
}

// The text for a miss that nobody has investigated yet.
const UNEXPLAINED = 'No reason is known.'

function meetsGoal(ratio: number, goal: Goal | undefined): boolean {
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = goal ?? {}
  return ratio >= atLeast && ratio <= atMost
}

const describeGoal = (goal: Goal | undefined) => {
  if (goal === undefined) return ''
  return goal.atLeast === undefined ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`
}

/** A Markdown table of the ratios that have goals, described in words; a miss is marked and explained. */
export function renderMarkdown(report: Report, goals: Goals, machine: string): string {
  const rows = Object.values(report).flatMap(({ ratios }) =>
    Object.entries(ratios).flatMap(([name, ratio]) => {
      const goal = goals[name]
      if (goal === undefined) return []
      const missed = meetsGoal(ratio, goal) ? '' : ` **Missed.** ${goal.whyMissed ?? UNEXPLAINED}`
      return [`| ${goal.says}.${missed} | ${formatShort(ratio)} | ${describeGoal(goal)} |`]
    }),
  )
  const head = [`Measured by \`bun run bench\` on ${machine}.`, '', '| What | measured | goal |', '|---|--:|--:|']
  return [...head, ...rows].join('\n')
}

/** Replaces the text between the marks in `docs/benchmarks.md`. Throws if that file has no marks. */
export async function writeResults(text: string): Promise<void> {
  await Bun.write(DOCUMENT, replaceResults(await Bun.file(DOCUMENT).text(), text))
}

/** Returns `document` with the text between its marks replaced. Throws if `document` has no marks. */
export function replaceResults(document: string, text: string): string {
  const [start, end] = [document.indexOf(START), document.indexOf(END)]
  if (start < 0 || end < start) throw new Error(`the document lacks the marks around the results: ${START} and ${END}`)
  return `${document.slice(0, start + START.length)}\n${text}\n${document.slice(end)}`
}
