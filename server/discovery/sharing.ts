/** The preview of a link to the page: for the wall, a block, an artwork or an agent. */

import { ASSET_SYMBOL } from '../../shared/money.ts'
import { formatTitle } from '../../shared/titles.ts'
import { BLOCK_SIZE, formatCoord } from '../../shared/wall.ts'
import { CARD_HEIGHT, CARD_WIDTH, type CardSubject } from '../domain/picture/card.ts'
import { type Artwork, findArtwork } from '../domain/wall/artworks.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import { PATHS } from './links.ts'
import { formatContactUri, escapeMarkup, formatBlockPrice, type Site, renderTagline } from './site.ts'

/** Title, description and picture of a link. Title and description may quote untrusted text; nothing is escaped yet. */
type Sharing = {
  readonly title: string
  readonly description: string
  readonly query: string // query string of the page and of the card
  readonly alt: string // describes the card
}

/** Title, description and picture of a link to a subject. */
export function describeSubject(site: Site, view: WallView, subject: CardSubject): Sharing {
  const { title } = site.offer
  if (subject.kind === 'block') return describeBlock(site, view, subject.block)
  const work = subject.kind === 'work' ? findArtwork(view, subject.block) : undefined
  if (work !== undefined) return describeWork(site, work)
  const agent = subject.kind === 'agent' ? view.agents[subject.agent - 1] : undefined
  if (agent === undefined) return { title, description: renderTagline(site), query: '', alt: 'The whole wall.' }
  const { id, name, shownAs, framework, blocks } = agent
  const runsOn = framework === null ? '' : `, which runs on ${framework}`
  const what = blocks.length === 1 ? 'one block' : `${blocks.length} blocks`
  return {
    title: `${name ?? shownAs} · ${title}`,
    description: `Agent ${id} of ${view.agents.length}, wallet ${shownAs}${runsOn}, has bought ${what} of the wall.`,
    query: `?agent=${id}`,
    alt: `The blocks of agent ${id} on the wall, all others dimmed.`,
  }
}

function describeWork({ offer }: Site, { blocks, agent, message }: Artwork): Sharing {
  const [first] = blocks
  const what = blocks.length === 1 ? 'one block' : `${blocks.length} blocks`
  return {
    title: `${formatTitle(message)} by ${agent.name ?? agent.shownAs} · ${offer.title}`,
    description: message ?? `An artwork of ${what} that a software agent bought and painted on a public pixel wall.`,
    query: first === undefined ? '' : `?work=${formatCoord(first)}`,
    alt: `An artwork of ${what}, enlarged.`,
  }
}

function describeBlock(site: Site, view: WallView, block: Parameters<typeof formatCoord>[0]): Sharing {
  const coord = formatCoord(block)
  const claimed = view.claimed.get(block)
  const common = { query: `?block=${coord}`, alt: `Block ${coord}, enlarged, and its place on the wall.` }
  if (claimed === undefined)
    return {
      ...common,
      title: `Block ${coord} is open · ${site.offer.title}`,
      description: `${BLOCK_SIZE} x ${BLOCK_SIZE} pixels for ${formatBlockPrice(site)} ${ASSET_SYMBOL}. An agent buys them with GET /blocks/${coord} over x402.`,
    }
  const owner = claimed.agent.name ?? claimed.agent.shownAs
  return {
    ...common,
    title: `Block ${coord} of ${owner} · ${site.offer.title}`,
    description: claimed.message ?? `One of the blocks that software agents have bought on a public pixel wall.`,
  }
}

/** The path and query of a card's URL. */
export const formatCardPath = ({ query }: Sharing): string => PATHS.card + query

/** The tags that depend on the service's own address, which the built page does not know, or on the shared subject. */
export function renderHeadTags(site: Site, sharing: Sharing): string {
  const { baseUrl } = site.offer
  const contact = formatContactUri(site)
  return [
    renderLinkTag('canonical', `${baseUrl}/`),
    renderPropertyMeta('og:type', 'website'),
    renderPropertyMeta('og:site_name', site.offer.title),
    renderPropertyMeta('og:title', sharing.title),
    renderPropertyMeta('og:description', sharing.description),
    renderPropertyMeta('og:url', `${baseUrl}/${sharing.query}`),
    renderPropertyMeta('og:image', baseUrl + formatCardPath(sharing)),
    renderPropertyMeta('og:image:type', 'image/png'),
    renderPropertyMeta('og:image:width', String(CARD_WIDTH)),
    renderPropertyMeta('og:image:height', String(CARD_HEIGHT)),
    renderPropertyMeta('og:image:alt', sharing.alt),
    renderNamedMeta('twitter:card', 'summary_large_image'),
    // The page reads from this tag whom to contact about its content.
    ...(contact === undefined ? [] : [renderNamedMeta('contact', contact)]),
    renderLinkTag('alternate', baseUrl + PATHS.skill, 'text/markdown'),
    renderLinkTag('alternate', baseUrl + PATHS.atlasFeed, 'application/atom+xml'),
    renderLinkTag(
      'alternate',
      `${baseUrl}${PATHS.oembed}?url=${encodeURIComponent(`${baseUrl}/${sharing.query}`)}`,
      'application/json+oembed',
    ),
    renderLinkTag('service-desc', baseUrl + PATHS.openapi, 'application/json'),
    renderLinkTag('service-doc', baseUrl + PATHS.llms, 'text/plain'),
  ].join('\n')
}

const renderNamedMeta = (name: string, content: string) => `<meta name="${name}" content="${escapeMarkup(content)}">`

const renderPropertyMeta = (name: string, content: string) =>
  `<meta property="${name}" content="${escapeMarkup(content)}">`

const renderLinkTag = (rel: string, href: string, type?: string) =>
  `<link rel="${rel}" href="${escapeMarkup(href)}"${type === undefined ? '' : ` type="${type}"`}>`
