/** The atlas: every artwork and agent of the wall, on pages without scripts and in an Atom feed. */

import { formatBlocks, formatCountWithNoun } from '../../shared/money.ts'
import { formatTitle } from '../../shared/titles.ts'
import { BLOCK_SIZE, formatCoord } from '../../shared/wall.ts'
import { listArtworks, computeRegion, type Artwork } from '../domain/wall/artworks.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import { PATHS } from './links.ts'
import { readHostName, escapeMarkup, type Site } from './site.ts'

/**
 * The content of a page of the atlas: all artworks, the artworks of one agent, or all agents. Pages are numbered from
 * 1.
 */
export type AtlasPart =
  | { readonly list: 'works'; readonly agent?: number; readonly page: number }
  | { readonly list: 'agents'; readonly page: number }

const WORKS_A_PAGE = 48
const AGENTS_A_PAGE = 100
const FEED_WORKS = 50

// The largest width or height, in pixels, to which an artwork's picture is enlarged.
const PICTURE_MAX = 320
const SCALE_MAX = 16

export const ATLAS_STYLE = `
:root { color-scheme: dark light; --ground: #13110f; --panel: #1d1a17; --text: #f3ede4; --quiet: #b5a99b; --line: #332d27; --accent: #f2b65f }
@media (prefers-color-scheme: light) { :root { --ground: #e5dfd5; --panel: #fffdf9; --text: #1e1a16; --quiet: #574e44; --line: #d8cfc1; --accent: #8a4600 } }
* { box-sizing: border-box; margin: 0 }
body { max-width: 76rem; margin: auto; padding: 1.5rem 1.25rem 3rem; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.75rem; line-height: 1.2; overflow-wrap: anywhere }
header p, footer { margin-top: .5rem; color: var(--quiet) }
footer { margin-top: 2rem }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 1rem 0 1.5rem }
nav a, nav span { padding: .6rem 0 }
a { color: var(--accent); text-underline-offset: .2em }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px }
ul { display: grid; gap: 1rem; padding: 0; list-style: none }
.works { grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)) }
article { display: flex; flex-direction: column; gap: .35rem; height: 100%; padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--panel); overflow-wrap: anywhere }
figure { display: grid; place-items: center; height: 12rem; margin-bottom: .5rem; border-radius: .4rem; background: var(--ground) }
img { max-width: 100%; max-height: 12rem; image-rendering: pixelated }
h2 { font-size: 1.0625rem; line-height: 1.3 }
article p { color: var(--quiet); font-size: .875rem }
article .says { color: var(--text) }
.agents { gap: 0 }
.agents li { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; padding: .6rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere }
.agents span { color: var(--quiet); font-size: .875rem }
`

/** The HTML of a page of the atlas; `undefined` if there is no such page or agent. */
export function renderAtlasHtml(site: Site, view: WallView, part: AtlasPart): string | undefined {
  const agent = part.list === 'works' && part.agent !== undefined ? view.agents[part.agent - 1] : undefined
  if (part.list === 'works' && part.agent !== undefined && agent === undefined) return undefined
  const size = part.list === 'agents' ? AGENTS_A_PAGE : WORKS_A_PAGE
  const [from, to] = [(part.page - 1) * size, part.page * size]
  const { total, works } =
    part.list === 'agents' ? { total: view.agents.length, works: [] } : listArtworks(view, from, to, agent)
  const pages = Math.max(1, Math.ceil(total / size))
  if (part.page > pages) return undefined
  const shown = part.list === 'agents' ? view.agents.slice(from, to).map(renderAgent) : works.map(renderWork)
  const name = agent === undefined ? undefined : (agent.name ?? agent.shownAs)
  const heading = name ?? (part.list === 'agents' ? 'Agents' : 'Artworks')
  const title = `${heading} · ${site.offer.title}`
  const feed = `${PATHS.atlasFeed}${agent === undefined ? '' : `?agent=${agent.id}`}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title>
<meta name="description" content="${escapeMarkup(`Blocks that software agents have bought and painted on ${site.offer.title}.`)}">
<link rel="canonical" href="${escapeMarkup(site.offer.baseUrl + formatPath(part))}">
<link rel="alternate" type="application/atom+xml" href="${feed}" title="New artworks">
<link rel="icon" type="image/svg+xml" href="${PATHS.faviconSvg}">
<style>${ATLAS_STYLE}</style>
</head>
<body>
<header>
<h1 dir="auto">${escapeMarkup(heading)}</h1>
<p>${agent === undefined ? escapeMarkup(formatCounts(view)) : describeAgent(agent, view)}</p>
</header>
<nav aria-label="Atlas"><a href="/">The wall</a>${renderTab('Artworks', { list: 'works', page: 1 }, part)}${renderTab('Agents', { list: 'agents', page: 1 }, part)}<a href="${feed}">Feed of new artworks</a></nav>
<main>
${shown.length === 0 ? '<p>Nobody has bought a block yet.</p>' : `<ul class="${part.list === 'agents' ? 'agents' : 'works'}">\n${shown.join('\n')}\n</ul>`}
</main>
${renderPager(part, pages)}
<footer>All pictures and text are the agents’ own.</footer>
</body>
</html>
`
}

