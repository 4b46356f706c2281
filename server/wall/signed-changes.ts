/**
 * The changes that a wallet signs instead of paying for: repaints of a block or an area, and changes of the wallet's
 * name or painter. Each change is read, checked, applied and answered, in this order. Reading it determines what it
 * changes, the text to sign, whose signature counts and which budgets it uses. `perform` does the rest.
 */

import { formatArea, listAreaBlocks, parseArea, type Area } from '../../shared/area.ts'
import type { PainterAnswer, RegisterAnswer } from '../../shared/contract/agent.ts'
import type { EditAreaAnswer } from '../../shared/contract/area.ts'
import type { EditAnswer } from '../../shared/contract/block.ts'
import { describeRule } from '../../shared/contract/kinds.ts'
import { WalletParams } from '../../shared/contract/wallet.ts'
import { parseHexPixels, type Pixels } from '../../shared/pixels.ts'
import {
  formatAreaMessage,
  hashPixels,
  formatEditMessage,
  formatPainterMessage,
  formatRegisterMessage,
  type EditFields,
  type Field,
  type IdentityFields,
} from '../../shared/signing.ts'
import { formatCoord, parseCoord, type BlockIndex } from '../../shared/wall.ts'
import { isAddress } from '../../shared/wallet.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import { toLowerAddress, type Address, type UnixMs } from '../domain/purchase/payment.ts'
import {
  createInvalidAreaFailure,
  createInvalidCoordinateFailure,
  createRetryFailure,
} from '../domain/purchase/refusals.ts'
import { readAreaPixels } from '../domain/wall/canvas.ts'
import { isTimely, type EditResult, type IdentityResult, type Signed } from '../domain/wall/edit.ts'
import type { OwnedBlock } from '../domain/wall/log.ts'
import { type Kind, SIGNABLE, type SignedFields } from '../domain/wall/signed-fields.ts'
import { findRegistryEntry, readShownContent, type WallView } from '../domain/wall/wall-view.ts'
import type { Agents, Blocks, Clock, Wallets } from '../ports.ts'
import {
  SIGN_IN_HEADER,
  type SignInTerms,
  findDifferingField,
  readSignIn,
  formatSignInMessage,
  checkSignInTime,
} from '../x402/sign-in.ts'
import { createNoPurchasesFailure } from './my-wall.ts'
import type { BudgetName, RateLimits } from './rate-limits.ts'
import { toDeed } from './read-wall.ts'

/**
 * A request that a wallet signs. `signers` are the wallets whose signature counts, and `whose` describes them in a
 * refusal.
 */
export type SignedRequest<Answer> = {
  readonly signers: readonly Address[]
  readonly whose: string
  readonly budgets: readonly BudgetName[]
  readonly keys: readonly string[] // the keys of the buckets; one unit is taken from each of these buckets in every budget
  readonly tooLate?: Failure // the refusal of a change that was signed before a change that has already been applied
  apply(signed: Signed & { readonly by: Address }, now: UnixMs): Promise<ChangeResult>
  createAnswer(result: ChangeResult): Answer
}

/** A change, and the texts that may be signed for it; a refusal shows the first text. */
export type SignedChange<Answer> = SignedRequest<Answer> & {
  readonly path: string
  readonly what: string // describes the change for its owner
  formatTexts(host: string, ts: UnixMs): readonly string[]
}

/** The result of a change in the store. */
export type ChangeResult = EditResult | IdentityResult

/** The sources from which changes are read. */
export type ChangeSources = { readonly blocks: Blocks; readonly agents: Agents; readonly view: WallView }

/**
 * The dependencies of changes. `hosts` are the host names that a text may be signed for, the canonical one first;
 * `applyNewEntries` updates `view`.
 */
export type ChangeDeps = ChangeSources & {
  readonly wallets: Wallets
  readonly clock: Clock
  readonly hosts: readonly string[]
  readonly applyNewEntries: () => Promise<void>
  readonly limits: RateLimits
}

const REPAINTS = ['repaints', 'daily repaints'] as const

