/**
 * Reads the JSON bodies of changes to a block, an area, a wallet or its painter, authorized by a signature in the body
 * or by a sign-in.
 */

import type { Static, TObject } from '@sinclair/typebox'
import { IdentityFields, PainterBody, RegisterBody } from '../../shared/contract/agent.ts'
import { EditAreaBody, EditAreaFields } from '../../shared/contract/area.ts'
import { EditBody, EditFields } from '../../shared/contract/block.ts'
import { ReceiptsBody } from '../../shared/contract/wallet.ts'
import { createFailure, isFailure, type Failure } from '../domain/failure.ts'
import { type Kind, SIGNABLE } from '../domain/wall/signed-fields.ts'
import { type Flaw, createReader, type Reader, refuseField } from '../read.ts'

const PROOF = 'ts (integer, Unix milliseconds), signature (0x and hex)'

/** Reads an edit of a block. */
export const readEdit = createChangeReader('set_pixels', EditBody, `${PROOF} and any of pixels, message and link`)

export const readAreaEdit = createChangeReader(
  'set_area',
  EditAreaBody,
  `${PROOF} and any of pixels (base64), message and link`,
)

export const readRegistration = createChangeReader(
  'register',
  RegisterBody,
  `wallet, ${PROOF} and any of name and framework`,
)

/** Reads an edit of a block that is authorized by a sign-in. */
export const readEditFields = createChangeReader('set_pixels', EditFields, 'any of pixels, message and link')

export const readEditAreaFields = createChangeReader(
  'set_area',
  EditAreaFields,
  'any of pixels (base64), message and link',
)

/** Reads a registration that is authorized by a sign-in. */
export const readIdentityFields = createChangeReader('register', IdentityFields, 'any of name and framework')

/** Reads the body of a request for receipts. */
export const readReceiptsBody = createReader(ReceiptsBody, () =>
  createFailure('invalid_body', 'Send a JSON object, empty or with after (nextAfter of the previous page).'),
)

export const readPainterNaming = createChangeReader(
  'set_painter',
  PainterBody,
  `wallet, ${PROOF} and painter (an address, or null for nobody)`,
)

/**
 * Makes the reader of a body that must change something. An error has the code of a field if that field is a string and
 * breaks its rule, otherwise `invalid_body`.
 */
function createChangeReader<Schema extends TObject>(kind: Kind, schema: Schema, shape: string): Reader<Static<Schema>> {
  const texts: readonly string[] = ['wallet', ...SIGNABLE[kind]]
  const refuse = (flaw: Flaw, given: unknown): Failure => {
    if (flaw.schema !== undefined && typeof flaw.value === 'string' && texts.includes(flaw.name))
      return refuseField('invalid_body')(flaw)
    const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(Object(given), name))
    const lacks = missing.length === 0 ? '' : `Missing: ${missing.join(', ')}. `
    return createFailure('invalid_body', `${lacks}Send a JSON object with ${shape}, and no other fields.`)
  }
  const read = createReader(schema, refuse)
  const readChange = (given: unknown): Static<Schema> | Failure => {
    const body = read(given)
    if (isFailure(body)) return body
    const named: Readonly<Record<string, unknown>> = body
    const isEmpty = SIGNABLE[kind].every((field) => named[field] === undefined)
    return isEmpty ? createEmptyUpdateFailure(kind) : body
  }
  return Object.assign(readChange, { schema })
}

/** The refusal of a change that changes nothing. */
export function createEmptyUpdateFailure(kind: Kind): Failure {
  const fields = SIGNABLE[kind].join(', ').replace(/, (\w+)$/, ' and $1')
  return createFailure('empty_update', `Give at least one of ${fields}.`)
}
