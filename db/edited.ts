/** What edits leave of what was. */

import type { Edit } from '../server/domain/wall/edit.ts'
import type { Face } from '../server/domain/wall/log.ts'
import { partOf } from '../shared/pixels.ts'

/** What an edit leaves of a value: `undefined` keeps it, `null` clears it. */
export const edited = <T>(value: T | null | undefined, before: T | null): T | null =>
  value === undefined ? before : value

/** What an edit leaves of the block that is number `at` of those it is about. */
export const faceAfter = ({ pixels, message, link }: Edit, at: number, before: Face): Face => ({
  pixels: edited(pixels && partOf(pixels, at), before.pixels),
  message: edited(message, before.message),
  link: edited(link, before.link),
})
