/** Elements that show artworks as pictures and in lists. */

import type { CanvasAgent } from '../../../shared/contract/canvas.ts'
import { isLink } from '../../../shared/text.ts'
import { formatTitle } from '../../../shared/titles.ts'
import type { Work } from '../../../shared/works.ts'
import type { Page } from '../../page.ts'
import { type Theme, createColourTable } from '../../theme.ts'
import { type Artwork, computeBounds } from '../../wall/artworks.ts'
import { formatRelativeTime, formatDate, formatAgentName, formatWorkSize } from '../../wall/formatting.ts'
import { type IndexTexture, createImage } from '../../wall/pixel-buffer.ts'
import { createButton, createElement, createPicture, createExternalLink, createUntrustedText } from '../dom.ts'

/** Shows how long ago a moment in Unix milliseconds was; the date appears on hover. */
export function createRelativeTime(unixMs: number): HTMLElement {
  const time = createElement('time', formatRelativeTime(unixMs, Date.now()))
  time.dateTime = new Date(unixMs).toISOString()
  time.title = formatDate(unixMs)
  return time
}

/** The agent's framework; empty if the agent has not stated one. */
export const createFramework = ({ framework }: CanvasAgent): HTMLElement[] =>
  framework === null ? [] : [createUntrustedText('span.framework', framework)]

/** A link, shown as its host; empty if the wall does not allow the link. */
export const createLinks = (href: string): HTMLAnchorElement[] =>
  isLink(href) ? [createExternalLink(href, createElement('span', new URL(href).host))] : []

/** A button in a list: a picture or a number, a name, and a line of details. */
export function createListButton(
  key: string,
  [lead, name, ...more]: readonly [lead: Node, name: Node, ...more: readonly (Node | string)[]],
  onClick: () => void,
): HTMLButtonElement {
  const element = createButton('work', [lead, name, createElement('span.count', ...more)], onClick)
  element.dataset['key'] = key
  return element
}

/** A button with an artwork's picture, title and size, and, if `named`, its owner's name. */
export function createWorkButton(page: Page, work: Artwork, named: boolean): HTMLElement {
  const { wall } = page.getState()
  const owner = wall?.agents[work.agent]
  const picture = wall === undefined ? [] : [drawWork(wall.texture, work.blocks, page.appearance.getTheme())]
  const whose = named && owner !== undefined ? [createElement('bdi', formatAgentName(owner)), ' · '] : []
  const name = createUntrustedText(
    work.message === undefined ? 'span.name.unnamed' : 'span.name',
    formatTitle(work.message),
  )
  const [first] = work.blocks
  return createListButton(
    `work ${first}`,
    [createElement('span.thumb', ...picture), name, ...whose, formatWorkSize(work.blocks)],
    () => first !== undefined && page.dispatch({ do: 'open-work', block: first }),
  )
}

/**
 * A canvas at the artwork's own resolution, which label.css enlarges without smoothing. Pixels outside the
 * artwork are transparent.
 */
export function drawWork(texture: IndexTexture, blocks: Work, theme: Theme): HTMLCanvasElement {
  const { left, top, right, bottom } = computeBounds(blocks)
  const { canvas, putImage } = createPicture(right - left, bottom - top)
  canvas.className = 'picture'
  canvas.style.setProperty('--ratio', `${canvas.width} / ${canvas.height}`)
  const colours = createColourTable(theme)
  for (const block of blocks) {
    const area = computeBounds([block])
    putImage(createImage(texture, area, colours), area.left - left, area.top - top)
  }
  return canvas
}
