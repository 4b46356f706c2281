/** What the label shows: a work with its picture and its owner, or an open block and how it is bought. */

import type { Deed } from '../../../shared/contract/block.ts'
import { isLink } from '../../../shared/text.ts'
import { titleOf } from '../../../shared/titles.ts'
import { type BlockIndex, coordOf } from '../../../shared/wall.ts'
import type { LabelShape } from '../../camera/label-layout.ts'
import type { Theme } from '../../theme.ts'
import type { Artwork } from '../../wall/artworks.ts'
import { agoText, blocksText, dateText, nameOf, priceText, sizeOf } from '../../wall/formatting.ts'
import { NO_PICTURE_FRAME, pictureAt } from '../../wall/pixel-buffer.ts'
import type { KnownBlock, Wall } from '../../wall/wall-model.ts'
import { button, createElement, externalLink, factsLine, strangersText } from '../dom.ts'
import { drawWork } from './works.ts'

type Claimed = Extract<KnownBlock, { kind: 'claimed' }>
type Open = Extract<KnownBlock, { kind: 'open' }>

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
export function cardContent(known: KnownBlock, around: CardContext, acts: CardActions): Node[] {
  return known.kind === 'open' ? openCard(known, acts) : claimedCard(known, around, acts)
}

/** Adds how the block was paid. */
export function addPayment(element: HTMLElement, deed: Deed, network: string) {
  const tx = deed.tx === null ? [] : [transaction(deed.tx, network)]
  element.querySelector('.payment')?.replaceChildren(deed.settled ? 'settled ' : 'paid ', ...tx)
}

function openCard({ block, pricing, soldLater }: Open, acts: CardActions): Node[] {
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

function claimedCard(known: Claimed, around: CardContext, acts: CardActions): Node[] {
  const { wall, work, theme, shape } = around
  if (work === undefined) return []
  const { owner, agent } = known
  const title = titleOf(work.message)
  const says = work.message !== undefined && title !== work.message ? [work.message] : []
  return [
    createElement('div', 'frame', drawWork(wall.texture, work.blocks, theme)),
    strangersText('h2', work.message === undefined ? 'title unnamed' : 'title', title),
    createElement(
      'p',
      'by',
      agentButton(owner.name, nameOf(owner), () => acts.selectAgent(agent)),
      ...frameworkOf(owner),
    ),
    ...(isPainted(wall, work) ? [] : [createElement('p', 'unnamed', UNPAINTED)]),
    ...says.map((message) => strangersText('p', 'message', message)),
    ...(work.link === undefined ? [] : linkOf(work.link)),
    createElement(
      'div',
      'acts',
      button('', ['Share'], () => acts.share(work)),
      // A tap on a phone has looked closer already.
      ...(shape === 'sheet' ? [] : [button('', ['Look closer'], () => acts.zoomToWork(known.block))]),
      ...(owner.blocks > work.blocks.length ? [button('', ['All its works'], () => acts.selectAgent(agent))] : []),
    ),
    factsLine(
      timeOf(work.since),
      sizeText(work),
      `${priceText(wall.pricing.perBlock, work.blocks.length)} in ${wall.pricing.asset}`,
    ),
    details(`Block ${coordOf(known.block)}`, blockFacts(known, around)),
  ]
}

const UNPAINTED = 'No picture is shown here: none was painted, or the operator of the wall has hidden it.'

const isPainted = ({ texture }: Wall, { blocks }: Artwork) =>
  blocks.some((block) => pictureAt(texture, block)[0] !== NO_PICTURE_FRAME)

const sizeText = ({ blocks }: Artwork) =>
  blocks.length === 1 ? blocksText(1) : `${sizeOf(blocks)}${sizeOf(blocks).includes('×') ? ' blocks' : ''}`

function blockFacts(known: Claimed, { wall, work, theme }: CardContext): Node[] {
  const { owner, message, link } = known
  return [
    createElement(
      'div',
      'block',
      drawWork(wall.texture, [known.block], theme),
      createElement(
        'div',
        '',
        factsLine(`Sold ${dateText(known.claimedAt)}`, createElement('span', 'payment')),
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

const agentButton = (name: string | null, text: string, onClick: () => void) => {
  const element = button('agent', [createElement('bdi', '', text)], onClick)
  element.classList.toggle('unnamed', name === null)
  return element
}

const frameworkOf = ({ framework }: { readonly framework: string | null }) =>
  framework === null ? [] : [strangersText('span', 'framework', framework)]

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

function timeOf(unixMs: number): HTMLElement {
  const time = createElement('time', '', agoText(unixMs, Date.now()))
  time.dateTime = new Date(unixMs).toISOString()
  time.title = dateText(unixMs)
  return time
}
