/** Repaints a block for its owner, or for the painter its owner has named. */

import type { EditBody } from '../../shared/contract/block.ts'
import { parsePixels } from '../../shared/pixels.ts'
import { editMessage } from '../../shared/signing.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { isTimely } from '../domain/wall/edit.ts'
import type { OwnedBlock } from '../domain/wall/log.ts'
import { shownOf, type WallView } from '../domain/wall/wall-view.ts'
import type { Blocks, Clock, Wallets } from '../ports.ts'
import { checkSigner, notSigned, staleTime, superseded } from './check-signer.ts'
import type { RateLimits } from './rate-limits.ts'

/** What editing needs. `hosts` are the names a message may be signed for, the canonical one first; `advance` updates `view`. */
export type EditDeps = {
  readonly blocks: Blocks
  readonly wallets: Wallets
  readonly clock: Clock
  readonly hosts: readonly string[]
  readonly view: WallView
  readonly advance: () => Promise<void>
  readonly limits: RateLimits
}

/**
 * Applies an edit that passed the contract's schema. `coord` is the block as the request wrote it, `from` the client's
 * address.
 */
export async function editBlock(
  { blocks, wallets, clock, hosts, view, advance, limits }: EditDeps,
  block: BlockIndex,
  coord: string,
  body: EditBody,
  from: string,
): Promise<OwnedBlock | Failure> {
  const now = clock.now()
  const owned = await blocks.owned(block)
  if (owned === undefined) return await noOwnerYet(blocks, block)
  if (!isTimely(body.ts, now)) return staleTime(now)

  const coords = [...new Set([coord, coordOf(block)])]
  const messages = hosts.flatMap((host) => coords.map((form) => editMessage(host, form, body.ts, body)))
  const whose = 'the block’s owner'
  const signed = await checkSigner(wallets, signersOf(owned), whose, messages, body, from)
  if ('code' in signed) return signed

  const pixels = body.pixels === undefined ? undefined : parsePixels(body.pixels)
  if (pixels !== undefined && 'problem' in pixels) return failure('invalid_pixels', pixels.problem)
  // Counted only after the signature check, so that nobody else can use up the block's budget.
  const beyond = limits.take('repaints', coordOf(block))
  if (beyond !== undefined) return beyond
  const painter = signed.by === owned.wallet ? null : signed.by
  const said = { pixels, message: body.message, link: body.link, painter }
  const edit = { digest: signed.digest, ts: body.ts, ...said }
  const result = await blocks.edit(block, edit, now)
  if (result === 'superseded') return superseded()
  if (result === 'not-owned') return noOwner(block)
  if (result === 'not-painter') return notSigned(whose, messages)
  await advance()
  return { ...owned, face: shownOf(view, block) }
}

/** Whose signatures count for a block. */
export const signersOf = ({ wallet, painter }: Pick<OwnedBlock, 'wallet' | 'painter'>): Address[] =>
  painter === null ? [wallet] : [wallet, painter]

/** Why a block without an owner cannot be edited. */
export async function noOwnerYet(blocks: Blocks, block: BlockIndex): Promise<Failure> {
  return (await blocks.reserved(block)) ? beingBought(block) : noOwner(block)
}

/** A block that nobody has bought. */
export const noOwner = (block: BlockIndex): Failure =>
  failure('no_owner', `Block ${coordOf(block)} has no owner yet. Buy it with GET /blocks/${coordOf(block)}.`)

/** A block that is held for a payer. */
export const beingBought = (block: BlockIndex): Failure =>
  failure('purchase_pending', `Block ${coordOf(block)} is being bought. Its owner can repaint it once it is sold.`)
