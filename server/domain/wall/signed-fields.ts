/** What can be signed for without a payment: which fields each kind has, and how each is checked. */

import { isAddress } from '../../../shared/address.ts'
import { parsePixels } from '../../../shared/pixels.ts'
import { FRAMEWORK_MAX, isLink, isPrintable, MESSAGE_MAX, NAME_MAX } from '../../../shared/text.ts'
import { failure, type Failure } from '../failure.ts'
import { rules } from './field-rules.ts'

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
export type Named = { readonly [Field in SignableField]?: string | null }

const checks: { readonly [Field in SignableField]: (text: string, kind: Kind) => Failure | undefined } = {
  // How many an area has, only its name tells.
  pixels: (text, kind) => {
    if (kind === 'set_area') return undefined
    const pixels = parsePixels(text)
    return 'problem' in pixels ? failure('invalid_pixels', `pixels: ${pixels.problem}.`) : undefined
  },
  message: (text) =>
    isPrintable(text, MESSAGE_MAX) ? undefined : failure('invalid_message', `message ${rules.message}.`),
  link: (text) => (isLink(text) ? undefined : failure('invalid_link', `link ${rules.link}.`)),
  name: (text) => (isPrintable(text, NAME_MAX) ? undefined : failure('invalid_name', `name ${rules.name}.`)),
  framework: (text) =>
    isPrintable(text, FRAMEWORK_MAX) ? undefined : failure('invalid_framework', `framework ${rules.framework}.`),
  painter: (text) => (isAddress(text) ? undefined : failure('invalid_painter', `painter ${rules.painter}.`)),
}

/** Why a change of a kind would be refused, whoever signs it. */
export function flawOf(kind: Kind, named: Named): Failure | undefined {
  const fields: readonly SignableField[] = SIGNABLE[kind]
  const given = Object.entries(named).map(([field]) => field)
  const foreign = given.find((field) => !fields.some((own) => own === field))
  if (foreign !== undefined)
    return failure('invalid_option', `${foreign} is not signed for ${kind}; that has ${fields.join(', ')}.`)
  if (given.length === 0) return failure('empty_update', `Give at least one of ${fields.join(', ')}.`)
  if (named.pixels === null) return failure('invalid_pixels', 'pixels cannot be cleared, only painted over.')
  for (const field of fields) {
    const text = named[field]
    const flaw = typeof text === 'string' ? checks[field](text, kind) : undefined
    if (flaw !== undefined) return flaw
  }
  return undefined
}
