/** Names the chosen agent's works on the stage. */

import { type Work, worksOf } from '../../../shared/works.ts'
import { boxOf, toScreen } from '../../camera/camera.ts'
import type { Component } from '../../page.ts'
import type { State } from '../../state.ts'
import { blocksOf, boundsOf } from '../../wall/artworks.ts'
import { nameOf, sizeOf } from '../../wall/formatting.ts'
import { createElement, strangersText } from '../dom.ts'

const LABELS_MAX = 12

/** A name over each of the largest works. */
export function createAgentWorks(stage: HTMLElement): Component {
  const layer = createElement('div.labels')
  stage.append(layer)
  let works: readonly Work[] = []

  const fill = ({ wall, agent }: State) => {
    const owner = agent === undefined ? undefined : wall?.agents[agent]
    works = wall === undefined || agent === undefined ? [] : worksOf(blocksOf(wall, agent)).slice(0, LABELS_MAX)
    if (owner === undefined) return layer.replaceChildren()
    layer.replaceChildren(...works.map((work) => strangersText('span', `${nameOf(owner)} · ${sizeOf(work)}`)))
  }

  return {
    update(next, before) {
      if (next.agent !== before.agent || (next.agent !== undefined && next.wall !== before.wall)) fill(next)
    },
    frame({ camera, view }) {
      works.forEach((work, i) => {
        const label = layer.children[i]
        const [first] = work
        if (!(label instanceof HTMLElement) || first === undefined) return
        const { left, top, right } = boundsOf(work)
        const isSeen = toScreen(camera, view, { x: right, y: top }).x > 0
        const at = toScreen(camera, view, { x: left, y: top })
        // The name of a work that begins left of the stage stands at the stage's edge.
        label.style.transform = `translate(${Math.round(Math.max(0, at.x))}px, ${Math.round(at.y)}px) translateY(-100%)`
        // A label would hide a work that is too small.
        label.hidden = !isSeen || boxOf(camera, view, first).width < 12
      })
    },
  }
}
