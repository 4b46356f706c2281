/** Reads the JSON bodies of signed changes by the contract: of a block, an area, a wallet and its painter. */

import type { Static, TObject } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { PainterBody, RegisterBody } from '../../../shared/contract/agent.ts'
import { EditAreaBody } from '../../../shared/contract/area.ts'
import { EditBody } from '../../../shared/contract/block.ts'
import { parsePixels } from '../../../shared/pixels.ts'
import type { EditFields } from '../../../shared/signing.ts'
import { failure, type Failure, type FailureCode } from '../../domain/failure.ts'
import { rules } from '../../domain/wall/field-rules.ts'

type FieldRule = { readonly code: FailureCode; readonly rule: (text: string) => string }

const editRules: Readonly<Record<string, FieldRule>> = {
  pixels: { code: 'invalid_pixels', rule: pixelsRule },
  message: { code: 'invalid_message', rule: () => rules.message },
  link: { code: 'invalid_link', rule: () => rules.link },
}

const registerRules: Readonly<Record<string, FieldRule>> = {
  wallet: { code: 'invalid_wallet', rule: () => rules.wallet },
  name: { code: 'invalid_name', rule: () => rules.name },
  framework: { code: 'invalid_framework', rule: () => rules.framework },
}

const painterRules: Readonly<Record<string, FieldRule>> = {
  wallet: { code: 'invalid_wallet', rule: () => rules.wallet },
  painter: { code: 'invalid_painter', rule: () => rules.painter },
}

const readEditBody = reader(
  EditBody,
  editRules,
  'Send a JSON object of ts (integer, Unix milliseconds), signature (0x and hex) and any of pixels, message and link; no other fields.',
)

const readEditAreaBody = reader(
  EditAreaBody,
  editRules,
  'Send a JSON object of ts (integer, Unix milliseconds), signature (0x and hex) and any of pixels (base64), message and link; no other fields.',
)

const readRegisterBody = reader(
  RegisterBody,
  registerRules,
  'Send a JSON object of wallet, ts (integer, Unix milliseconds), signature (0x and hex) and any of name and framework; no other fields.',
)

/** Reads the naming of a wallet's painter. */
export const readPainterNaming = reader(
  PainterBody,
  painterRules,
  'Send a JSON object of wallet, ts (integer, Unix milliseconds), signature (0x and hex) and painter (an address, or null for nobody); no other fields.',
)

/** Reads an edit of a block, which must change something. */
export const readEdit = (value: unknown): EditBody | Failure => changing(readEditBody(value))

/** Reads an edit of an area, which must change something. */
export const readAreaEdit = (value: unknown): EditAreaBody | Failure => changing(readEditAreaBody(value))

function changing<Body extends EditFields>(body: Body | Failure): Body | Failure {
  if ('code' in body) return body
  const says = body.pixels !== undefined || body.message !== undefined || body.link !== undefined
  return says ? body : failure('empty_update', 'Give at least one of pixels, message and link.')
}

/** Reads a registration, which must change something. */
export function readRegistration(value: unknown): RegisterBody | Failure {
  const body = readRegisterBody(value)
  if ('code' in body) return body
  const says = body.name !== undefined || body.framework !== undefined
  return says ? body : failure('empty_update', 'Give at least one of name and framework.')
}

/** Makes the reader of a schema. An error has the code of a field when that field is a string and breaks its rule, else `invalid_body`. */
function reader<Schema extends TObject>(schema: Schema, fields: Readonly<Record<string, FieldRule>>, shape: string) {
  const compiled = TypeCompiler.Compile(schema)
  return (value: unknown): Static<Schema> | Failure => {
    if (compiled.Check(value)) return value
    const wrong = [...compiled.Errors(value)].map(({ path, value: found }) => ({ name: path.slice(1), found }))
    const [first] = wrong
    const onlyTexts = wrong.every(({ name, found }) => Object.hasOwn(fields, name) && typeof found === 'string')
    const field = first === undefined || !onlyTexts ? undefined : fields[first.name]
    if (first === undefined || field === undefined) return failure('invalid_body', shape)
    return failure(field.code, `${first.name} ${field.rule(String(first.found))}.`)
  }
}

function pixelsRule(text: string): string {
  const pixels = parsePixels(text)
  return 'problem' in pixels ? `cannot be used: ${pixels.problem}` : ''
}