/** A repaint of the block at `coord`, which is written as in the request. The fields must be valid. */
export async function createBlockRepaint(
  { blocks, view }: ChangeSources,
  coord: string,
  fields: EditFields,
): Promise<SignedChange<EditAnswer> | Failure> {
  const block = parseCoord(coord)
  if (block === undefined) return createInvalidCoordinateFailure()
  const owned = await blocks.findOwned(block)
  if (owned === undefined)
    return (await blocks.isReserved(block)) ? createPendingFailure(block) : createNoOwnerFailure(block)
  const pixels = typeof fields.pixels === 'string' ? parseHexPixels(fields.pixels) : undefined
  const { message, link } = fields
  const coords = [...new Set([coord, formatCoord(block)])]
  return {
    path: `/blocks/${formatCoord(block)}`,
    what: `Repaint block ${formatCoord(block)} (${listFieldNames('set_pixels', fields)})`,
    signers: listSigners(owned),
    whose: 'the block’s owner',
    budgets: REPAINTS,
    keys: [formatCoord(block)],
    formatTexts: (host, ts) => coords.map((form) => formatEditMessage(host, form, ts, fields)),
    apply: ({ by, ...signed }, now) =>
      blocks.edit(block, { ...signed, pixels, message, link, painter: by === owned.wallet ? null : by }, now),
    createAnswer: () => ({ updated: true, deed: toDeed({ ...owned, content: readShownContent(view, block) }) }),
  }
}

/** A picture: its digest, which is signed, and its pixels block by block unless the caller sends only the digest. */
type SignedPicture = { readonly digest: string; readonly blocks?: Pixels }

/** Reads the picture that is sent for an area. */
export type ReadPicture = (pixels: string, area: Area) => SignedPicture | Failure

/** A repaint of every block of an area; one wallet must own all of them. */
export async function createAreaRepaint(
  { blocks }: ChangeSources,
  name: string,
  fields: EditFields,
  read: ReadPicture = readPicture,
): Promise<SignedChange<EditAreaAnswer> | Failure> {
  const area = parseArea(name)
  if (area === undefined) return createInvalidAreaFailure()
  const picture = typeof fields.pixels === 'string' ? read(fields.pixels, area) : undefined
  if (isFailure(picture)) return picture
  const owner = await blocks.findOwner(area)
  if (owner.kind === 'open') return createNoOwnerFailure(owner.block)
  if (owner.kind === 'held') return createPendingFailure(owner.block)
  const { message, link } = fields
  const painted = listAreaBlocks(area)
  // No signature counts for blocks of several wallets.
  const wallet = owner.kind === 'owned' ? owner.wallet : undefined
  return {
    path: `/areas/${formatArea(area)}`,
    what: `Repaint area ${formatArea(area)} (${listFieldNames('set_area', fields)})`,
    signers: owner.kind === 'owned' ? listSigners(owner) : [],
    whose: 'the area’s owner',
    budgets: REPAINTS,
    keys: painted.map((block) => formatCoord(block)),
    formatTexts: (host, ts) => [
      formatAreaMessage(host, formatArea(area), ts, { pixels: picture?.digest, message, link }),
    ],
    apply: ({ by, ...signed }, now) => {
      const painter = by === wallet ? null : by
      return blocks.editArea(area, { ...signed, pixels: picture?.blocks, message, link, painter }, now)
    },
    createAnswer: () => ({ updated: true, area: formatArea(area), blocks: painted.length }),
  }
}

const readPicture: ReadPicture = (pixels, area) => {
  const read = readAreaPixels(pixels, area)
  return isFailure(read) ? read : { digest: hashPixels(read.rows), blocks: read.blocks }
}

const listFieldNames = (kind: Kind, fields: { readonly [Name in keyof SignedFields]: Field }): string =>
  SIGNABLE[kind].filter((name) => fields[name] !== undefined).join(', ')

/** The address and the statement of a registration, for any wallet. */
export const describeRegistration = (fields: IdentityFields) =>
  ({ path: '/api/agents/me', what: `Name this wallet (${listFieldNames('register', fields)})` }) as const

/** The change of a wallet's own name and framework. */
export async function createRegistration(
  { agents, view }: ChangeSources,
  given: string,
  fields: IdentityFields,
): Promise<SignedChange<RegisterAnswer> | Failure> {
  const wallet = await findBuyer(agents, given)
  if (isFailure(wallet)) return wallet
  const { name, framework } = fields
  return {
    ...createWalletRule(wallet),
    ...describeRegistration(fields),
    budgets: ['registrations', 'daily names'],
    formatTexts: (host, ts) => [formatRegisterMessage(host, wallet, ts, fields)],
    apply: ({ digest, ts }, now) => agents.register(wallet, { digest, ts, name, framework }, now),
    createAnswer: (result) => {
      const agent = findRegistryEntry(view, wallet)
      return { updated: result === 'applied', ...(agent === undefined ? {} : { agent }) }
    },
  }
}