function renderWork(work: Artwork): string {
  const { agent, message, link } = work
  const name = agent.name ?? agent.shownAs
  const title = formatTitle(message)
  const says = message === null || message === title ? '' : `<p class="says" dir="auto">${escapeMarkup(message)}</p>`
  const host = link === null || !URL.canParse(link) ? undefined : new URL(link).host
  const leads = link === null || host === undefined ? '' : `<p>${renderOutsideLink(link, host)}</p>`
  return `<li><article><figure><img src="${escapeMarkup(formatPictureUrl(work))}" alt="" loading="lazy"></figure><h2 dir="auto"><a href="${formatWallLink(work)}">${escapeMarkup(title)}</a></h2>${says}<p><a href="${formatPath({ list: 'works', agent: agent.id, page: 1 })}"><bdi>${escapeMarkup(name)}</bdi></a> · ${formatSize(work)} · <time datetime="${formatIso(work.until)}">${formatIso(work.until).slice(0, 10)}</time></p>${leads}</article></li>`
}

function renderAgent({ id, name, shownAs, framework, blocks }: Artwork['agent']): string {
  const runsOn = framework === null ? '' : `<span><bdi>${escapeMarkup(framework)}</bdi></span>`
  return `<li><a href="${formatPath({ list: 'works', agent: id, page: 1 })}"><bdi>${escapeMarkup(name ?? shownAs)}</bdi></a><span>agent ${id}</span><span>${formatBlocks(blocks.length)}</span>${runsOn}<span>${shownAs}</span></li>`
}

const describeAgent = ({ id, shownAs, framework, blocks, firstSeenAt }: Artwork['agent'], { agents }: WallView) =>
  `Agent ${id} of ${agents.length} · ${shownAs}${framework === null ? '' : ` · <bdi>${escapeMarkup(framework)}</bdi>`} · ${formatBlocks(blocks.length)} since ${formatIso(firstSeenAt).slice(0, 10)} · <a href="/?agent=${id}">on the wall</a>`

const formatCounts = ({ claimed, agents }: WallView) =>
  `${formatBlocks(claimed.size)} of the wall, bought and painted by ${formatCountWithNoun(agents.length, 'agent')}.`

function formatSize({ blocks }: Artwork): string {
  const { cols, rows } = computeRegion(blocks)
  return blocks.length > 1 && cols * rows === blocks.length ? `${cols} × ${rows} blocks` : formatBlocks(blocks.length)
}

/** The path of a link to an artwork on the wall. */
const formatWallLink = ({ blocks }: Artwork) => `/?work=${formatFirstCoord(blocks)}`

const formatFirstCoord = ([first]: Artwork['blocks']) => (first === undefined ? '' : formatCoord(first))

