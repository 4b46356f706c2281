/** Hands a work's link on: by the system's own sheet where there is one, else by the clipboard. */

import { titleOf } from '../../../shared/titles.ts'
import { coordOf } from '../../../shared/wall.ts'
import type { Artwork } from '../../wall/artworks.ts'
import { toast } from '../toast.ts'

/** The address of a work. */
export const linkOfWork = ({ blocks }: Pick<Artwork, 'blocks'>): string => {
  const [first] = blocks
  return `${location.origin}/${first === undefined ? '' : `?work=${coordOf(first)}`}`
}

/** Shares a work. */
export function shareWork(work: Artwork) {
  const shared = { title: titleOf(work.message), url: linkOfWork(work) }
  const isPhone = window.matchMedia('(pointer: coarse)').matches
  // Whoever closes the system's sheet wants nothing more.
  if (isPhone && 'share' in navigator) return void navigator.share(shared).catch(() => {})
  if (!('clipboard' in navigator)) return toast(shared.url)
  void navigator.clipboard.writeText(shared.url).then(
    () => toast('The link is copied.'),
    () => toast(shared.url),
  )
}
