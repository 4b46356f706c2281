/** The preview of a link to the page, for the wall, a block or an agent. */

import { ASSET_SYMBOL } from '../../shared/money.ts'
import { titleOf } from '../../shared/titles.ts'
import { BLOCK_SIZE, coordOf } from '../../shared/wall.ts'
import { CARD_HEIGHT, CARD_WIDTH, type CardSubject } from '../domain/picture/card.ts'
import { type Artwork, findArtwork } from '../domain/wall/artworks.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import { PATHS } from './links.ts'
import { contactUri, escapeMarkup, priceOf, type Site, renderTagline } from './site.ts'

/** Title, description and picture of a link. Title and description may quote untrusted text; nothing is escaped yet. */
type Sharing = {
  readonly title: string
  readonly description: string
  readonly query: string // of the page, and of the card
  readonly alt: string // describes the card
}

/** The texts about a subject. */
export function sharingOf(site: Site, view: WallView, subject: CardSubject): Sharing {
  const { title } = site.offer
  if (subject.kind === 'block') return blockSharing(site, view, subject.block)
  const work = subject.kind === 'work' ? findArtwork(view, subject.block) : undefined
  if (work !== undefined) return workSharing(site, work)
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

function workSharing({ offer }: Site, { blocks, agent, message }: Artwork): Sharing {
  const [first] = blocks
  const what = blocks.length === 1 ? 'one block' : `${blocks.length} blocks`
  return {
    title: `${titleOf(message)} by ${agent.name ?? agent.shownAs} · ${offer.title}`,
    description: message ?? `An artwork of ${what} that a software agent bought and painted on a public pixel wall.`,
    query: first === undefined ? '' : `?work=${coordOf(first)}`,
    alt: `An artwork of ${what}, enlarged.`,
  }
}

function blockSharing(site: Site, view: WallView, block: Parameters<typeof coordOf>[0]): Sharing {
  const coord = coordOf(block)
  const claimed = view.claimed.get(block)
  const common = { query: `?block=${coord}`, alt: `Block ${coord}, enlarged, and its place on the wall.` }
  if (claimed === undefined)
    return {
      ...common,
      title: `Block ${coord} is open · ${site.offer.title}`,
      description: `${BLOCK_SIZE} x ${BLOCK_SIZE} pixels for ${priceOf(site)} ${ASSET_SYMBOL}. An agent buys them with GET /blocks/${coord} over x402.`,
    }
  const owner = claimed.agent.name ?? claimed.agent.shownAs
  return {
    ...common,
    title: `Block ${coord} of ${owner} · ${site.offer.title}`,
    description: claimed.message ?? `One of the blocks that software agents have bought on a public pixel wall.`,
  }
}

/** The address of a card, below that of the service. */
export const cardPath = ({ query }: Sharing): string => PATHS.card + query

/** The tags with the service's own address, which the built page does not know, or with the shared subject. */
export function renderHeadTags(site: Site, sharing: Sharing): string {
  const { baseUrl } = site.offer
  const contact = contactUri(site)
  return [
    link('canonical', `${baseUrl}/`),
    property('og:type', 'website'),
    property('og:site_name', site.offer.title),
    property('og:title', sharing.title),
    property('og:description', sharing.description),
    property('og:url', `${baseUrl}/${sharing.query}`),
    property('og:image', baseUrl + cardPath(sharing)),
    property('og:image:type', 'image/png'),
    property('og:image:width', String(CARD_WIDTH)),
    property('og:image:height', String(CARD_HEIGHT)),
    property('og:image:alt', sharing.alt),
    named('twitter:card', 'summary_large_image'),
    // The page shows whom to contact about its content.
    ...(contact === undefined ? [] : [named('contact', contact)]),
    link('alternate', baseUrl + PATHS.skill, 'text/markdown'),
    link('alternate', baseUrl + PATHS.atlasFeed, 'application/atom+xml'),
    link(
      'alternate',
      `${baseUrl}${PATHS.oembed}?url=${encodeURIComponent(`${baseUrl}/${sharing.query}`)}`,
      'application/json+oembed',
    ),
    link('service-desc', baseUrl + PATHS.openapi, 'application/json'),
    link('service-doc', baseUrl + PATHS.llms, 'text/plain'),
  ].join('\n')
}

const named = (name: string, content: string) => `<meta name="${name}" content="${escapeMarkup(content)}">`

const property = (name: string, content: string) => `<meta property="${name}" content="${escapeMarkup(content)}">`

const link = (rel: string, href: string, type?: string) =>
  `<link rel="${rel}" href="${escapeMarkup(href)}"${type === undefined ? '' : ` type="${type}"`}>`
