/** Repaints a block for its owner, or for the painter its owner has named. */

import type { EditBody } from '../../shared/contract/block.ts'
import { parsePixels } from '../../shared/pixels.ts'
import { editMessage } from '../../shared/signing.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { RETRY_AFTER_SECONDS } from '../domain/purchase/refusals.ts'
import { isTimely, keepUntil } from '../domain/wall/edit.ts'
import type { OwnedBlock } from '../domain/wall/log.ts'
import { shownOf, type WallView } from '../domain/wall/wall-view.ts'
import type { Blocks, Clock, Wallets } from '../ports.ts'
import type { RateLimits } from './rate-limits.ts'

/** What editing needs. `hosts` are the names a message may be signed for, the canonical one first; `advance` makes `view` level. */
export type EditDeps = {
  readonly blocks: Blocks
  readonly wallets: Wallets
  readonly clock: Clock
  readonly hosts: readonly string[]
  readonly view: WallView
  readonly advance: () => Promise<void>
  readonly limits: RateLimits
}

/** Applies an edit that passed the contract's schema; `coord` is the block as the request wrote it, `from` the
 * client's address. */
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
  const signed = await wallets.signed(signersOf(owned), messages, signatureOf(body), from)
  if (signed === 'busy' || signed === 'silent') return walletUnchecked(signed)
  if (signed === 'not-signed') return notSigned('the block’s owner', messages)

  const pixels = body.pixels === undefined ? undefined : parsePixels(body.pixels)
  if (pixels !== undefined && 'problem' in pixels) return failure('invalid_pixels', pixels.problem)
  // Only what its owner has signed counts, so that nobody else can use the block's budget up.
  const beyond = limits.take('repaints', coordOf(block))
  if (beyond !== undefined) return beyond
  const painter = signed.by === owned.wallet ? null : signed.by
  const said = { pixels, message: body.message, link: body.link, painter }
  const edit = { digest: signed.digest, keepUntil: keepUntil(body.ts), ...said }
  const result = await blocks.edit(block, edit, now)
  if (result === 'superseded') return superseded()
  if (result === 'not-owned') return noOwner(block)
  if (result === 'not-painter') return notSigned('the block’s owner', messages)
  await advance()
  return { ...owned, face: shownOf(view, block) }
}

/** Whose signatures count for a block. */
export const signersOf = ({ wallet, painter }: Pick<OwnedBlock, 'wallet' | 'painter'>): Address[] =>
  painter === null ? [wallet] : [wallet, painter]

/** The signature of a body that passed the contract's schema. */
export const signatureOf = ({ signature }: { readonly signature: string }) => signature as `0x${string}`

/** A time outside the window, with ours. */
export const staleTime = (now: number): Failure =>
  failure('stale_signature', 'ts must be within 5 minutes of this server’s time, in Unix milliseconds. Sign again.', {
    now,
  })

/** A message that was applied once, and replaced since. */
export const superseded = (): Failure =>
  failure('stale_signature', 'This message was applied before, and a newer one since. Sign again with a new ts.')

/** A signature that is not the wallet's, with the text it should have signed. */
export const notSigned = (whose: string, messages: readonly string[]): Failure =>
  failure('unauthorized', `The signature is not from ${whose} over the expected message (EIP-191 personal_sign).`, {
    expected: messages[0],
  })

/** A signature that no key made, whose wallet could not be asked: nothing is known of it, and nothing was changed. */
export const walletUnchecked = (why: 'busy' | 'silent'): Failure =>
  failure(
    'server_busy',
    why === 'busy'
      ? 'Too many smart-wallet signatures are being checked at the moment. Nothing was changed; send the same request again.'
      : 'The chain cannot be asked about this smart wallet at the moment. Nothing was changed; send the same request again.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )

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
