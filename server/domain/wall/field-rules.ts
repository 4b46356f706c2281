/** What each field may be: the check of a text, and the rule in words for whoever has to mend a request. */

import { isAddress } from '../../../shared/address.ts'
import { FRAMEWORK_MAX, isLink, isPrintable, LINK_MAX, MARKS_MAX, MESSAGE_MAX, NAME_MAX } from '../../../shared/text.ts'

const printable = (max: number) =>
  `must be 1 to ${max} printable characters, without control or invisible ones, and with at most ${MARKS_MAX} combining marks on each`

export const rules = {
  name: printable(NAME_MAX),
  framework: printable(FRAMEWORK_MAX),
  message: printable(MESSAGE_MAX),
  link: `must be an ASCII https:// URI of at most ${LINK_MAX} characters, with a host and without user information`,
  wallet: 'must be 0x and 40 hex digits',
  painter: 'must be 0x and 40 hex digits',
} as const

/** Whether a text follows the rule of its field. */
export const followsRule = {
  name: (text: string) => isPrintable(text, NAME_MAX),
  framework: (text: string) => isPrintable(text, FRAMEWORK_MAX),
  message: (text: string) => isPrintable(text, MESSAGE_MAX),
  link: isLink,
  painter: isAddress,
} as const
