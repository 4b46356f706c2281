/** The content of the details: an artwork with its picture and its owner, or an open block and how to buy it. */

import type { Deed } from '../../../shared/contract/block.ts'
import type { CanvasAgent } from '../../../shared/contract/canvas.ts'
import { formatBlocks, formatPrice } from '../../../shared/money.ts'
import { formatTitle } from '../../../shared/titles.ts'
import { type BlockIndex, formatCoord } from '../../../shared/wall.ts'
import type { Page } from '../../page.ts'
import type { Theme } from '../../theme.ts'
import { type Artwork, isPainted } from '../../wall/artworks.ts'
import { formatDate, formatAgentName, formatWorkSize } from '../../wall/formatting.ts'
import type { Claim, Wall } from '../../wall/wall-model.ts'
import {
  createButton,
  createElement,
  createExternalLink,
  createFactsLine,
  createLink,
  createUntrustedText,
} from '../dom.ts'
import { shareWork } from '../share.ts'
import { createReportForm } from './report.ts'
import { createRelativeTime, drawWork, createFramework, createLinks } from './works.ts'

/** A sold block with its artwork, its claim and its owner. */
type ClaimedBlock = Readonly<{ wall: Wall; block: BlockIndex; work: Artwork; claim: Claim; owner: CanvasAgent }>

/** The details of a block; `work` is the artwork that a sold block is part of. */
export function renderCard(page: Page, wall: Wall, block: BlockIndex, work: Artwork | undefined): Node[] {
  const claim = wall.claims.get(block)
  const owner = claim && wall.agents[claim.a]
  if (!work || !claim || !owner) return renderOpenCard(page, wall, block, claim !== undefined)
  return renderClaimedCard(page, { wall, block, work, claim, owner })
}

/** Shows the state of a block's payment and whether the buyer signed the order, each with a link to the transaction. */
export function addPayment(element: HTMLElement, deed: Deed, network: string) {
  const { tx, settled, bound } = deed
  if (tx === null) return
  const paid = `${settled ? 'Paid' : 'Payment being confirmed'} on ${networks[network]?.name ?? network}`
  const facts = bound === true ? [paid, 'Order signed by its buyer'] : [paid]
  element.querySelector('.payment')?.replaceChildren(...facts.map((fact) => renderProof(fact, tx, network)))
}

function renderOpenCard(page: Page, { pricing }: Wall, block: BlockIndex, soldLater: boolean): Node[] {
  const coord = formatCoord(block)
  const where = createElement('p.facts.where', `Block ${coord}`)
  if (soldLater)
    return [
      createElement('h2.title', 'Not sold yet'),
      where,
      createElement('p', 'This block was still available at the time shown.'),
    ]
  return [
    createElement('h2.title', 'Available'),
    where,
    createElement(
      'p.price',
      createElement('strong', formatPrice(pricing.perBlock)),
      ` in ${pricing.asset} for 10 × 10 pixels`,
    ),
    createElement(
      'div.acts',
      createButton('loud', ['Send your agent'], () => page.dispatch({ do: 'invite', block })),
      createPaintLink(coord),
    ),
    renderDetails('Request that buys this block', [
      createElement('pre', createElement('code', `GET ${location.origin}/blocks/${coord}`)),
    ]),
  ]
}

