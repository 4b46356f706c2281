/**
 * The changes that a wallet signs instead of paying for: repaints of a block or an area, its name, its painter. Each says
 * what is changed, the text to sign, whose signature counts, whose budget it takes from, and how it is applied. Whoever makes
 * a change, or asks what to sign for it, begins here.
 */

import { areaName, blocksOf, parseArea, type Area } from '../../shared/area.ts'
import type { PainterAnswer, RegisterAnswer } from '../../shared/contract/agent.ts'
import type { EditAreaAnswer } from '../../shared/contract/area.ts'
import type { EditAnswer } from '../../shared/contract/block.ts'
import { pixelsFromHex, type Pixels } from '../../shared/pixels.ts'
import {
  areaMessage,
  digestOfPixels,
  editMessage,
  painterMessage,
  registerMessage,
  type EditFields,
  type Field,
  type IdentityFields,
} from '../../shared/signing.ts'
import { coordOf, parseCoord, type BlockIndex } from '../../shared/wall.ts'
import { isAddress } from '../../shared/wallet.ts'
import { failure, isFailure, type Failure } from '../domain/failure.ts'
import type { Address, UnixMs } from '../domain/purchase/payment.ts'
import { invalidArea, invalidCoordinate } from '../domain/purchase/refusals.ts'
import { readAreaPixels } from '../domain/wall/canvas.ts'
import type { EditResult, IdentityResult, Signed } from '../domain/wall/edit.ts'
import type { OwnedBlock } from '../domain/wall/log.ts'
import { type Kind, rules, SIGNABLE, type SignedFields } from '../domain/wall/signed-fields.ts'
import { registryEntry, shownOf, type WallView } from '../domain/wall/wall-view.ts'
import type { Agents, Blocks } from '../ports.ts'
import type { BudgetName } from './rate-limits.ts'
import { deedOf } from './read-wall.ts'

/** What a signature lets somebody do here: `signers` are those whose signature counts, `whose` names them in a refusal. */
export type SignedRequest<Answer> = {
  readonly signers: readonly Address[]
  readonly whose: string
  readonly budgets: readonly BudgetName[]
  readonly keys: readonly string[] // each of the budgets' buckets that it takes one from
  apply(signed: Signed & { readonly by: Address }, now: UnixMs): Promise<ChangeResult | Failure>
  answer(result: ChangeResult): Answer | Promise<Answer>
}

/** A change, and the texts that are good for it: the one that a refusal shows is the first. */
export type SignedChange<Answer> = SignedRequest<Answer> & {
  readonly path: string
  readonly what: string // what will change, in words for its owner
  texts(host: string, ts: UnixMs): readonly string[]
}

/** How a change ended in the store. */
export type ChangeResult = EditResult | IdentityResult

/** What changes are made of. */
export type ChangeSources = { readonly blocks: Blocks; readonly agents: Agents; readonly view: WallView }

const REPAINTS = ['repaints', 'daily repaints'] as const

/** A repaint of the block at `coord`, as the request wrote it, with fields that keep their rules. */
export async function repaintOfBlock(
  { blocks, view }: ChangeSources,
  coord: string,
  fields: EditFields,
): Promise<SignedChange<EditAnswer> | Failure> {
  const block = parseCoord(coord)
  if (block === undefined) return invalidCoordinate()
  const owned = await blocks.owned(block)
  if (owned === undefined) return (await blocks.reserved(block)) ? beingBought(block) : noOwner(block)
  const pixels = typeof fields.pixels === 'string' ? pixelsFromHex(fields.pixels) : undefined
  const { message, link } = fields
  const coords = [...new Set([coord, coordOf(block)])]
  return {
    path: `/blocks/${coordOf(block)}`,
    what: `Repaint block ${coordOf(block)} (${namesOf('set_pixels', fields)})`,
    signers: signersOf(owned),
    whose: 'the block’s owner',
    budgets: REPAINTS,
    keys: [coordOf(block)],
    texts: (host, ts) => coords.map((form) => editMessage(host, form, ts, fields)),
    apply: ({ by, ...signed }, now) =>
      blocks.edit(block, { ...signed, pixels, message, link, painter: by === owned.wallet ? null : by }, now),
    answer: () => ({ updated: true, deed: deedOf({ ...owned, content: shownOf(view, block) }) }),
  }
}

/** A picture as it is signed, by its digest, and block by block unless the asker keeps it to itself. */
type SignedPicture = { readonly digest: string; readonly blocks?: Pixels }

/** Reads the picture that is sent for an area. */
export type ReadPicture = (pixels: string, area: Area) => SignedPicture | Failure

