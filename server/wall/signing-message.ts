/**
 * Returns the exact text that a wallet signs to edit a block or an area, to register or to name a painter. Refuses a
 * change that the write itself would refuse, whatever its signature.
 */

import { type TObject, Type } from '@sinclair/typebox'
import { IdentityFields, PainterBody } from '../../shared/contract/agent.ts'
import { EditAreaFields } from '../../shared/contract/area.ts'
import { EditFields } from '../../shared/contract/block.ts'
import { Closed } from '../../shared/contract/kinds.ts'
import type { Signing, SignQuery } from '../../shared/contract/sign.ts'
import { computeMessageDigest } from '../../shared/signing.ts'
import { formatCoord, parseCoord } from '../../shared/wall.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import type { UnixMs } from '../domain/purchase/payment.ts'
import { isTimely, TS_TOLERANCE_MS } from '../domain/wall/edit.ts'
import {
  type Kind,
  SIGNABLE,
  type SignableField,
  type SignedFields,
  TEST_VECTOR,
} from '../domain/wall/signed-fields.ts'
import type { Clock } from '../ports.ts'
import { createReader, refuseField } from '../read.ts'
import { createEmptyUpdateFailure } from './signed-body.ts'
import {
  createPainterNaming,
  createRegistration,
  createAreaRepaint,
  createBlockRepaint,
  createStaleTimeFailure,
  type ChangeSources,
  type SignedChange,
} from './signed-changes.ts'

/**
 * The inputs for making the text to sign. `hosts` are the host names that a message may be signed for, the canonical
 * one first.
 */
export type SigningMessageDeps = ChangeSources & {
  readonly clock: Clock
  readonly hosts: readonly string[]
  readonly baseUrl: string
}

/** The text to sign, and the body to send with the signature. */
type Draft = { readonly change: SignedChange<unknown>; readonly body: Readonly<Record<string, unknown>> }

/**
 * The text to sign, from a query that passed the contract's schema. Anyone may request it; only the signature proves
 * the caller's identity.
 */
export async function createSigningMessage(deps: SigningMessageDeps, query: SignQuery): Promise<Signing | Failure> {
  const now = deps.clock.now()
  const ts = query.ts ?? now
  const fields = readFields(query)
  if (isFailure(fields)) return fields
  const draft = await drafts[query.kind](deps, query, fields, ts)
  if (isFailure(draft)) return draft
  const { change, body } = draft
  if (change.signers.length === 0)
    return createFailure('unauthorized', `The blocks of area ${query.area} belong to several wallets.`)
  if (!isTimely(ts, now)) return createStaleTimeFailure(now)
  const [message = ''] = change.formatTexts(deps.hosts[0] ?? '', ts)
  return {
    message,
    digest: computeMessageDigest(message),
    ts,
    validUntil: ts + TS_TOLERANCE_MS,
    request: { method: 'PUT', url: deps.baseUrl + change.path, body },
    testVector: TEST_VECTOR,
  }
}

/** The fields that a change sets, or the reason why the change would be refused for any signer. */
function readFields(query: SignQuery): SignedFields | Failure {
  const named: { -readonly [Field in SignableField]?: string | null } = {}
  for (const field of FIELDS) {
    const text = query[field]
    if (text !== undefined) named[field] = text
  }
  for (const name of query.clear === undefined ? [] : query.clear.split(',')) {
    const field = FIELDS.find((known) => known === name.trim())
    if (field === undefined || named[field] !== undefined)
      return createFailure(
        'invalid_option',
        'clear must list fields that are not also given, each once, comma-separated.',
      )
    named[field] = null
  }
  const isEmpty = Object.keys(named).length === 0
  return isEmpty ? createEmptyUpdateFailure(query.kind) : readers[query.kind](named)
}

const FIELDS: readonly SignableField[] = Object.values(SIGNABLE).flat()

const listFields = (kind: Kind) => SIGNABLE[kind].join(', ')

const createFieldReader = (kind: Kind, fields: TObject) =>
  createReader(fields, (flaw) => {
    const { name, schema, value } = flaw
    if (schema === undefined)
      return createFailure('invalid_option', `${name} is not a field of ${kind}; its fields are ${listFields(kind)}.`)
    if (value === null) return createFailure('invalid_pixels', 'pixels cannot be cleared, only painted over.')
    return refuseField('invalid_option')(flaw)
  })

// For an area, the number of pixels is checked later, because it depends on the area's size.
const readers: Readonly<Record<Kind, (named: SignedFields) => SignedFields | Failure>> = {
  set_pixels: createFieldReader('set_pixels', EditFields),
  set_area: createFieldReader('set_area', EditAreaFields),
  register: createFieldReader('register', IdentityFields),
  set_painter: createFieldReader('set_painter', Closed({ painter: Type.Optional(PainterBody.properties.painter) })),
}

type DraftBuilder = (
  deps: SigningMessageDeps,
  query: SignQuery,
  fields: SignedFields,
  ts: UnixMs,
) => Promise<Draft | Failure>

const createDraft = <Answer>(change: SignedChange<Answer> | Failure, body: Draft['body']): Draft | Failure =>
  isFailure(change) ? change : { change, body }

const drafts: Readonly<Record<Kind, DraftBuilder>> = {
  async set_pixels(deps, { coord = '' }, fields, ts) {
    const block = parseCoord(coord)
    return createDraft(await createBlockRepaint(deps, block === undefined ? coord : formatCoord(block), fields), {
      ts,
      ...fields,
    })
  },

  async set_area(deps, { area = '' }, { pixels, ...texts }, ts) {
    const isDigest = typeof pixels === 'string' && SHA256_PATTERN.test(pixels)
    const change = isDigest
      ? await createAreaRepaint(deps, area, { ...texts, pixels }, (digest) => ({ digest }))
      : await createAreaRepaint(deps, area, { ...texts, pixels })
    // A caller that sends only the digest must add the pixels to the body.
    return createDraft(change, { ts, ...texts, ...(isDigest || pixels === undefined ? {} : { pixels }) })
  },

  register: async (deps, { wallet = '' }, fields, ts) =>
    createDraft(await createRegistration(deps, wallet, fields), { wallet, ts, ...fields }),

  set_painter: async (deps, { wallet = '' }, { painter = null }, ts) =>
    createDraft(await createPainterNaming(deps, wallet, painter), { wallet, ts, painter }),
}

const SHA256_PATTERN = /^[0-9a-f]{64}$/