function renderClaimedCard(page: Page, sold: ClaimedBlock): Node[] {
  const { wall, block, work, claim, owner } = sold
  const theme = page.appearance.getTheme()
  const selectAgent = () => page.dispatch({ do: 'select-agent', agent: claim.a })
  const title = formatTitle(work.message)
  const says = work.message !== undefined && title !== work.message ? [work.message] : []
  return [
    createZoomButton(drawWork(wall.texture, work.blocks, theme), () => page.dispatch({ do: 'zoom-to-work', block })),
    createUntrustedText(work.message === undefined ? 'h2.title.unnamed' : 'h2.title', title),
    createElement('p.by', createAgentButton(owner, selectAgent), ...createFramework(owner)),
    ...(isPainted(wall, work) ? [] : [createElement('p.unnamed', UNPAINTED)]),
    ...says.map((message) => createUntrustedText('p.message', message)),
    ...(work.link === undefined ? [] : createLinkButton(work.link)),
    createElement(
      'div.acts',
      createButton('', ['Share'], () => shareWork(work)),
      ...(owner.blocks > work.blocks.length ? [createButton('', ['More by this agent'], selectAgent)] : []),
    ),
    createFactsLine(
      createRelativeTime(work.since),
      formatSize(work),
      `${formatPrice(wall.pricing.perBlock, work.blocks.length)} in ${wall.pricing.asset}`,
    ),
    createElement('p.facts.payment'),
    renderDetails(`Block ${formatCoord(block)}`, renderBlockFacts(sold, theme)),
    createReportForm(block),
  ]
}

const UNPAINTED = 'There is no picture here: the owner has not painted one, or the operator has hidden it.'

const formatSize = ({ blocks }: Artwork) =>
  blocks.length === 1
    ? formatBlocks(1)
    : `${formatWorkSize(blocks)}${formatWorkSize(blocks).includes('×') ? ' blocks' : ''}`

function renderBlockFacts({ wall, block, work, claim, owner }: ClaimedBlock, theme: Theme): Node[] {
  const { m: message, l: href } = claim
  return [
    createElement(
      'div.block',
      drawWork(wall.texture, [block], theme),
      createElement(
        'div',
        createFactsLine(`Sold ${formatDate(claim.t)}`),
        createFactsLine(createElement('code', owner.wallet)),
      ),
    ),
    ...(message === undefined || message === work.message ? [] : [createUntrustedText('p.message', message)]),
    ...(href === undefined || href === work.link ? [] : createLinkButton(href)),
  ]
}

function renderDetails(summary: string, content: readonly Node[]): HTMLElement {
  return createElement('details', createElement('summary', summary), ...content)
}

const createAgentButton = (owner: CanvasAgent, onClick: () => void) =>
  createButton(owner.name === null ? 'agent.unnamed' : 'agent', [createElement('bdi', formatAgentName(owner))], onClick)

/** A link to the paint page. In an embedded wall it opens a new tab, because the paint page refuses to be framed. */
function createPaintLink(coord: string): HTMLElement {
  const anchor = createLink('button', `/paint?at=${coord}`, 'Paint here')
  if (document.body.classList.contains('embed')) anchor.target = '_blank'
  return anchor
}

/** A button with the picture of an artwork; a press zooms to the artwork. */
function createZoomButton(picture: HTMLElement, onClick: () => void): HTMLElement {
  const element = createButton('frame', [picture], onClick)
  element.ariaLabel = 'Zoom in'
  return element
}

/** A link that looks like a button; empty if the wall does not allow the link. */
const createLinkButton = (href: string): Node[] =>
  createLinks(href).map((anchor) => Object.assign(anchor, { className: 'button' }))

// The networks with a common name, and their block explorers.
const networks: Readonly<Record<string, { readonly name: string; readonly explorer: string }>> = {
  'eip155:8453': { name: 'Base', explorer: 'https://basescan.org' },
  'eip155:84532': { name: 'Base Sepolia', explorer: 'https://sepolia.basescan.org' },
}

/** A fact that links to its transaction; on a network without a known block explorer, the fact with the hash. */
function renderProof(fact: string, hash: string, network: string): Node {
  const short = `${hash.slice(0, 10)}…${hash.slice(-4)}`
  const explorer = networks[network]?.explorer
  if (explorer === undefined) return createElement('span', `${fact} `, createElement('code', short))
  const anchor = createExternalLink(`${explorer}/tx/${hash}`, fact)
  anchor.ariaLabel = `${fact}: transaction ${short} in the block explorer`
  return anchor
}
