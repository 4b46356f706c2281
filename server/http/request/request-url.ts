/**
 * Path and query of a request, still percent-encoded. `URL` throws for the bare path that Bun gives for a request
 * without a Host, and Elysia's `path` is wrong for very short hosts.
 */

import { NotFoundError } from 'elysia'

const ORIGIN_END = '://'

/** The suffix of the path of a block's or an area's picture. */
export const PNG_END = '.png'

/** The path, still percent-encoded; empty if there is none. */
export function getPath(url: string): string {
  const start = findPathStart(url)
  return start < 0 ? '' : url.slice(start, findPathEnd(url, start))
}

/** The query, still encoded; empty if there is none. */
export function getQuery(url: string): string {
  const start = url.indexOf('?')
  if (start < 0) return ''
  const end = url.indexOf('#')
  return url.slice(start + 1, end < 0 ? url.length : end)
}

/**
 * The path segment after `start`, decoded once; empty if it cannot be decoded. Throws `NotFoundError` if the path is
 * not `start` and one segment. This can happen because the routers match the path as it was sent, while `request.url`
 * has its dot segments removed.
 */
export function readNameBelow(start: string, url: string): string {
  const path = getPath(url)
  if (!path.startsWith(start) || path.length === start.length || path.includes('/', start.length))
    throw new NotFoundError()
  return decodePercent(path.slice(start.length)) ?? ''
}

/** Decodes percent-encoding; `undefined` if it is malformed or not UTF-8. */
export function decodePercent(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function findPathStart(url: string): number {
  if (url.startsWith('/')) return 0
  const originEnd = url.indexOf(ORIGIN_END)
  return originEnd < 0 ? -1 : url.indexOf('/', originEnd + ORIGIN_END.length)
}

function findPathEnd(url: string, start: number): number {
  const [query, fragment] = [url.indexOf('?', start), url.indexOf('#', start)]
  if (query < 0) return fragment < 0 ? url.length : fragment
  return fragment < 0 ? query : Math.min(query, fragment)
}