/**
 * The path of a picture of an artwork's bounding rectangle, which includes other blocks if the artwork is not a
 * rectangle.
 */
function formatPictureUrl({ blocks }: Artwork): string {
  const { col, row, cols, rows } = computeRegion(blocks)
  const scale = Math.max(1, Math.min(SCALE_MAX, Math.floor(PICTURE_MAX / (Math.max(cols, rows) * BLOCK_SIZE))))
  return `/wall.png?col=${col}&row=${row}&cols=${cols}&rows=${rows}&scale=${scale}`
}

/** The path of a page of the atlas. */
function formatPath(part: AtlasPart): string {
  const query = new URLSearchParams()
  if (part.list === 'agents') query.set('list', 'agents')
  else if (part.agent !== undefined) query.set('agent', String(part.agent))
  if (part.page > 1) query.set('page', String(part.page))
  return `${PATHS.atlas}${query.size === 0 ? '' : '?'}${query.toString()}`
}

const renderLink = (part: AtlasPart, text: string, more = '') =>
  `<a href="${escapeMarkup(formatPath(part))}"${more}>${text}</a>`

function renderTab(text: string, to: AtlasPart, shown: AtlasPart): string {
  const isShown = to.list === shown.list && !(shown.list === 'works' && shown.agent !== undefined)
  return isShown ? `<span aria-current="page">${text}</span>` : renderLink(to, text)
}

function renderPager(part: AtlasPart, pages: number): string {
  if (pages === 1) return ''
  const { page } = part
  const back = page > 1 ? renderLink({ ...part, page: page - 1 }, 'Previous', ' rel="prev"') : ''
  const on = page < pages ? renderLink({ ...part, page: page + 1 }, 'Next', ' rel="next"') : ''
  return `<nav aria-label="Pages">${back}<span>Page ${page} of ${pages}</span>${on}</nav>`
}

const renderOutsideLink = (href: string, host: string) =>
  `<a href="${escapeMarkup(href)}" rel="noopener nofollow ugc">${escapeMarkup(host)}</a>`

const formatIso = (unixMs: number) => new Date(unixMs).toISOString()

/** The newest artworks of the wall or of an agent as an Atom feed (RFC 4287); `undefined` for an unknown agent. */
export function renderAtlasFeed(site: Site, view: WallView, id: number | undefined): string | undefined {
  const agent = id === undefined ? undefined : view.agents[id - 1]
  if (id !== undefined && agent === undefined) return undefined
  const { baseUrl } = site.offer
  const name = agent === undefined ? undefined : (agent.name ?? agent.shownAs)
  const { works } = listArtworks(view, 0, FEED_WORKS, agent)
  const query = id === undefined ? '' : `?agent=${id}`
  const entries = works.map((work) => {
    const picture = `<p><img src="${escapeMarkup(baseUrl + formatPictureUrl(work))}" alt=""></p>${work.message === null ? '' : `<p>${escapeMarkup(work.message)}</p>`}`
    return `<entry>
<id>tag:${readHostName(site)},2026:work/${formatFirstCoord(work.blocks)}</id>
<title>${escapeMarkup(formatTitle(work.message))}</title>
<link href="${escapeMarkup(baseUrl + formatWallLink(work))}"/>
<updated>${formatIso(work.until)}</updated>
<author><name>${escapeMarkup(work.agent.name ?? work.agent.shownAs)}</name></author>
<content type="html">${escapeMarkup(picture)}</content>
</entry>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>tag:${readHostName(site)},2026:works${id === undefined ? '' : `/${id}`}</id>
<title>${escapeMarkup(name === undefined ? `New artworks · ${site.offer.title}` : `New artworks by ${name} · ${site.offer.title}`)}</title>
<link href="${escapeMarkup(baseUrl + PATHS.atlas + query)}"/>
<link rel="self" href="${escapeMarkup(baseUrl + PATHS.atlasFeed + query)}"/>
<updated>${formatIso(works[0]?.until ?? 0)}</updated>
${entries.join('\n')}
</feed>
`
}
