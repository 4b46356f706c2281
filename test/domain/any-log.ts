/** Logs of walls on which anything may have happened, and how a log is compacted. */

import fc from 'fast-check'
import type { Change, Face, Persona, SaleChange } from '../../server/domain/log.ts'
import { trustPixels } from '../../shared/pixels.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import { NOW, wallet } from '../ports/samples.ts'

const faces: fc.Arbitrary<Face> = fc.record({
  pixels: fc.option(fc.uint8Array({ minLength: 100, maxLength: 100, max: 239 }).map(trustPixels)),
  message: fc.option(fc.constantFrom('hello', 'bonjour', 'hallo')),
  link: fc.option(fc.constantFrom('https://a.example/', 'https://b.example/')),
})

const personas: fc.Arbitrary<Persona> = fc.record({
  name: fc.option(fc.constantFrom('Ada', 'Bo', 'Cy')),
  framework: fc.option(fc.constantFrom('loom', 'eliza')),
})

type Step = {
  readonly does: 'sell' | 'repaint' | 'identify'
  readonly pick: number // which wallet buys, or which block or agent changes
  readonly face: Face
  readonly persona: Persona
}

const steps: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('sell', 'repaint', 'identify'),
  pick: fc.nat(11),
  face: faces,
  persona: personas,
})

/** A log in which up to twelve wallets buy, repaint and rename. */
export const anyLog = (maxLength: number): fc.Arbitrary<readonly Change[]> => fc.array(steps, { maxLength }).map(play)

function play(script: readonly Step[]): readonly Change[] {
  const log: Change[] = []
  const agents: number[] = [] // the wallets that have bought, in order
  const sold: BlockIndex[] = []
  for (const { does, pick, face, persona } of script) {
    const entry = { number: log.length + 1, at: NOW + 1000 * log.length }
    const block = sold[pick % sold.length]
    if (does === 'sell' || block === undefined) {
      const next = CLAIM_ORDER[sold.length]
      if (next === undefined) break
      if (!agents.includes(pick)) agents.push(pick)
      sold.push(next)
      const agent = agents.indexOf(pick) + 1
      log.push({
        ...entry,
        kind: 'sale',
        seq: sold.length,
        block: next,
        face,
        agent,
        wallet: wallet(pick + 1),
        persona,
      })
    } else if (does === 'repaint') log.push({ ...entry, kind: 'repaint', block, face })
    else log.push({ ...entry, kind: 'identity', agent: (pick % agents.length) + 1, persona })
  }
  return log
}

/** Every sale, and the latest repaint of each block and identity of each agent. */
export function compacted(log: readonly Change[]): readonly Change[] {
  const subject = (change: Change) => (change.kind === 'identity' ? change.agent : change.block)
  return log.filter(
    (change, i) =>
      isSale(change) ||
      !log.slice(i + 1).some((later) => later.kind === change.kind && subject(later) === subject(change)),
  )
}

/** Whether a change is a sale. */
export const isSale = (change: Change): change is Change & SaleChange => change.kind === 'sale'
