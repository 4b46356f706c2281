/** The files of the viewer that Vite built, kept in memory. */

import { join } from 'node:path'
import { SHARED_STREAM } from '../../../shared/contract/live.ts'
import { ASSET_SYMBOL, USUAL_PRICE } from '../../../shared/money.ts'
import { escapeMarkup } from '../../discovery/site.ts'
import { createCachedResponse, addHeaders, type CachedResponse } from './cached-response.ts'
import { CACHED_BY_PROXIES } from './respond.ts'
import { formatContentPolicy, createSiteHeaders } from './security-headers.ts'

/** Finds the handler of the file at a path. */
export type ViewerFiles = (path: string) => CachedResponse | undefined

const PAGE_END = '.html'
const MANIFEST_END = '.webmanifest'
const INDEX = `index${PAGE_END}`
const CHAT_VIEW = `chat${PAGE_END}`

// Vite puts a content hash into the name of every file in this folder.
const HASHED = 'assets/'

/** Settings of the wall that may differ from those with which the page was built. */
export type Branding = {
  readonly title: string
  readonly price: string
  readonly sharesStream?: boolean // whether pages follow the shared stream, which a cache distributes
}

const BUILT: Branding = { title: 'Pixel Wall', price: USUAL_PRICE }

/**
 * Reads all files into memory; `files` maps names to locations. `index.html` is also served at `/`, and `paint.html` at
 * `/paint`.
 */
export async function loadViewerFiles(
  files: ReadonlyMap<string, string>,
  words: Branding = BUILT,
): Promise<ViewerFiles> {
  const answers = new Map<string, CachedResponse>()
  for (const [name, path] of files) {
    if (name === CHAT_VIEW) continue
    const file = Bun.file(path)
    const content = fillBranding(name, await file.bytes(), words)
    const plain = createCachedResponse({
      type: file.type,
      body: content,
      hasBrotli: true,
      cacheControl: name.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : CACHED_BY_PROXIES,
    })
    const isPage = name.endsWith(PAGE_END)
    const built = name === INDEX ? 'wall' : 'paint'
    const answer = isPage
      ? addHeaders(plain, formatContentPolicy({ built, html: new TextDecoder().decode(content) }))
      : plain
    answers.set(`/${name}`, answer)
    if (isPage) answers.set(name === INDEX ? '/' : `/${name.slice(0, -PAGE_END.length)}`, answer)
  }
  return (path) => answers.get(path)
}

/** Adds the security headers of the service at `baseUrl` to the files. */
export function addSecurityHeaders(baseUrl: string, files: ViewerFiles): ViewerFiles {
  const headers = createSiteHeaders(baseUrl)
  return (path) => {
    const file = files(path)
    return file && addHeaders(file, headers)
  }
}

/** Loads everything that Vite built, for a wall at `baseUrl`: the files of the pages, and the view for chats. */
export const loadPages = async (
  files: ReadonlyMap<string, string>,
  words: Branding & { readonly baseUrl: string },
) => ({
  findViewerFile: await loadViewerFiles(files, words),
  chatView: await buildChatView(files, words, words.baseUrl),
})

/** The HTML of the view for chats, which has no address of its own; empty if it was not built. */
export async function buildChatView(
  files: ReadonlyMap<string, string>,
  words: Branding,
  baseUrl: string,
): Promise<string> {
  const path = files.get(CHAT_VIEW)
  if (path === undefined) return ''
  const html = new TextDecoder().decode(fillBranding(CHAT_VIEW, await Bun.file(path).bytes(), words))
  return html.replace('<meta name="wall" content=""', () => `<meta name="wall" content="${escapeMarkup(baseUrl)}"`)
}

/** Inserts this wall's settings into a page or the manifest; returns other files unchanged. */
function fillBranding(name: string, content: Uint8Array<ArrayBuffer>, words: Branding): Uint8Array<ArrayBuffer> {
  const { title, price, sharesStream = false } = words
  const isManifest = name.endsWith(MANIFEST_END)
  if (!isManifest && !name.endsWith(PAGE_END)) return content
  const shown = isManifest ? JSON.stringify(title).slice(1, -1) : escapeMarkup(title)
  const text = new TextDecoder()
    .decode(content)
    .replaceAll(BUILT.title, () => shown)
    .replaceAll(`${BUILT.price} ${ASSET_SYMBOL}`, `${price} ${ASSET_SYMBOL}`)
  const tags = [
    ...(price === BUILT.price ? [] : [`<meta name="price" content="${price}" />`]),
    ...(sharesStream ? [`<meta name="live" content="${SHARED_STREAM}" />`] : []),
  ]
  return new TextEncoder().encode(text.replace('</head>', (end) => tags.map((tag) => `${tag}\n  `).join('') + end))
}

/** The paths of all files under `directory`, keyed by relative name; empty if the directory does not exist. */
export async function readFilesIn(directory: string): Promise<ReadonlyMap<string, string>> {
  try {
    const names = await Array.fromAsync(new Bun.Glob('**/*').scan({ cwd: directory }))
    return new Map(names.map((name) => [name, join(directory, name)]))
  } catch {
    return new Map()
  }
}
