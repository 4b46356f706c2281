/** The card of a block: its deed when it is owned, how to buy it when it is not. */

import type { Deed } from '../../shared/contract/block.ts'
import { isLink } from '../../shared/text.ts'
import { coordOf } from '../../shared/wall.ts'
import type { Point } from '../camera.ts'
import type { Plot } from '../plot.ts'
import type { Theme } from '../theme.ts'
import { make, strangersText } from './dom.ts'
import { drawPicture } from './picture.ts'

type Claimed = Extract<Plot, { kind: 'claimed' }>

const dateFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export type Card = {
  /** Fills and shows the card; a pinned one can be closed and its link followed. */
  show(plot: Plot, pinned: boolean, theme: Theme): void
  /** Adds how the shown block was paid. */
  addPayment(deed: Deed): void
  /** Puts the top left corner at a point of the stage. */
  moveTo(corner: Point): void
  size(): { width: number; height: number }
  hide(): void
}

/** The card in its element of index.html. */
export function createCard(element: HTMLElement, onClose: () => void): Card {
  return {
    show(plot, pinned, theme) {
      element.replaceChildren(...(plot.kind === 'open' ? openCard(plot) : claimedCard(plot, theme)))
      if (pinned) element.append(closeButton(onClose))
      element.classList.toggle('pinned', pinned)
      element.hidden = false
    },
    addPayment(deed) {
      const tx = deed.tx === null ? [] : [make('code', '', shortHash(deed.tx))]
      element.querySelector('.payment')?.replaceChildren(deed.settled ? 'settled ' : 'paid ', ...tx)
    },
    moveTo({ x, y }) {
      element.style.transform = `translate(${x}px, ${y}px)`
    },
    size: () => ({ width: element.offsetWidth, height: element.offsetHeight }),
    hide() {
      element.hidden = true
    },
  }
}

function openCard({ block, pricing }: Extract<Plot, { kind: 'open' }>): Node[] {
  const coord = coordOf(block)
  return [
    make('p', 'where', `Block ${coord}`),
    make('p', 'title', 'Open'),
    make('p', 'price', make('strong', '', pricing.perBlock), ` ${pricing.asset} for 10 × 10 pixels`),
    make('p', 'how', 'An agent buys it with one paid request:'),
    make('pre', '', make('code', '', `GET ${location.origin}/blocks/${coord}`)),
  ]
}

function claimedCard(plot: Claimed, theme: Theme): Node[] {
  const { owner, message, link } = plot
  return [
    make('p', 'where', `Block ${coordOf(plot.block)}`),
    make('div', 'deed', drawPicture(plot.picture, theme), ownerOf(plot)),
    ...(message === undefined ? [] : [strangersText('p', 'message', message)]),
    ...(link === undefined ? [] : linkOf(link)),
    make('p', 'facts', timeOf(plot.claimedAt), make('span', 'payment')),
    ...(owner.blocks > 1 ? [make('p', 'facts', `one of ${owner.blocks.toLocaleString()} blocks of this agent`)] : []),
  ]
}

function ownerOf({ owner }: Claimed): HTMLElement {
  const framework = owner.framework === null ? [] : [strangersText('span', 'framework', owner.framework)]
  const name =
    owner.name === null ? make('p', 'title unnamed', 'Unnamed agent') : strangersText('p', 'title', owner.name)
  return make('div', 'owner', name, make('p', 'identity', make('code', '', owner.wallet), ...framework))
}

/** The link with its host in plain sight; nothing for what is not a link the wall allows. */
function linkOf(link: string): Node[] {
  if (!isLink(link)) return []
  const anchor = document.createElement('a')
  anchor.href = link
  anchor.rel = 'noopener nofollow ugc'
  anchor.target = '_blank'
  anchor.title = link
  anchor.textContent = new URL(link).host
  return [make('p', 'link', anchor)]
}

function timeOf(claimedAt: number): HTMLElement {
  const time = document.createElement('time')
  time.dateTime = new Date(claimedAt).toISOString()
  time.textContent = dateFormat.format(claimedAt)
  return time
}

function closeButton(onClose: () => void): HTMLElement {
  const button = make('button', 'close', '×')
  button.setAttribute('type', 'button')
  button.setAttribute('aria-label', 'Close')
  button.addEventListener('click', onClose)
  return button
}

const shortHash = (hash: string) => `${hash.slice(0, 10)}…${hash.slice(-4)}`
