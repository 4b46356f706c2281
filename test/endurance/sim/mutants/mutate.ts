/** Plants each bug in a copy of the source, and counts the histories until one shows it. */

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Choice } from '../play.ts'
import { playStretch } from '../workers.ts'
import type { Mutant } from './mutant.ts'
import { mutants } from './mutants.ts'

const ROOT = resolve(import.meta.dir, '../../../..')

// The files that the simulation needs.
const SOURCES = [
  'server',
  'db',
  'shared',
  'test/endurance/sim',
  'test/support',
  'package.json',
  'tsconfig.json',
  'tsconfig.base.json',
]

// A bug must show within this many histories. The first batches are small, because most bugs show within a few
// histories. Bugs that can show only in rare histories get more: one history out of 251 has an operator, one out of 23
// has endpoints, and one out of 14 has new prices.
const KILLED_WITHIN = 50_000
const MORE: Readonly<Record<string, number>> = { operator: 2, endpoints: 4, 'real prices': 4 }
const chooseSeedLimit = ({ shows }: Mutant) => KILLED_WITHIN * (MORE[shows ?? ''] ?? 1)
const STRETCHES = [250, 1000, 5000]

/** The result for a bug: the seed that showed it and the broken promise, or neither. */
export type Fate = { readonly mutant: Mutant; readonly seed?: number; readonly broken?: string }

/** The source with the bug in it. Throws if the text to change does not occur exactly once. */
export function plantBug({ name, file, from, to }: Mutant): string {
  const source = readFileSync(join(ROOT, file), 'utf8')
  const [before, after, ...more] = source.split(from)
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`"${name}": the text to replace does not occur exactly once in ${file}`)
  return before + to + after
}

/** Plants one bug and plays up to `seeds` histories, from the seed `first` on. */
export async function runMutant(mutant: Mutant, seeds: number, first = 0): Promise<Fate> {
  const folder = mkdtempSync(join(tmpdir(), 'pixel-wall-mutant-'))
  try {
    const source = plantBug(mutant)
    for (const path of SOURCES) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, mutant.file), source)
    const last = first + seeds
    for (let from = first, nth = 0; from < last; nth += 1) {
      const end = Math.min(last, from + (STRETCHES[nth] ?? 5000))
      const broken = await playStretch(join(folder, 'test/endurance/sim'), from, end, () => {}, createChoice(mutant))
      // If the bug's code refers to an unknown name, its failure proves nothing.
      if (broken?.broken.includes('ReferenceError') === true) throw new Error(`"${mutant.name}": ${broken.broken}`)
      if (broken !== undefined) return { mutant, ...broken }
      from = end
    }
    return { mutant }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * The kinds of histories to play: a bug in SQL shows only with the real engine, and one between servers only with two
 * servers.
 */
const createChoice = ({ file, shows }: Mutant): Choice => ({
  real: file.startsWith('db/') || shows?.startsWith('real') === true,
  twins: shows === 'twins' || shows === 'real twins',
  endpoints: shows === 'endpoints',
  operator: shows === 'operator',
  prices: shows === 'real prices',
  wide: shows === 'real wide',
})

/** Plants every bug and prints the results; returns the exit code. */
export async function runMutants(workers: number, seeds: number): Promise<number> {
  // Before the first bug is tried, checks that every bug can be planted.
  for (const mutant of mutants) plantBug(mutant)
  const waiting = [...mutants]
  const fates: Fate[] = []
  const runNext = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const fate = await runMutant(mutant, Math.min(seeds, chooseSeedLimit(mutant)))
      fates.push(fate)
      console.log(
        fate.seed === undefined ? `SURVIVES  ${mutant.name}` : `${formatSeed(fate.seed)}${mutant.name}: ${fate.broken}`,
      )
    }
  }
  await Promise.all(Array.from({ length: workers }, runNext))
  const survivors = fates.filter(({ seed }) => seed === undefined)
  console.log(`${fates.length - survivors.length} of ${mutants.length} planted bugs found`)
  return survivors.length === 0 ? 0 : 1
}

const formatSeed = (seed: number) => `${seed}`.padStart(8).padEnd(10)
