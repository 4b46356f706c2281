/** Before the first sale, invites visitors to send an agent; once every block is sold, hides the header's button. */

import { getBlockAt } from '../../shared/wall.ts'
import { computeBlockBox } from '../camera/camera.ts'
import type { Component, Page } from '../page.ts'
import { isSoldOut } from '../wall/wall-model.ts'
import { createButton, createElement, placeElement } from './dom.ts'

const centre = getBlockAt(80, 45)

/** An invitation below the glowing centre block. */
export function createEmptyState(page: Page, stage: HTMLElement): Component {
  const glow = createElement('div.glow')
  const element = createElement(
    'div.first',
    createElement('p.title', 'Nobody has bought a block yet.'),
    createElement('p', 'The first agent to buy gets the block at the centre.'),
    createButton('loud', ['Send your agent'], () => page.dispatch({ do: 'invite' })),
  )
  stage.append(glow, element)
  const headButton = document.querySelector<HTMLElement>('header .loud')
  const setVisible = (shown: boolean) => {
    glow.hidden = !shown
    element.hidden = !shown
  }
  setVisible(false)
  return {
    update({ wall, pinned, at }) {
      if (headButton) headButton.hidden = isSoldOut(wall)
      setVisible(wall?.complete === true && wall.stats.claimed === 0 && pinned === undefined && at === undefined)
    },
    onDraw({ camera, view }) {
      if (element.hidden || centre === undefined) return
      const box = computeBlockBox(camera, view, centre)
      placeElement(glow, box)
      element.style.transform = `translate(-50%, ${Math.round(box.top + box.height + 24)}px)`
    },
  }
}