/** The change of the painter that may repaint for a wallet; `null` removes the painter. */
export async function createPainterNaming(
  { agents }: ChangeSources,
  given: string,
  named: string | null,
): Promise<SignedChange<PainterAnswer> | Failure> {
  const wallet = await findBuyer(agents, given)
  if (isFailure(wallet)) return wallet
  const painter = named === null ? null : toLowerAddress(named)
  return {
    ...createWalletRule(wallet),
    path: '/api/agents/me/painter',
    what: 'Name the painter of this wallet',
    formatTexts: (host, ts) => [formatPainterMessage(host, wallet, ts, painter)],
    tooLate: createLaterNamingFailure(),
    apply: ({ ts }) => agents.namePainter(wallet, { painter, ts }),
    createAnswer: () => ({ updated: true }),
  }
}

/** The rules for everything that a wallet signs for itself alone. */
export const createWalletRule = (wallet: Address) =>
  ({ signers: [wallet], whose: 'this wallet', budgets: ['registrations'], keys: [wallet] }) as const

/**
 * Reads the address of a wallet that has bought something. Refuses any other wallet, because it is not in the registry.
 */
async function findBuyer(agents: Agents, given: string): Promise<Address | Failure> {
  if (!isAddress(given))
    return createFailure('invalid_wallet', `wallet ${describeRule(WalletParams.properties.wallet)}.`)
  const wallet = toLowerAddress(given)
  return (await agents.isKnown(wallet)) ? wallet : createNoPurchasesFailure()
}

const listSigners = ({ wallet, painter }: Pick<OwnedBlock, 'wallet' | 'painter'>): Address[] =>
  painter === null ? [wallet] : [wallet, painter]

const createNoOwnerFailure = (block: BlockIndex): Failure =>
  createFailure(
    'no_owner',
    `Block ${formatCoord(block)} has no owner yet. Buy it with GET /blocks/${formatCoord(block)}.`,
  )

const createPendingFailure = (block: BlockIndex): Failure =>
  createFailure(
    'purchase_pending',
    `Block ${formatCoord(block)} is being bought. Its owner can repaint it once it is sold.`,
  )

/**
 * Makes a change if it is not already refused and the signature in its body is valid. The body has passed the
 * contract's schema; `from` is the client's address.
 */
export async function makeChange<Answer>(
  deps: ChangeDeps,
  change: SignedChange<Answer> | Failure,
  { ts, signature }: { readonly ts: UnixMs; readonly signature: string },
  from: string,
): Promise<Answer | Failure> {
  if (isFailure(change)) return change
  const now = deps.clock.now()
  if (!isTimely(ts, now)) return createStaleTimeFailure(now)
  const texts = deps.hosts.flatMap((host) => change.formatTexts(host, ts))
  const denied = createUnauthorizedFailure(change.whose, texts)
  return await perform(deps, change, { signers: change.signers, texts, ts, signature, denied, from }, now)
}

/**
 * A request that a sign-in authorizes, with its path. If only the sign-in shows which wallet the request concerns,
 * `createRequest` makes the request for that wallet.
 */
export type AskedBySignIn<Answer> = { readonly path: string; readonly what: string } & (
  | SignedRequest<Answer>
  | { readonly createRequest: (wallet: Address) => Promise<SignedRequest<Answer> | Failure> }
)

/** Performs a request if its sign-in header is valid; `from` is the client's address. */
export async function signIn<Answer>(
  deps: ChangeDeps,
  terms: SignInTerms,
  header: string,
  asked: AskedBySignIn<Answer>,
  from: string,
): Promise<Answer | Failure> {
  const sent = readSignIn(header, terms.chainId)
  if (isFailure(sent)) return sent
  const other = findDifferingField(sent, terms)
  if (other !== undefined) return createOtherHostFailure(other)
  const now = deps.clock.now()
  const ts = checkSignInTime(sent, now)
  if (ts === undefined) return createStaleSignInFailure(now)
  const wallet = toLowerAddress(sent.address)
  const request = 'createRequest' in asked ? await asked.createRequest(wallet) : asked
  if (isFailure(request)) return request
  const denied = createFailure('unauthorized', `The sign-in is not from ${request.whose}. ${SIGN_AGAIN}`)
  if (!request.signers.includes(wallet)) return denied
  const { signature } = sent
  const proof = { signers: [wallet], texts: [formatSignInMessage(sent)], ts, signature, denied, from }
  return await perform(deps, request, proof, now)
}

