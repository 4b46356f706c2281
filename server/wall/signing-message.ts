/**
 * Gives the exact text that a wallet signs to edit a block or an area, to register or to name a painter. Refuses what the
 * write itself would refuse.
 */

import { isAddress } from '../../shared/address.ts'
import { areaName, parseArea, type AreaSize } from '../../shared/area.ts'
import type { Signing, SignQuery } from '../../shared/contract/sign.ts'
import {
  areaMessage,
  digestOf,
  digestOfPixels,
  editMessage,
  painterMessage,
  registerMessage,
} from '../../shared/signing.ts'
import { coordOf, parseCoord } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { invalidArea, invalidCoordinate } from '../domain/purchase/refusals.ts'
import { readAreaPixels } from '../domain/wall/area-pixels.ts'
import { isTimely, TS_TOLERANCE_MS } from '../domain/wall/edit.ts'
import { rules } from '../domain/wall/field-rules.ts'
import { flawOf, SIGNABLE, type Kind, type SignedFields, type SignableField } from '../domain/wall/signed-fields.ts'
import { TEST_VECTOR } from '../domain/wall/test-vector.ts'
import type { Agents, Blocks, Clock } from '../ports.ts'
import { staleTime } from './check-signer.ts'
import { beingBought, noOwner, noOwnerYet } from './edit-block.ts'
import { noPurchases } from './register-agent.ts'

/** What making the text needs. `hosts` are the names a message may be signed for, the canonical one first. */
export type SigningMessageDeps = {
  readonly blocks: Blocks
  readonly agents: Agents
  readonly clock: Clock
  readonly hosts: readonly string[]
  readonly baseUrl: string
}

/** The error code of each field that does not fit its schema, over HTTP and MCP alike. */
export const SIGNING_FLAWS = {
  coord: 'invalid_coordinate',
  area: 'invalid_area',
  pixels: 'invalid_pixels',
  message: 'invalid_message',
  link: 'invalid_link',
  wallet: 'invalid_wallet',
  name: 'invalid_name',
  framework: 'invalid_framework',
  painter: 'invalid_painter',
} as const

/** The text to sign, and the path and body of the request that is sent with the signature. */
type Draft = { readonly message: string; readonly path: string; readonly body: Readonly<Record<string, unknown>> }

/** The text to sign, from a query that passed the contract's schema. Anyone may ask; only the signature says who it is. */
export async function signingMessage(deps: SigningMessageDeps, query: SignQuery): Promise<Signing | Failure> {
  const now = deps.clock.now()
  const ts = query.ts ?? now
  const fields = fieldsIn(query)
  if ('code' in fields) return fields
  const flaw = flawOf(query.kind, fields)
  if (flaw !== undefined) return flaw
  const draft = await drafts[query.kind](deps, query, ts, fields)
  if ('code' in draft) return draft
  if (!isTimely(ts, now)) return staleTime(now)
  return {
    message: draft.message,
    digest: digestOf(draft.message),
    ts,
    validUntil: ts + TS_TOLERANCE_MS,
    request: { method: 'PUT', url: deps.baseUrl + draft.path, body: draft.body },
    testVector: TEST_VECTOR,
  }
}

/** The fields a query gives or clears. */
function fieldsIn(query: SignQuery): SignedFields | Failure {
  const named: { -readonly [Field in SignableField]?: string | null } = {}
  for (const field of FIELDS) {
    const text = query[field]
    if (text !== undefined) named[field] = text
  }
  for (const name of query.clear === undefined ? [] : query.clear.split(',')) {
    const field = FIELDS.find((known) => known === name.trim())
    if (field === undefined || named[field] !== undefined)
      return failure('invalid_option', 'clear names fields that are not given otherwise, once each, comma-separated.')
    named[field] = null
  }
  return named
}

const FIELDS: readonly SignableField[] = Object.values(SIGNABLE).flat()

type DraftBuilder = (
  deps: SigningMessageDeps,
  query: SignQuery,
  ts: number,
  fields: SignedFields,
) => Promise<Draft | Failure>

const drafts: Readonly<Record<Kind, DraftBuilder>> = {
  async set_pixels({ blocks, hosts }, query, ts, fields) {
    const block = parseCoord(query.coord ?? '')
    if (block === undefined) return invalidCoordinate()
    if ((await blocks.owned(block)) === undefined) return await noOwnerYet(blocks, block)
    const coord = coordOf(block)
    const message = editMessage(hosts[0] ?? '', coord, ts, fields)
    return { message, path: `/blocks/${coord}`, body: { ts, ...fields } }
  },

  async set_area({ blocks, hosts }, query, ts, { pixels, ...texts }) {
    const area = parseArea(query.area ?? '')
    if (area === undefined) return invalidArea()
    const signed = readSignedPixels(pixels, area)
    if ('code' in signed) return signed
    const owner = await blocks.ownerOf(area)
    if (owner.kind === 'open') return noOwner(owner.block)
    if (owner.kind === 'held') return beingBought(owner.block)
    const name = areaName(area)
    if (owner.kind === 'several')
      return failure('unauthorized', `The blocks of area ${name} belong to several wallets.`)
    const message = areaMessage(hosts[0] ?? '', name, ts, { ...texts, pixels: signed.digest })
    return { message, path: `/areas/${name}`, body: { ts, ...texts, ...signed.sent } }
  },

  async register({ agents, hosts }, { wallet = '' }, ts, fields) {
    const refusal = await refusalOfWallet(agents, wallet)
    if (refusal !== undefined) return refusal
    const message = registerMessage(hosts[0] ?? '', wallet, ts, fields)
    return { message, path: '/api/agents/me', body: { wallet, ts, ...fields } }
  },

  async set_painter({ agents, hosts }, { wallet = '' }, ts, { painter = null }) {
    const refusal = await refusalOfWallet(agents, wallet)
    if (refusal !== undefined) return refusal
    const message = painterMessage(hosts[0] ?? '', wallet, ts, painter)
    return { message, path: '/api/agents/me/painter', body: { wallet, ts, painter } }
  },
}

const SHA256_PATTERN = /^[0-9a-f]{64}$/

/** What is signed of an area's picture, and what of it goes into the body: nothing if the asker gave the digest alone. */
function readSignedPixels(pixels: string | null | undefined, size: AreaSize) {
  if (typeof pixels !== 'string') return { digest: undefined, sent: {} }
  if (SHA256_PATTERN.test(pixels)) return { digest: pixels, sent: {} }
  const read = readAreaPixels(pixels, size)
  return 'code' in read ? read : { digest: digestOfPixels(read.rows), sent: { pixels } }
}

/** Only a wallet that has bought something can sign for itself. */
async function refusalOfWallet(agents: Agents, wallet: string): Promise<Failure | undefined> {
  if (!isAddress(wallet)) return failure('invalid_wallet', `wallet ${rules.wallet}.`)
  return (await agents.knows(wallet.toLowerCase() as Address)) ? undefined : noPurchases()
}
