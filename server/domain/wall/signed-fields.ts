/**
 * The fields that wallets set and sign in each kind of change, and a known signature with which to check signing code.
 */

import { computeMessageDigest, formatEditMessage } from '../../../shared/signing.ts'

export type Kind = 'set_pixels' | 'set_area' | 'register' | 'set_painter'

/** The fields of each kind of change, in the order in which they are signed. */
export const SIGNABLE = {
  set_pixels: ['pixels', 'message', 'link'],
  set_area: ['pixels', 'message', 'link'],
  register: ['name', 'framework'],
  set_painter: ['painter'],
} as const

export type SignableField = (typeof SIGNABLE)[Kind][number]

/** The fields that a change sets; `null` clears a field. */
export type SignedFields = { readonly [Field in SignableField]?: string | null }

// One field for each case: the message is changed, the link is cleared, and the pixels are kept.
const message = formatEditMessage('wall.example', '80,45', 1_800_000_000_000, { message: 'hello again', link: null })

export const TEST_VECTOR = {
  privateKey: `0x${'1'.padStart(64, '0')}`,
  address: '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  message,
  digest: computeMessageDigest(message),
  signature:
    '0xa9cf231da12b59a5558cf3c8039dc97feaed55216a226995842b3ffb60e6d5d32a09f268a56193780916369eb078b264224b305e20c6b911fb8a43edcf0b2aa41c',
} as const