/** A signature over one of `texts`, by one of `signers`; `denied` is the refusal if the signature is invalid. */
type Proof = {
  readonly signers: readonly Address[]
  readonly texts: readonly string[]
  readonly ts: UnixMs // when it was signed
  readonly signature: string // 0x and hex
  readonly denied: Failure
  readonly from: string // the client's address
}

/** Performs a request if its proof is valid. A change is applied only once for each signed text. */
async function perform<Answer>(
  { wallets, limits, applyNewEntries }: ChangeDeps,
  { budgets, keys, tooLate = createSupersededFailure(), apply, createAnswer }: SignedRequest<Answer>,
  { signers, texts, ts, signature, denied, from }: Proof,
  now: UnixMs,
): Promise<Answer | Failure> {
  const signed = await wallets.findSigner(signers, texts, signature as `0x${string}`, from)
  if (signed === 'busy') return createRetryFailure('server_busy', TOO_MANY_CHECKS)
  if (signed === 'silent') return createRetryFailure('server_busy', CHAIN_SILENT)
  if (signed === 'not-signed') return denied
  // Budgets are charged only after the signature check, so that only the signers can use them up.
  const taken = budgets.flatMap((budget) => keys.map((key) => [budget, key] as const))
  const beyond = taken.map((of) => limits.check(...of)).find((refusal) => refusal !== undefined)
  if (beyond !== undefined) return beyond
  for (const of of taken) limits.take(...of)
  const result = await apply({ ...signed, ts }, now)
  if (result === 'superseded') return tooLate
  if (result === 'not-painter') return denied
  if (result === 'not-owned') return createFailure('no_owner', 'The change includes a block that has no owner yet.')
  if (result === 'unknown-wallet') return createNoPurchasesFailure()
  await applyNewEntries()
  return createAnswer(result)
}

const TOO_MANY_CHECKS =
  'Too many smart-wallet signatures are being checked right now. Nothing was changed; send the same request again.'

const CHAIN_SILENT =
  'The chain cannot be queried about this smart wallet right now. Nothing was changed; send the same request again.'

/** The refusal of a wrong signature, with the text that should have been signed. */
const createUnauthorizedFailure = (whose: string, texts: readonly string[]): Failure =>
  createFailure(
    'unauthorized',
    `The signature is not from ${whose} over the expected message (EIP-191 personal_sign).`,
    {
      expected: texts[0],
    },
  )

/** The refusal of a time outside the window, with this server's time. */
export const createStaleTimeFailure = (now: UnixMs): Failure =>
  createFailure(
    'stale_signature',
    'ts must be within 5 minutes of this server’s time, in Unix milliseconds. Sign again.',
    {
      now,
    },
  )

/** The refusal of a signed text that arrives, or is resent, after a newer change was applied. */
const createSupersededFailure = (): Failure =>
  createFailure('stale_signature', 'A newer change has already been applied. Sign again with a new ts.')

const createLaterNamingFailure = (): Failure =>
  createFailure(
    'stale_signature',
    'A painter was already named with this ts or a later one. GET /api/agents/{wallet} shows the current painter; to name another, sign again with a new ts.',
  )

const SIGN_AGAIN = `Send the request without ${SIGN_IN_HEADER}, and sign the text in the response.`

const createOtherHostFailure = (field: string): Failure =>
  createFailure(
    'unauthorized',
    `The sign-in is for another request: its ${field} does not match this address and body. ${SIGN_AGAIN}`,
  )

const createStaleSignInFailure = (now: number): Failure =>
  createFailure(
    'stale_signature',
    `The sign-in is not valid now: issuedAt must be within 5 minutes of the current time, expirationTime must be later than the current time, and notBefore must not be. ${SIGN_AGAIN}`,
    { now },
  )
