/** Lists of works with their pictures. */

import { titleOf } from '../../../shared/titles.ts'
import type { Page } from '../../page.ts'
import type { Artwork } from '../../wall/artworks.ts'
import { nameOf, sizeOf } from '../../wall/formatting.ts'
import { button, createElement, strangersText } from '../dom.ts'
import { drawWork } from './work-picture.ts'

/** A list of buttons that go to works; `named` where the works have different owners. */
export const workList = (page: Page, works: readonly Artwork[], named: boolean): HTMLElement =>
  createElement('ul', 'works', ...works.map((work) => createElement('li', '', workButton(page, work, named))))

/** A button with a work's picture, title and, if `named`, its owner. */
export function workButton(page: Page, work: Artwork, named: boolean): HTMLElement {
  const { wall } = page.state()
  const owner = wall?.agents[work.agent]
  const picture = wall === undefined ? [] : [drawWork(wall.texture, work.blocks, page.appearance.theme())]
  const whose = named && owner !== undefined ? [createElement('bdi', '', nameOf(owner)), ' · '] : []
  const element = button(
    'work',
    [
      createElement('span', 'thumb', ...picture),
      strangersText('span', work.message === undefined ? 'name unnamed' : 'name', titleOf(work.message)),
      createElement('span', 'count', ...whose, sizeOf(work.blocks)),
    ],
    () => {
      const [first] = work.blocks
      if (first !== undefined) page.dispatch({ do: 'open-work', block: first })
    },
  )
  element.dataset['key'] = `work ${work.blocks[0]}`
  return element
}
