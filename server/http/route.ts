/** Routes as values: which path takes which verb. */

import { failure, StoreUnavailable } from '../domain/failure.ts'
import type { Logger } from '../ports.ts'
import { prefersHtml } from './negotiate.ts'
import { respondNowhere } from './payment-page.ts'
import { refuse } from './refuse.ts'
import { pathOf } from './request-url.ts'
import { respondPreflight } from './respond.ts'
import type { ViewerFiles } from './viewer-files.ts'

export type Handler = (request: Request) => Response | Promise<Response>

export type Verb = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'OPTIONS'

export type Methods = { readonly [V in Verb]?: Handler }

/** `path` in Elysia's words: one `:name` may stand for the last part, or for all of it but an ending such as `.png`. */
export type Route = { readonly path: string; readonly methods: Methods }

/** Wraps what answers at a path of Bun's router, to count what it answers. */
export type Meter = (path: string, handler: Handler) => Handler

/** A verb on a resource that is only read. */
export const readOnly = (read: Handler): Methods => ({ GET: read, HEAD: read })

/** A handler whose every throw is an answer, without a word of what was thrown. */
export function guarded(handler: Handler, logger: Logger): Handler {
  const answerTo = (request: Request, error: unknown) => {
    if (error instanceof StoreUnavailable)
      return refuse(
        failure('database_unavailable', 'The store cannot be used at the moment. Send the same request again.'),
      )
    logger.alert('http-failed', { method: request.method, where: framesOf(error) })
    return refuse(failure('internal_error', 'Something went wrong here. The operator has been told.'))
  }
  // What is ready is not made to wait a turn.
  return (request) => {
    try {
      const answer = handler(request)
      return answer instanceof Promise ? answer.catch((error: unknown) => answerTo(request, error)) : answer
    } catch (error) {
      return answerTo(request, error)
    }
  }
}

/**
 * Answers every request there can be: routes, the viewer's files, preflights, wrong verbs and unknown paths. It goes by
 * the request itself, because a router that misreads a path must not make it buy.
 */
export function dispatcher(routes: readonly Route[], files: ViewerFiles): Handler {
  const find = finder(routes)
  return (request) => {
    const path = pathOf(request.url)
    return answerAt(find(path) ?? fileMethods(files, path), request)
  }
}

/**
 * Handlers for Bun's own router, by path. It goes by what was sent; the address of a request has its dot segments taken
 * out, so that `/blocks/%2e%2e/api/health` reads `/api/health`. Whole paths are answered by the router's word, which spares
 * them the address, dear to make. Where a name stands in the path, so that something may be bought, the address has to
 * lead to the same place; and what belongs to no route as it was sent is nowhere, whatever it reads as.
 */
export function handlersByPath(
  routes: readonly Route[],
  files: ViewerFiles,
  logger: Logger,
  meter: Meter = (_, handler) => handler,
): Readonly<Record<string, Handler>> {
  const find = finder(routes)
  const whole = routes
    .filter(({ path }) => !hasName(path))
    .map(({ path, methods }): [string, Handler] => [path, (request) => answerAt(methods, request)])
  const named = routes
    .filter(({ path }) => hasName(path))
    .map(({ path }): [string, Handler] => {
      const start = startOf(path)
      const isThere = (asked: string) => asked.startsWith(start) && !asked.includes('/', start.length)
      return [
        `${start}:name`,
        (request) => {
          const asked = pathOf(request.url)
          return answerAt(isThere(asked) ? find(asked) : undefined, request)
        },
      ]
    })
  const rest: Handler = (request) => {
    const asked = pathOf(request.url)
    return answerAt(find(asked) === undefined ? fileMethods(files, asked) : undefined, request)
  }
  const handlers: [string, Handler][] = [...whole, ...named, ['/*', rest]]
  return Object.fromEntries(handlers.map(([path, handler]) => [path, meter(path, guarded(handler, logger))]))
}

/** Answers at an address that takes `methods`, by the verb itself: a router may take HEAD for GET. */
function answerAt(methods: Methods | undefined, request: Request): Response | Promise<Response> {
  const { method } = request
  if (method === 'OPTIONS') return methods?.OPTIONS?.(request) ?? respondPreflight()
  if (methods === undefined) return nowhere(request)
  const handler = isVerb(method) ? methods[method] : undefined
  return handler === undefined ? wrongVerb(methods) : handler(request)
}

function nowhere(request: Request): Response {
  if (request.method === 'GET' && prefersHtml(request.headers.get('accept'))) return respondNowhere(404)
  return refuse(failure('not_found', 'There is nothing here. See /openapi.json.'))
}

function fileMethods(files: ViewerFiles, path: string): Methods | undefined {
  const file = files(path)
  return file === undefined ? undefined : readOnly(file)
}

/** Finds what a path takes: what stands there by that very name, else the first route with a name that it belongs to. */
function finder(routes: readonly Route[]): (asked: string) => Methods | undefined {
  const plain = new Map(routes.filter(({ path }) => !hasName(path)).map(({ path, methods }) => [path, methods]))
  const named = routes.filter(({ path }) => hasName(path)).map(namedRoute)
  return (asked) => plain.get(asked) ?? named.find(({ start, ending }) => belongs(asked, start, ending))?.methods
}

const hasName = (path: string) => path.includes(':')

const startOf = (path: string) => path.slice(0, path.indexOf(':'))

const namedRoute = ({ path, methods }: Route) => ({
  start: startOf(path),
  ending: endingOf(path),
  methods,
})

const belongs = (asked: string, start: string, ending: string) =>
  asked.startsWith(start) &&
  asked.endsWith(ending) &&
  asked.length > start.length + ending.length &&
  !asked.includes('/', start.length)

/** What has to stand after the name in a path's last part. */
function endingOf(path: string): string {
  const at = path.indexOf('.', path.indexOf(':'))
  return at < 0 ? '' : path.slice(at)
}

function wrongVerb(methods: Methods): Response {
  const allowed = [...new Set([...Object.keys(methods), 'OPTIONS'])].join(', ')
  return refuse(failure('method_not_allowed', `This address takes ${allowed}.`), { Allow: allowed })
}

const verbs: ReadonlySet<string> = new Set<Verb>(['GET', 'HEAD', 'PUT', 'POST', 'OPTIONS'])

const isVerb = (method: string): method is Verb => verbs.has(method)

/** Where something was thrown; its message stays out, because it may quote a stranger or a secret. */
function framesOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return [error.name, ...frames.slice(0, 4).map((frame) => frame.trim())].join(' ')
}
