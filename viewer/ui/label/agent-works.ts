/** Labels the selected agent's artworks on the stage with its name and their sizes. */

import { BLOCK_SIZE } from '../../../shared/wall.ts'
import { groupIntoWorks } from '../../../shared/works.ts'
import { projectRect, type Rect } from '../../camera/camera.ts'
import type { Component } from '../../page.ts'
import type { State } from '../../state.ts'
import { listBlocks, computeBounds } from '../../wall/artworks.ts'
import { formatAgentName, formatWorkSize } from '../../wall/formatting.ts'
import { createElement, createUntrustedText } from '../dom.ts'

const LABELS_MAX = 12

// Artworks get no label if blocks are smaller than this, in CSS pixels, because labels would hide them.
const BLOCK_PX = 12

/** Places a label above each of the agent's largest artworks. */
export function createAgentWorks(stage: HTMLElement): Component {
  const layer = createElement('div.labels')
  stage.append(layer)
  const labels = new Map<HTMLElement, Rect>() // the labels, each with its artwork's position on the wall

  const fillLabels = ({ wall, agent }: State) => {
    labels.clear()
    const owner = agent === undefined ? undefined : wall?.agents[agent]
    if (wall && agent !== undefined && owner)
      for (const work of groupIntoWorks(listBlocks(wall, agent)).slice(0, LABELS_MAX))
        labels.set(
          createUntrustedText('span', `${formatAgentName(owner)} · ${formatWorkSize(work)}`),
          computeBounds(work),
        )
    layer.replaceChildren(...labels.keys())
  }

  return {
    update(next, before) {
      if (next.agent !== before.agent || (next.agent !== undefined && next.wall !== before.wall)) fillLabels(next)
    },
    onDraw({ camera, view }) {
      for (const [label, area] of labels) {
        const { left, top, width } = projectRect(camera, view, area)
        // If an artwork begins to the left of the stage, its label is at the stage's edge.
        label.style.transform = `translate(${Math.round(Math.max(0, left))}px, ${Math.round(top)}px) translateY(-100%)`
        label.hidden = left + width <= 0 || camera.zoom * BLOCK_SIZE < BLOCK_PX
      }
    },
  }
}
