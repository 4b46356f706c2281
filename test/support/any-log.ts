/** Random logs of walls, and how a log is compacted. */

import fc from 'fast-check'
import type { Change, BlockContent, Hidden, Profile, SaleChange } from '../../server/domain/wall/log.ts'
import { CONTENT_PARTS, applyModeration, omitHiddenParts } from '../../server/domain/wall/moderation.ts'
import { trustPixels } from '../../shared/pixels.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../shared/wall.ts'
import { NOW, createWalletAddress } from './samples.ts'

/** States that no part of a block is hidden. */
export const NOTHING_HIDDEN: Hidden = { pixels: false, message: false, link: false }

const contents: fc.Arbitrary<BlockContent> = fc.record({
  pixels: fc.option(fc.uint8Array({ minLength: 100, maxLength: 100, max: 239 }).map(trustPixels)),
  message: fc.option(fc.constantFrom('hello', 'bonjour', 'hallo')),
  link: fc.option(fc.constantFrom('https://a.example/', 'https://b.example/')),
})

const profiles: fc.Arbitrary<Profile> = fc.record({
  name: fc.option(fc.constantFrom('Ada', 'Bo', 'Cy')),
  framework: fc.option(fc.constantFrom('loom', 'eliza')),
})

type Step = {
  readonly does: 'sell' | 'repaint' | 'hide' | 'unhide' | 'identify'
  readonly pick: number // which wallet buys, or which block or agent changes
  readonly content: BlockContent
  readonly profile: Profile
  readonly parts: readonly (typeof CONTENT_PARTS)[number][] // which parts to hide, or to show again
}

const steps: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('sell', 'repaint', 'hide', 'unhide', 'identify'),
  pick: fc.nat(11),
  content: contents,
  profile: profiles,
  parts: fc.subarray([...CONTENT_PARTS], { minLength: 1 }),
})

/** A log in which up to twelve wallets buy, repaint and rename, and an operator hides and unhides. */
export const generateLog = (maxLength: number): fc.Arbitrary<readonly Change[]> =>
  fc.array(steps, { maxLength }).map(buildLog)

function buildLog(script: readonly Step[]): readonly Change[] {
  const log: Change[] = []
  const agents: number[] = [] // the wallets that have bought, in order
  const sold: BlockIndex[] = []
  // The content that each block's owner set.
  const owned = new Map<BlockIndex, { content: BlockContent; hidden: Hidden }>()
  for (const { does, pick, content, profile, parts } of script) {
    const entry = { number: log.length + 1, at: NOW + 1000 * log.length }
    const block = sold[pick % sold.length]
    if (does === 'sell' || block === undefined) {
      const next = CLAIM_ORDER[sold.length]
      if (next === undefined) break
      if (!agents.includes(pick)) agents.push(pick)
      sold.push(next)
      owned.set(next, { content, hidden: NOTHING_HIDDEN })
      const agent = agents.indexOf(pick) + 1
      log.push({
        ...entry,
        kind: 'sale',
        seq: sold.length,
        block: next,
        content,
        agent,
        wallet: createWalletAddress(pick + 1),
        profile,
      })
    } else if (does === 'repaint') {
      const { hidden } = owned.get(block) ?? { hidden: NOTHING_HIDDEN }
      owned.set(block, { content, hidden })
      log.push({ ...entry, kind: 'repaint', block, content: omitHiddenParts(content, hidden) })
    } else if (does === 'hide' || does === 'unhide') {
      const before = owned.get(block) ?? { content, hidden: NOTHING_HIDDEN }
      const hidden = applyModeration(before.hidden, does, parts)
      owned.set(block, { ...before, hidden })
      log.push({ ...entry, kind: does, block, hidden, content: omitHiddenParts(before.content, hidden) })
    } else log.push({ ...entry, kind: 'identity', agent: (pick % agents.length) + 1, profile })
  }
  return log
}

/** A log as it is read later: each entry lacks the content that was hidden after it. */
export function rereadLog(log: readonly Change[]): readonly Change[] {
  return log.map((change) => {
    if (change.kind === 'identity') return change
    const masks = log.flatMap((later) =>
      'hidden' in later && later.block === change.block && later.number > change.number ? [later.hidden] : [],
    )
    return { ...change, content: masks.reduce(omitHiddenParts, change.content) }
  })
}

/**
 * The compacted log: every sale and moderation, the latest repaint of each block, and the latest identity of each
 * agent.
 */
export function compactLog(whole: readonly Change[]): readonly Change[] {
  const log = rereadLog(whole)
  const readSubject = (change: Change) => (change.kind === 'identity' ? change.agent : change.block)
  return log.filter(
    (change, i) =>
      isSale(change) ||
      'hidden' in change ||
      !log.slice(i + 1).some((later) => later.kind === change.kind && readSubject(later) === readSubject(change)),
  )
}

/** Whether a change is a sale. */
export const isSale = (change: Change): change is Change & SaleChange => change.kind === 'sale'
