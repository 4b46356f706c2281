/** What the label shows: a work with its picture and its owner, or an open block and how it is bought. */

import type { Deed } from '../../../shared/contract/block.ts'
import type { CanvasAgent } from '../../../shared/contract/canvas.ts'
import { isLink } from '../../../shared/text.ts'
import { titleOf } from '../../../shared/titles.ts'
import { type BlockIndex, coordOf } from '../../../shared/wall.ts'
import type { LabelShape } from '../../camera/label-layout.ts'
import type { Theme } from '../../theme.ts'
import type { Artwork } from '../../wall/artworks.ts'
import { blocksText, dateText, nameOf, priceText, sizeOf } from '../../wall/formatting.ts'
import { NO_PICTURE_FRAME, pictureAt } from '../../wall/pixel-buffer.ts'
import type { ClaimedBlock, KnownBlock, Wall } from '../../wall/wall-model.ts'
import { button, createElement, externalLink, factsLine, strangersText } from '../dom.ts'
import { agoElement, drawWork, frameworkOf } from './works.ts'

/** What a label shows besides the block itself. */
export type CardContext = {
  readonly wall: Wall
  readonly work: Artwork | undefined // of an open block, none
  readonly theme: Theme
  readonly shape: LabelShape
}

export type CardActions = {
  selectAgent(agent: number): void
  zoomToWork(block: BlockIndex): void
  share(work: Artwork): void
  invite(block: BlockIndex): void
}

/** The content of a label. */
export function cardContent(block: BlockIndex, known: KnownBlock, around: CardContext, acts: CardActions): Node[] {
  if (known.kind === 'claimed') return claimedCard(known, block, around, acts)
  return openCard(block, known.soldLater, around.wall.pricing, acts)
}

/** Adds how the block was paid. */
export function addPayment(element: HTMLElement, deed: Deed, network: string) {
  const tx = deed.tx === null ? [] : [transaction(deed.tx, network)]
  element.querySelector('.payment')?.replaceChildren(deed.settled ? 'settled ' : 'paid ', ...tx)
}

function openCard(block: BlockIndex, soldLater: boolean, pricing: Wall['pricing'], acts: CardActions): Node[] {
  const coord = coordOf(block)
  const where = createElement('p', 'facts where', `Block ${coord}`)
  if (soldLater)
    return [
      createElement('h2', 'title', 'Not sold yet'),
      where,
      createElement('p', '', 'It was open at the moment you look at.'),
    ]
  return [
    createElement('h2', 'title', 'Open'),
    where,
    createElement(
      'p',
      'price',
      createElement('strong', '', priceText(pricing.perBlock)),
      ` in ${pricing.asset} for 10 × 10 pixels`,
    ),
    createElement(
      'div',
      'acts',
      button('loud', ['Send your agent'], () => acts.invite(block)),
      paintLink(coord),
    ),
    details('The request that buys it', [
      createElement('pre', '', createElement('code', '', `GET ${location.origin}/blocks/${coord}`)),
    ]),
  ]
}

function claimedCard(known: ClaimedBlock, block: BlockIndex, around: CardContext, acts: CardActions): Node[] {
  const { wall, work, theme, shape } = around
  if (work === undefined) return []
  const { owner } = known
  const selectAgent = () => acts.selectAgent(known.claim.a)
  const title = titleOf(work.message)
  const says = work.message !== undefined && title !== work.message ? [work.message] : []
  return [
    createElement('div', 'frame', drawWork(wall.texture, work.blocks, theme)),
    strangersText('h2', work.message === undefined ? 'title unnamed' : 'title', title),
    createElement('p', 'by', agentButton(owner, selectAgent), ...frameworkOf(owner)),
    ...(isPainted(wall, work) ? [] : [createElement('p', 'unnamed', UNPAINTED)]),
    ...says.map((message) => strangersText('p', 'message', message)),
    ...(work.link === undefined ? [] : linkOf(work.link)),
    createElement(
      'div',
      'acts',
      button('', ['Share'], () => acts.share(work)),
      // A tap on a phone has looked closer already.
      ...(shape === 'sheet' ? [] : [button('', ['Look closer'], () => acts.zoomToWork(block))]),
      ...(owner.blocks > work.blocks.length ? [button('', ['All its works'], selectAgent)] : []),
    ),
    factsLine(
      agoElement(work.since),
      sizeText(work),
      `${priceText(wall.pricing.perBlock, work.blocks.length)} in ${wall.pricing.asset}`,
    ),
    details(`Block ${coordOf(block)}`, blockFacts(known, block, around)),
  ]
}

const UNPAINTED = 'No picture is shown here: none was painted, or the operator of the wall has hidden it.'

const isPainted = ({ texture }: Wall, { blocks }: Artwork) =>
  blocks.some((block) => pictureAt(texture, block)[0] !== NO_PICTURE_FRAME)

const sizeText = ({ blocks }: Artwork) =>
  blocks.length === 1 ? blocksText(1) : `${sizeOf(blocks)}${sizeOf(blocks).includes('×') ? ' blocks' : ''}`

function blockFacts({ claim, owner }: ClaimedBlock, block: BlockIndex, { wall, work, theme }: CardContext): Node[] {
  const { m: message, l: link } = claim
  return [
    createElement(
      'div',
      'block',
      drawWork(wall.texture, [block], theme),
      createElement(
        'div',
        '',
        factsLine(`Sold ${dateText(claim.t)}`, createElement('span', 'payment')),
        factsLine(createElement('code', '', owner.wallet)),
      ),
    ),
    ...(message === undefined || message === work?.message ? [] : [strangersText('p', 'message', message)]),
    ...(link === undefined || link === work?.link ? [] : linkOf(link)),
  ]
}

function details(summary: string, content: readonly Node[]): HTMLElement {
  return createElement('details', '', createElement('summary', '', summary), ...content)
}

const agentButton = (owner: CanvasAgent, onClick: () => void) =>
  button(owner.name === null ? 'agent unnamed' : 'agent', [createElement('bdi', '', nameOf(owner))], onClick)

/** A link to the paint page; in a frame it opens a new tab, because that page refuses to be framed. */
function paintLink(coord: string): HTMLElement {
  const anchor = createElement('a', 'button', 'Paint here')
  anchor.href = `/paint?at=${coord}`
  if (document.body.classList.contains('embed')) anchor.target = '_blank'
  return anchor
}

/** The link, shown as its host; nothing when the wall does not allow it. */
function linkOf(link: string): Node[] {
  if (!isLink(link)) return []
  return [createElement('p', 'link', externalLink(link, new URL(link).host))]
}

// Where a network's transactions can be looked at; none for a network without a public explorer.
const explorers: Readonly<Record<string, string>> = {
  'eip155:8453': 'https://basescan.org',
  'eip155:84532': 'https://sepolia.basescan.org',
}

function transaction(hash: string, network: string): Node {
  const short = `${hash.slice(0, 10)}…${hash.slice(-4)}`
  const explorer = explorers[network]
  const code = createElement('code', '', short)
  if (explorer === undefined) return code
  const anchor = externalLink(`${explorer}/tx/${hash}`, code)
  anchor.ariaLabel = `Transaction ${short} in the chain’s explorer`
  return anchor
}
