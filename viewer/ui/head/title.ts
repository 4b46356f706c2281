/** The window's title names what is open. */

import { titleOf } from '../../../shared/titles.ts'
import { coordOf } from '../../../shared/wall.ts'
import type { Component } from '../../page.ts'
import { shownWall, type State } from '../../state.ts'
import { artworkAt } from '../../wall/artworks.ts'
import { dateText, nameOf } from '../../wall/formatting.ts'

/** A part that sets the window's title. */
export function createTitle(): Component {
  const site = document.title
  return {
    update(next, before) {
      const same = next.pinned === before.pinned && next.agent === before.agent && next.at === before.at
      if (same && next.wall === before.wall) return
      const subject = subjectOf(next)
      document.title = subject === undefined ? site : `${subject} · ${site}`
    },
  }
}

function subjectOf(state: State): string | undefined {
  const { pinned, agent, at } = state
  const wall = shownWall(state)
  if (wall === undefined) return undefined
  const work = pinned === undefined ? undefined : artworkAt(wall, pinned, at)
  const owner = wall.agents[work?.agent ?? agent ?? -1]
  if (work !== undefined && owner !== undefined) return `${titleOf(work.message)} by ${nameOf(owner)}`
  if (pinned !== undefined) return `Block ${coordOf(pinned)}`
  if (owner !== undefined) return nameOf(owner)
  return at === undefined ? undefined : dateText(at)
}
