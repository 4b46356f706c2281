/** Shares the link of a work. */

import { titleOf } from '../../../shared/titles.ts'
import { coordOf } from '../../../shared/wall.ts'
import type { Artwork } from '../../wall/artworks.ts'
import { toast } from '../toast.ts'

/** Shares a work by the system's share sheet on a phone, else copies its link. */
export function shareWork({ message, blocks: [first] }: Artwork) {
  const query = first === undefined ? '' : `?work=${coordOf(first)}`
  const shared = { title: titleOf(message), url: `${location.origin}/${query}` }
  const isPhone = window.matchMedia('(pointer: coarse)').matches
  // It rejects when the user closes the sheet.
  if (isPhone && 'share' in navigator) return void navigator.share(shared).catch(() => {})
  if (!('clipboard' in navigator)) return toast(shared.url)
  void navigator.clipboard.writeText(shared.url).then(
    () => toast('The link is copied.'),
    () => toast(shared.url),
  )
}
