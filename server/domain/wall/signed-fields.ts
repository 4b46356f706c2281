/** What can be signed for without a payment: which fields each kind has, and how each is checked. */

import { parsePixels } from '../../../shared/pixels.ts'
import { failure, type Failure } from '../failure.ts'
import { followsRule, rules } from './field-rules.ts'

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
    return failure('invalid_option', `${foreign} is not signed for ${kind}; that has ${fields.join(', ')}.`)
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
  // How many pixels an area has, only its name tells.
  if (kind === 'set_area') return undefined
  const pixels = parsePixels(text)
  return 'problem' in pixels ? failure('invalid_pixels', `pixels: ${pixels.problem}.`) : undefined
}
