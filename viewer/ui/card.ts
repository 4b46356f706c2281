/** The card of a block: its deed when it is owned, how to buy it when it is not. */

import type { Deed } from '../../shared/contract/block.ts'
import { isLink } from '../../shared/text.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import type { Point } from '../camera/camera.ts'
import type { Theme } from '../theme.ts'
import type { Work } from '../wall/artworks.ts'
import { transactionPage } from '../wall/explorer.ts'
import { blocksText, dateText, nameOf, sizeOf } from '../wall/formatting.ts'
import type { Plot } from '../wall/wall-model.ts'
import { drawPicture } from './block-picture.ts'
import { button, copyButton, make, strangersText } from './dom.ts'

type Claimed = Extract<Plot, { kind: 'claimed' }>

/** What a card tells besides the block itself. */
export type Around = {
  readonly work: Work
  readonly neighbour: BlockIndex | undefined // the open block nearest to it
  readonly network: string
  readonly theme: Theme
}

export type CardActs = { close(): void; choose(agent: number): void; go(to: BlockIndex): void }

export type Card = {
  /** Fills and shows the card; a pinned one has what can be done, too. */
  show(plot: Plot, pinned: boolean, around: Around): void
  /** Adds how the shown block was paid. */
  addPayment(deed: Deed, network: string): void
  /** Puts the top left corner at a point of the stage. */
  moveTo(corner: Point): void
  size(): { width: number; height: number }
  hide(): void
}

/** The card in its element of index.html. */
export function createCard(element: HTMLElement, acts: CardActs): Card {
  return {
    show(plot, pinned, around) {
      const where = make('p', 'where', `Block ${coordOf(plot.block)}`)
      const body = plot.kind === 'open' ? openCard(plot) : claimedCard(plot, around)
      const more = pinned ? doable(plot, around, acts) : []
      element.replaceChildren(where, ...body, ...more)
      element.classList.toggle('pinned', pinned)
      element.hidden = false
    },
    addPayment(deed, network) {
      const tx = deed.tx === null ? [] : [transaction(deed.tx, network)]
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

function openCard({ block, pricing, soldLater }: Extract<Plot, { kind: 'open' }>): Node[] {
  if (soldLater) return [make('p', 'title', 'Not sold yet'), make('p', 'how', 'It was open at the moment you look at.')]
  return [
    make('p', 'title', 'Open'),
    make('p', 'price', make('strong', '', pricing.perBlock), ` ${pricing.asset} for 10 × 10 pixels`),
    ...howToBuy('An agent buys it with one paid request:', block),
  ]
}

function claimedCard(plot: Claimed, { work, theme }: Around): Node[] {
  const { owner, message, link } = plot
  const others = owner.blocks > 1 ? [`one of ${blocksText(owner.blocks)} of this agent`] : []
  const part = work.length > 1 ? [`part of a work of ${sizeOf(work)}`] : []
  return [
    make('div', 'deed', drawPicture(plot.picture, theme), ownerOf(plot)),
    ...(message === undefined ? [] : [strangersText('p', 'message', message)]),
    ...(link === undefined ? [] : linkOf(link)),
    make('p', 'facts', timeOf(plot.claimedAt), make('span', 'payment')),
    ...[...part, ...others].map((text) => make('p', 'facts', text)),
  ]
}

function doable(plot: Plot, { neighbour }: Around, acts: CardActs): Node[] {
  const coord = coordOf(plot.block)
  const buttons = [copyButton('Copy coordinates', () => coord)]
  if (plot.kind === 'claimed') {
    const { agent, owner } = plot
    const label = owner.blocks > 1 ? `All ${blocksText(owner.blocks)}` : 'Show its agent'
    buttons.push(button('', [label], () => acts.choose(agent)))
  }
  const buying = plot.kind === 'claimed' && neighbour !== undefined
  return [
    ...(buying ? howToBuy('An agent buys the nearest open block with:', neighbour, acts) : []),
    make('div', 'acts', ...buttons, paintLink(coord)),
    closeButton(acts.close),
  ]
}

/** Leads to the page for painting; out of a frame, where that page does not show itself. */
function paintLink(coord: string): HTMLElement {
  const anchor = make('a', '', 'Paint here')
  anchor.href = `/paint?at=${coord}`
  if (document.body.classList.contains('embed')) anchor.target = '_blank'
  return anchor
}

function howToBuy(how: string, block: BlockIndex, acts?: CardActs): Node[] {
  const request = make('pre', '', make('code', '', `GET ${location.origin}/blocks/${coordOf(block)}`))
  const told = make('p', 'how', how)
  if (acts === undefined) return [told, request]
  return [told, request, button('quiet', [`Look at ${coordOf(block)}`], () => acts.go(block))]
}

function ownerOf({ owner }: Claimed): HTMLElement {
  const framework = owner.framework === null ? [] : [strangersText('span', 'framework', owner.framework)]
  const name = owner.name === null ? make('p', 'title unnamed', nameOf(owner)) : strangersText('p', 'title', owner.name)
  return make('div', 'owner', name, make('p', 'identity', make('code', '', owner.wallet), ...framework))
}

/** The link with its host in plain sight; nothing for what is not a link the wall allows. */
function linkOf(link: string): Node[] {
  if (!isLink(link)) return []
  return [make('p', 'link', outside(link, new URL(link).host))]
}

function transaction(hash: string, network: string): Node {
  const short = `${hash.slice(0, 10)}…${hash.slice(-4)}`
  const page = transactionPage(network, hash)
  const code = make('code', '', short)
  if (page === undefined) return code
  const anchor = outside(page, code)
  anchor.ariaLabel = `Transaction ${short} in the chain’s explorer`
  return anchor
}

function outside(href: string, content: Node | string): HTMLAnchorElement {
  const anchor = make('a', '', content)
  anchor.href = href
  anchor.rel = 'noopener nofollow ugc'
  anchor.target = '_blank'
  anchor.title = href
  return anchor
}

function timeOf(claimedAt: number): HTMLElement {
  const time = make('time', '', dateText(claimedAt))
  time.dateTime = new Date(claimedAt).toISOString()
  return time
}

function closeButton(onClose: () => void): HTMLElement {
  const element = button('close', ['×'], onClose)
  element.ariaLabel = 'Close'
  return element
}
