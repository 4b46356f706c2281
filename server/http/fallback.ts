/** Responds to requests without a route: files of the page, preflights, wrong methods and unknown paths. */

import type { AnyElysia } from 'elysia'
import { createFailure } from '../domain/failure.ts'
import { respondErrorPage } from './answer/payment-page.ts'
import { CLOSE_CONNECTION, refuse } from './answer/refuse.ts'
import { respondPreflight } from './answer/respond.ts'
import type { ViewerFiles } from './answer/viewer-files.ts'
import { prefersHtml } from './request/negotiate.ts'
import { Refused } from './request/refused.ts'
import { getPath, PNG_END } from './request/request-url.ts'

/**
 * Makes the fallback handler. The routers of Bun and Elysia match the path as it was sent, while `request.url` has its
 * dot segments removed: `/blocks/%2e%2e/api/health` becomes `/api/health`. A path that matches no route as it was sent
 * is unknown, whatever `request.url` says.
 */
export function createFallback(app: AnyElysia, files: ViewerFiles): (request: Request) => Response {
  const findMethods = createMethodFinder(app)
  return (request) => {
    const { method, url } = request
    if (method === 'OPTIONS') return respondPreflight()
    const path = getPath(url)
    const file = files(path)
    const verbs = file === undefined ? findMethods(path) : READ
    if (verbs.length > 0 && !verbs.includes(method)) return refuseMethod(verbs)
    return file === undefined ? answerNotFound(request) : file(request)
  }
}

const READ: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/**
 * Whether a request has at most one Host header. If it has several, a proxy may have used a different one from the one
 * that Bun uses (RFC 9112, 3.2).
 */
export const hasOneHost = ({ headers }: Request): boolean => headers.get('host')?.includes(',') !== true

/** Refuses a request with several Host headers. */
export const refuseSeveralHosts = (): Response =>
  refuse(createFailure('invalid_option', 'A request must have exactly one Host header.'), CLOSE_CONNECTION)

/** Refuses a method that a path does not allow; `verbs` are those that it allows. */
export function refuseMethod(verbs: readonly string[]): Response {
  const { refusal, headers } = createMethodRefusal(verbs)
  return refuse(refusal, headers)
}

function createMethodRefusal(verbs: readonly string[]): Refused {
  const allowed = verbs.join(', ')
  return new Refused(createFailure('method_not_allowed', `This address accepts only ${allowed}.`), { Allow: allowed })
}

/**
 * Refuses a request to change something at a picture's path, before its body is read. Pictures share the routes of
 * blocks and areas, and can only be read.
 */
export function refusePicturePath({ url }: Request): undefined {
  if (getPath(url).endsWith(PNG_END)) throw createMethodRefusal(READ)
}

/** Responds to an unknown path. */
export function answerNotFound(request: Request): Response {
  if (request.method === 'GET' && prefersHtml(request.headers.get('accept'))) return respondErrorPage(404)
  return refuse(createFailure('not_found', 'Not found. See /openapi.json.'))
}

const VERBS = ['GET', 'HEAD', 'PUT', 'POST', 'OPTIONS']

/** Creates a function that finds the methods that a path allows; an unknown path allows none. */
function createMethodFinder(app: AnyElysia): (path: string) => readonly string[] {
  const routes = app.routes
    .filter(({ path }) => !path.endsWith('*'))
    .map(({ method, path, hooks }) => ({
      method,
      fits: createPathMatcher(path),
      isRefusal: hooks.detail?.hide === true,
    }))
  return (path) => {
    const here = routes.filter(({ fits }) => fits(path))
    if (here.length === 0) return []
    const taken = new Set(here.map(({ method }) => method))
    for (const { method, isRefusal } of here) if (isRefusal) taken.delete(method)
    if (taken.has('GET')) taken.add('HEAD')
    return VERBS.filter((verb) => verb === 'OPTIONS' || taken.has(verb))
  }
}

/** Creates a function that checks whether a path matches a route, in which `:name` stands for the last segment. */
function createPathMatcher(route: string): (path: string) => boolean {
  const at = route.indexOf(':')
  if (at < 0) return (path) => path === route
  const start = route.slice(0, at)
  return (path) => path.startsWith(start) && path.length > start.length && !path.includes('/', start.length)
}
