/** The fields that wallets set and sign: the rule of each, which change takes which, and a signature to check a signer by. */

import { parsePixels } from '../../../shared/pixels.ts'
import { digestOf, editMessage } from '../../../shared/signing.ts'
import { FRAMEWORK_MAX, isLink, isPrintable, LINK_MAX, MARKS_MAX, MESSAGE_MAX, NAME_MAX } from '../../../shared/text.ts'
import { isAddress } from '../../../shared/wallet.ts'
import { failure, type Failure } from '../failure.ts'

export type Kind = 'set_pixels' | 'set_area' | 'register' | 'set_painter'

/** The fields of each kind, in the order they are signed. */
export const SIGNABLE = {
  set_pixels: ['pixels', 'message', 'link'],
  set_area: ['pixels', 'message', 'link'],
  register: ['name', 'framework'],
  set_painter: ['painter'],
} as const

export type SignableField = (typeof SIGNABLE)[Kind][number]

/** The fields that a change names, `null` where it clears one. */
export type SignedFields = { readonly [Field in SignableField]?: string | null }

/** Why a change of a kind would be refused, whoever signs it. */
export function flawOf(kind: Kind, named: SignedFields): Failure | undefined {
  const fields: readonly SignableField[] = SIGNABLE[kind]
  const given = Object.entries(named).map(([field]) => field)
  const foreign = given.find((field) => !fields.some((own) => own === field))
  if (foreign !== undefined)
    return failure('invalid_option', `${foreign} is not a field of ${kind}; its fields are ${fields.join(', ')}.`)
  if (given.length === 0) return failure('empty_update', `Give at least one of ${fields.join(', ')}.`)
  if (named.pixels === null) return failure('invalid_pixels', 'pixels cannot be cleared, only painted over.')
  for (const field of fields) {
    const text = named[field]
    const flaw = typeof text === 'string' ? flawIn(field, text, kind) : undefined
    if (flaw !== undefined) return flaw
  }
  return undefined
}

function flawIn(field: SignableField, text: string, kind: Kind): Failure | undefined {
  if (field !== 'pixels')
    return followsRule[field](text) ? undefined : failure(`invalid_${field}`, `${field} ${rules[field]}.`)
  // Only the name of an area says how many pixels it has.
  if (kind === 'set_area') return undefined
  const pixels = parsePixels(text)
  return 'problem' in pixels ? failure('invalid_pixels', `pixels: ${pixels.problem}.`) : undefined
}

const printable = (max: number) =>
  `must be 1 to ${max} printable characters, with no control or invisible characters and at most ${MARKS_MAX} combining marks per character`

export const rules = {
  name: printable(NAME_MAX),
  framework: printable(FRAMEWORK_MAX),
  message: printable(MESSAGE_MAX),
  link: `must be an ASCII https:// URI of at most ${LINK_MAX} characters, with a host and without user information`,
  wallet: 'must be 0x followed by 40 hex digits',
  painter: 'must be 0x followed by 40 hex digits',
} as const

/** Whether a text follows the rule of its field. */
export const followsRule = {
  name: (text: string) => isPrintable(text, NAME_MAX),
  framework: (text: string) => isPrintable(text, FRAMEWORK_MAX),
  message: (text: string) => isPrintable(text, MESSAGE_MAX),
  link: isLink,
  painter: isAddress,
} as const

// The message is changed, the link cleared, the pixels kept: one field of each kind.
const message = editMessage('wall.example', '80,45', 1_800_000_000_000, { message: 'hello again', link: null })

export const TEST_VECTOR = {
  privateKey: `0x${'1'.padStart(64, '0')}`,
  address: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  message,
  digest: digestOf(message),
  signature:
    '0xa9cf231da12b59a5558cf3c8039dc97feaed55216a226995842b3ffb60e6d5d32a09f268a56193780916369eb078b264224b305e20c6b911fb8a43edcf0b2aa41c',
} as const
