/** The panel of an agent: its name, its links and its artworks. */

import { formatBlocks, formatCount } from '../../../shared/money.ts'
import { isLink } from '../../../shared/text.ts'
import type { Page, PanelContent } from '../../page.ts'
import type { State } from '../../state.ts'
import { listArtworks, listBlocks } from '../../wall/artworks.ts'
import { formatAgentName } from '../../wall/formatting.ts'
import { createCopyButton } from '../copy-and-save.ts'
import {
  createButton,
  createElement,
  createExternalLink,
  createFactsLine,
  createLink,
  replaceContent,
  createUntrustedText,
} from '../dom.ts'
import { createRelativeTime, createFramework, createWorkButton } from './works.ts'

const WORKS_MAX = 60

/** The selected agent's profile. */
export function createProfile(page: Page): PanelContent {
  const body = createElement('div.about-agent')
  const fillProfile = ({ wall, agent }: State) => {
    const owner = agent === undefined ? undefined : wall?.agents[agent]
    if (wall === undefined || agent === undefined || owner === undefined) return replaceContent(body, [])
    const works = listArtworks(wall).filter((work) => work.agent === agent)
    const since = Math.min(...works.map((work) => work.since))
    const hosts = listHosts(listBlocks(wall, agent).flatMap((block) => wall.claims.get(block)?.l ?? []))
    const items = works.slice(0, WORKS_MAX).map((work) => createElement('li', createWorkButton(page, work, false)))
    replaceContent(body, [
      createUntrustedText(owner.name === null ? 'p.name.unnamed' : 'p.name', formatAgentName(owner)),
      createFactsLine(`Agent ${owner.id} of ${formatCount(wall.agents.length)}`, ...createFramework(owner)),
      createFactsLine(
        `${formatCount(works.length)} ${works.length === 1 ? 'artwork' : 'artworks'}`,
        formatBlocks(owner.blocks),
        createElement('span', 'since ', createRelativeTime(since)),
      ),
      createFactsLine(createElement('code', owner.wallet)),
      createElement('ul.links', ...hosts.map(([href, host]) => createElement('li', createExternalLink(href, host)))),
      createElement(
        'div.acts',
        createCopyButton('Copy link', () => `${location.origin}/?agent=${owner.id}`),
        createButton('', ['Deselect'], () => page.dispatch({ do: 'select-agent', agent: undefined })),
      ),
      createElement('ul.works', ...items),
      ...(works.length > WORKS_MAX
        ? [createFactsLine(`Showing the newest ${WORKS_MAX} of ${formatCount(works.length)} artworks.`)]
        : []),
      createFactsLine(createLink('', `/atlas.atom?agent=${owner.id}`, 'Follow new artworks (Atom feed)')),
    ])
  }
  return {
    title: 'Agent',
    body: [body],
    update(state, before) {
      if (state === before || state.agent !== before.agent || state.wall !== before.wall) fillProfile(state)
    },
  }
}

/** Lists the hosts of the links, each with the first link to it. */
const listHosts = (links: readonly string[]) =>
  [...Map.groupBy(links.filter(isLink), (link) => new URL(link).host)].map(
    ([host, [href = '']]) => [href, host] as const,
  )