/** A repaint of every block of an area, which must all be of one wallet. */
export async function repaintOfArea(
  { blocks }: ChangeSources,
  name: string,
  fields: EditFields,
  read: ReadPicture = readPicture,
): Promise<SignedChange<EditAreaAnswer> | Failure> {
  const area = parseArea(name)
  if (area === undefined) return invalidArea()
  const picture = typeof fields.pixels === 'string' ? read(fields.pixels, area) : undefined
  if (isFailure(picture)) return picture
  const owner = await blocks.ownerOf(area)
  if (owner.kind === 'open') return noOwner(owner.block)
  if (owner.kind === 'held') return beingBought(owner.block)
  const { message, link } = fields
  const painted = blocksOf(area)
  // Nobody's signature counts for what belongs to several wallets.
  const wallet = owner.kind === 'owned' ? owner.wallet : undefined
  return {
    path: `/areas/${areaName(area)}`,
    what: `Repaint area ${areaName(area)} (${namesOf('set_area', fields)})`,
    signers: owner.kind === 'owned' ? signersOf(owner) : [],
    whose: 'the area’s owner',
    budgets: REPAINTS,
    keys: painted.map((block) => coordOf(block)),
    texts: (host, ts) => [areaMessage(host, areaName(area), ts, { pixels: picture?.digest, message, link })],
    apply: ({ by, ...signed }, now) => {
      const painter = by === wallet ? null : by
      return blocks.editArea(area, { ...signed, pixels: picture?.blocks, message, link, painter }, now)
    },
    answer: () => ({ updated: true, area: areaName(area), blocks: painted.length }),
  }
}

const readPicture: ReadPicture = (pixels, area) => {
  const read = readAreaPixels(pixels, area)
  return isFailure(read) ? read : { digest: digestOfPixels(read.rows), blocks: read.blocks }
}

const namesOf = (kind: Kind, fields: { readonly [Name in keyof SignedFields]: Field }): string =>
  SIGNABLE[kind].filter((name) => fields[name] !== undefined).join(', ')

/** Where a wallet names itself, and what it does there, whichever wallet it is. */
export const registrationIn = (fields: IdentityFields) =>
  ({ path: '/api/agents/me', what: `Name this wallet (${namesOf('register', fields)})` }) as const

/** The name and framework that a wallet gives itself. */
export async function registration(
  { agents, view }: ChangeSources,
  given: string,
  fields: IdentityFields,
): Promise<SignedChange<RegisterAnswer> | Failure> {
  const wallet = await buyer(agents, given)
  if (isFailure(wallet)) return wallet
  const { name, framework } = fields
  return {
    ...ofWallet(wallet),
    ...registrationIn(fields),
    budgets: ['registrations', 'daily names'],
    texts: (host, ts) => [registerMessage(host, wallet, ts, fields)],
    apply: ({ digest, ts }, now) => agents.identify(wallet, { digest, ts, name, framework }, now),
    answer: (result) => {
      const agent = registryEntry(view, wallet)
      return { updated: result === 'applied', ...(agent === undefined ? {} : { agent }) }
    },
  }
}

/** Who may repaint for a wallet; `null` for nobody. */
export async function painterNaming(
  { agents }: ChangeSources,
  given: string,
  named: string | null,
): Promise<SignedChange<PainterAnswer> | Failure> {
  const wallet = await buyer(agents, given)
  if (isFailure(wallet)) return wallet
  const painter = named === null ? null : lower(named)
  return {
    ...ofWallet(wallet),
    path: '/api/agents/me/painter',
    what: 'Name the painter of this wallet',
    texts: (host, ts) => [painterMessage(host, wallet, ts, painter)],
    apply: async ({ ts }) => {
      const result = await agents.namePainter(wallet, { painter, ts })
      return result === 'superseded' ? laterNaming() : result
    },
    answer: () => ({ updated: true }),
  }
}

/** What holds for everything that a wallet signs for itself alone. */
export const ofWallet = (wallet: Address) =>
  ({ signers: [wallet], whose: 'this wallet', budgets: ['registrations'], keys: [wallet] }) as const

const lower = (address: string) => address.toLowerCase() as Address

/** A wallet that has bought: any other has no place in the registry. */
async function buyer(agents: Agents, given: string): Promise<Address | Failure> {
  if (!isAddress(given)) return failure('invalid_wallet', `wallet ${rules.wallet}.`)
  const wallet = lower(given)
  return (await agents.knows(wallet)) ? wallet : noPurchases()
}

const signersOf = ({ wallet, painter }: Pick<OwnedBlock, 'wallet' | 'painter'>): Address[] =>
  painter === null ? [wallet] : [wallet, painter]

const noOwner = (block: BlockIndex): Failure =>
  failure('no_owner', `Block ${coordOf(block)} has no owner yet. Buy it with GET /blocks/${coordOf(block)}.`)

const beingBought = (block: BlockIndex): Failure =>
  failure('purchase_pending', `Block ${coordOf(block)} is being bought. Its owner can repaint it once it is sold.`)

/** A wallet that owns nothing. */
export const noPurchases = (): Failure =>
  failure('no_purchases', 'Only wallets that have bought a block can register. Buy one with GET /blocks/next.')

const laterNaming = (): Failure =>
  failure(
    'stale_signature',
    'A painter was already named with this ts or a later one. GET /api/agents/{wallet} shows the current painter; to name another, sign again with a new ts.',
  )
