/** Repaints an area for its owner, or for the painter of all its blocks: every block, or none. */

import { areaName, blocksOf, type Area } from '../../shared/area.ts'
import type { EditAreaBody } from '../../shared/contract/area.ts'
import { areaMessage, digestOfPixels } from '../../shared/signing.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import { readAreaPixels } from '../domain/wall/area-pixels.ts'
import { isTimely } from '../domain/wall/edit.ts'
import { checkSigner, notSigned, staleTime, superseded } from './check-signer.ts'
import { beingBought, noOwner, signersOf, type EditDeps } from './edit-block.ts'
import type { RateLimits } from './rate-limits.ts'

/** Applies an edit that passed the contract's schema, sent from the address `from`; answers how many blocks it changed. */
export async function editArea(
  { blocks, wallets, clock, hosts, advance, limits }: EditDeps,
  area: Area,
  body: EditAreaBody,
  from: string,
): Promise<{ readonly updated: true; readonly area: string; readonly blocks: number } | Failure> {
  const now = clock.now()
  const { ts, message, link } = body
  const pixels = body.pixels === undefined ? undefined : readAreaPixels(body.pixels, area)
  if (pixels !== undefined && 'code' in pixels) return pixels
  const owner = await blocks.ownerOf(area)
  if (owner.kind === 'open') return noOwner(owner.block)
  if (owner.kind === 'held') return beingBought(owner.block)
  if (!isTimely(ts, now)) return staleTime(now)

  const fields = { pixels: pixels && digestOfPixels(pixels.rows), message, link }
  const messages = hosts.map((host) => areaMessage(host, areaName(area), ts, fields))
  // Nobody's signature counts for what belongs to several wallets.
  const signers = owner.kind === 'owned' ? signersOf(owner) : []
  const whose = 'the area’s owner'
  const signed = await checkSigner(wallets, signers, whose, messages, body, from)
  if ('code' in signed) return signed
  if (owner.kind !== 'owned') return notSigned(whose, messages)

  const painted = blocksOf(area)
  // Counted only after the signature check, so that nobody else can use up the blocks' budgets.
  const beyond = takeOfEach(limits, painted)
  if (beyond !== undefined) return beyond
  const painter = signed.by === owner.wallet ? null : signed.by
  const edit = { digest: signed.digest, ts, pixels: pixels?.blocks, message, link, painter }
  const result = await blocks.editArea(area, edit, now)
  if (result === 'superseded') return superseded()
  if (result === 'not-painter') return notSigned(whose, messages)
  if (result === 'not-owned') return failure('no_owner', 'A block of the area has no owner yet.')
  await advance()
  return { updated: true, area: areaName(area), blocks: painted.length }
}

/** Takes a repaint from each block's budget, or from none. */
function takeOfEach(limits: RateLimits, blocks: readonly BlockIndex[]): Failure | undefined {
  const names = blocks.map((block) => coordOf(block))
  for (const name of names) {
    const beyond = limits.check('repaints', name)
    if (beyond !== undefined) return beyond
  }
  for (const name of names) limits.take('repaints', name)
  return undefined
}
