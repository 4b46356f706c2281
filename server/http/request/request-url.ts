/**
 * Path and query of a request, as the client wrote them. `URL` throws on the bare path Bun gives for a request without
 * a Host, and Elysia's own `path` is wrong for a host of a few letters.
 */

import { NotFoundError } from 'elysia'

const ORIGIN_END = '://'

/** How the address of a block's or an area's picture ends. */
export const PNG_END = '.png'

/** The path, still percent-encoded; empty when there is none. */
export function pathOf(url: string): string {
  const start = pathStart(url)
  return start < 0 ? '' : url.slice(start, pathEnd(url, start))
}

/** What stands between the question mark and the end, still encoded; empty when there is none. */
export function queryOf(url: string): string {
  const start = url.indexOf('?')
  if (start < 0) return ''
  const end = url.indexOf('#')
  return url.slice(start + 1, end < 0 ? url.length : end)
}

/**
 * The last part of the path of a route with a name in it, decoded once; empty when that cannot be done. Throws `NotFoundError`
 * when the address does not lead below `start`: the routers go by what was sent, and the dots in that are taken out of it.
 */
export function nameBelow(start: string, url: string): string {
  const path = pathOf(url)
  if (!path.startsWith(start) || path.length === start.length || path.includes('/', start.length))
    throw new NotFoundError()
  return decodePercent(path.slice(start.length)) ?? ''
}

/** Undoes percent-encoding; `undefined` when it is malformed or not UTF-8. */
export function decodePercent(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function pathStart(url: string): number {
  if (url.startsWith('/')) return 0
  const originEnd = url.indexOf(ORIGIN_END)
  return originEnd < 0 ? -1 : url.indexOf('/', originEnd + ORIGIN_END.length)
}

function pathEnd(url: string, start: number): number {
  const [query, fragment] = [url.indexOf('?', start), url.indexOf('#', start)]
  if (query < 0) return fragment < 0 ? url.length : fragment
  return fragment < 0 ? query : Math.min(query, fragment)
}
