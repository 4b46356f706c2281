/** What a link to the page says of the wall, a block or an agent before it is opened. */

import { ASSET_SYMBOL } from '../../shared/money.ts'
import { titleOf } from '../../shared/titles.ts'
import { BLOCK_SIZE, coordOf } from '../../shared/wall.ts'
import type { CardSubject } from '../domain/picture/card.ts'
import { artworkAt, type Artwork } from '../domain/wall/artworks.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import { PATHS } from './links.ts'
import { priceOf, tagline, type Site } from './site.ts'

/** Title, description and picture of a link. Title and description may quote strangers; nothing is escaped yet. */
export type Sharing = {
  readonly title: string
  readonly description: string
  readonly query: string // of the page, and of the card
  readonly alt: string // what the card shows
}

/** What is said of a subject. */
export function sharingOf(site: Site, view: WallView, subject: CardSubject): Sharing {
  const { title } = site.offer
  if (subject.kind === 'block') return blockSharing(site, view, subject.block)
  const work = subject.kind === 'work' ? artworkAt(view, subject.block) : undefined
  if (work !== undefined) return workSharing(site, work)
  const agent = subject.kind === 'agent' ? view.agents[subject.agent - 1] : undefined
  if (agent === undefined) return { title, description: tagline(site), query: '', alt: 'The whole wall.' }
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
    description: message ?? `A work of ${what} that a software agent bought and painted on a public wall of pixels.`,
    query: first === undefined ? '' : `?work=${coordOf(first)}`,
    alt: `A work of ${what}, enlarged.`,
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
    description: claimed.message ?? `One of the blocks that software agents bought on a public wall of pixels.`,
  }
}

/** Address of a card, below that of the service. */
export const cardPath = ({ query }: Sharing): string => PATHS.card + query
