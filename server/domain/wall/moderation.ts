/** What the operator withholds from readers: parts of what a block shows, for as long as they are hidden. */

import type { Face, Hidden } from './log.ts'

/** The parts of a block that can be hidden, each on its own. */
export const FACE_PARTS = ['pixels', 'message', 'link'] as const
export type FacePart = (typeof FACE_PARTS)[number]

/** A block of which everything is shown. */
export const NOTHING_HIDDEN: Hidden = { pixels: false, message: false, link: false }

/** What the operator does with parts of a block. */
export type ModerationAct = 'hide' | 'unhide'

/** How a moderation ends: with what is hidden from then on, or the same when it was so before. */
export type ModerationResult =
  | { readonly kind: 'applied' | 'unchanged'; readonly hidden: Hidden }
  | { readonly kind: 'not-owned' }

/** What readers see of a face. */
export const visible = (face: Face, hidden: Hidden): Face => ({
  pixels: hidden.pixels ? null : face.pixels,
  message: hidden.message ? null : face.message,
  link: hidden.link ? null : face.link,
})

/** What is hidden once an act is done; parts that it does not name stay as they are. */
export function moderated(before: Hidden, act: ModerationAct, parts: readonly FacePart[]): Hidden {
  const after = (part: FacePart) => (parts.includes(part) ? act === 'hide' : before[part])
  return { pixels: after('pixels'), message: after('message'), link: after('link') }
}

/** Whether two say the same. */
export const sameHidden = (one: Hidden, other: Hidden): boolean => FACE_PARTS.every((part) => one[part] === other[part])
