/** Reads the JSON bodies of changes that are signed, in the body or by signing in: of a block, an area, a wallet and its painter. */

import type { Static, TObject } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { IdentityFields, PainterBody, RegisterBody } from '../../shared/contract/agent.ts'
import { EditAreaBody, EditAreaFields } from '../../shared/contract/area.ts'
import { EditBody, EditFields } from '../../shared/contract/block.ts'
import { ReceiptsBody } from '../../shared/contract/wallet.ts'
import { parsePixels } from '../../shared/pixels.ts'
import { failure, type Failure } from '../domain/failure.ts'
import { type Kind, rules, SIGNABLE } from '../domain/wall/signed-fields.ts'

const PROOF = 'ts (integer, Unix milliseconds), signature (0x and hex)'

/** Reads an edit of a block. */
export const readEdit = reader('set_pixels', EditBody, `${PROOF} and any of pixels, message and link`)

export const readAreaEdit = reader('set_area', EditAreaBody, `${PROOF} and any of pixels (base64), message and link`)

export const readRegistration = reader('register', RegisterBody, `wallet, ${PROOF} and any of name and framework`)

/** Reads an edit of a block that is signed in. */
export const readEditFields = reader('set_pixels', EditFields, 'any of pixels, message and link')

export const readEditAreaFields = reader('set_area', EditAreaFields, 'any of pixels (base64), message and link')

/** Reads a registration that is signed in. */
export const readIdentityFields = reader('register', IdentityFields, 'any of name and framework')

/** Reads what is asked of the receipts. */
export function readReceiptsBody(value: unknown): ReceiptsBody | Failure {
  return ASKED_RECEIPTS.Check(value)
    ? value
    : failure('invalid_body', 'Send a JSON object, empty or with after (nextAfter of the previous page).')
}

const ASKED_RECEIPTS = TypeCompiler.Compile(ReceiptsBody)

export const readPainterNaming = reader(
  'set_painter',
  PainterBody,
  `wallet, ${PROOF} and painter (an address, or null for nobody)`,
)

/**
 * Makes the reader of a body, which must change something. An error has the code of a field when that field is a string and
 * breaks its rule, else `invalid_body`.
 */
function reader<Schema extends TObject>(kind: Kind, schema: Schema, shape: string) {
  const compiled = TypeCompiler.Compile(schema)
  const fields = SIGNABLE[kind].join(', ').replace(/, (\w+)$/, ' and $1')
  const refused = (value: unknown) => {
    const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(Object(value), name))
    const lacks = missing.length === 0 ? '' : `Missing: ${missing.join(', ')}. `
    return failure('invalid_body', `${lacks}Send a JSON object with ${shape}, and no other fields.`)
  }
  const isText = (name: string): name is keyof typeof ruleOf => Object.hasOwn(schema.properties, name) && name in ruleOf
  return (value: unknown): Static<Schema> | Failure => {
    if (compiled.Check(value)) {
      const given: Readonly<Record<string, unknown>> = value
      const isEmpty = SIGNABLE[kind].every((field) => given[field] === undefined)
      return isEmpty ? failure('empty_update', `Give at least one of ${fields}.`) : value
    }
    // The errors of a large body take longer to list than it took to send, so the list ends at the first that is not of a text.
    let wrong: { readonly name: keyof typeof ruleOf; readonly text: string } | undefined
    for (const { path, value: found } of compiled.Errors(value)) {
      const name = path.slice(1)
      if (!isText(name) || typeof found !== 'string') return refused(value)
      wrong ??= { name, text: found }
    }
    if (wrong === undefined) return refused(value)
    return failure(`invalid_${wrong.name}`, `${wrong.name} ${ruleOf[wrong.name](wrong.text)}.`)
  }
}

const ruleOf = {
  pixels(text: string) {
    const pixels = parsePixels(text)
    return 'problem' in pixels ? `is invalid: ${pixels.problem}` : ''
  },
  message: () => rules.message,
  link: () => rules.link,
  wallet: () => rules.wallet,
  name: () => rules.name,
  framework: () => rules.framework,
  painter: () => rules.painter,
}
