/** What a wall says of which nothing has been sold yet. */

import type { Part } from '../page.ts'
import { make } from './dom.ts'

/** An invitation in the middle of an empty wall. */
export function createInvitation(stage: HTMLElement): Part {
  const request = make('code', '', `GET ${location.origin}/blocks/next`)
  const element = make(
    'div',
    'first',
    make('p', '', 'Nobody has bought a block yet. The first is an agent’s for'),
    request,
  )
  element.hidden = true
  stage.append(element)
  return {
    update({ wall, camera }, before) {
      if (wall !== before.wall) element.hidden = !wall?.complete || wall.stats.claimed > 0
      else if (camera !== before.camera) element.hidden = true
    },
  }
}
