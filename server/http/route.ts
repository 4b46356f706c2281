/** Routes as values: which path takes which verb. */

import { failure, StoreUnavailable } from '../domain/failure.ts'
import type { Journal } from '../ports.ts'
import { refuse } from './refuse.ts'
import { respondPreflight } from './respond.ts'
import { pathOf } from './target.ts'
import type { ViewerFiles } from './viewer-files.ts'

export type Handler = (request: Request) => Response | Promise<Response>

export type Verb = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'OPTIONS'

export type Methods = { readonly [V in Verb]?: Handler }

/** `path` in Elysia's words: one `:name` may stand for the last part, or for all of it but an ending such as `.png`. */
export type Route = { readonly path: string; readonly methods: Methods }

/** A verb on a resource that is only read. */
export const readOnly = (read: Handler): Methods => ({ GET: read, HEAD: read })

/** A handler whose every throw is an answer, without a word of what was thrown. */
export function guarded(handler: Handler, journal: Journal): Handler {
  const answerTo = (request: Request, error: unknown) => {
    if (error instanceof StoreUnavailable)
      return refuse(
        failure('database_unavailable', 'The store cannot be used at the moment. Send the same request again.'),
      )
    journal.alarm('http-failed', { method: request.method, at: framesOf(error) })
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
 * the request itself, because a router that takes HEAD for GET, or misreads a path, must not make it buy.
 */
export function dispatcher(routes: readonly Route[], files: ViewerFiles): Handler {
  const find = finder(routes)
  return (request) => {
    const { method } = request
    const path = pathOf(request.url)
    const methods = find(path) ?? fileMethods(files, path)
    if (method === 'OPTIONS') return methods?.OPTIONS?.(request) ?? respondPreflight()
    if (methods === undefined) return refuse(failure('not_found', 'There is nothing here. See /openapi.json.'))
    const handler = isVerb(method) ? methods[method] : undefined
    return handler === undefined ? wrongVerb(methods) : handler(request)
  }
}

function fileMethods(files: ViewerFiles, path: string): Methods | undefined {
  const file = files(path)
  return file === undefined ? undefined : readOnly(file)
}

/** Finds what the first route that a path belongs to takes. Paths with a name are few, and only they are looked through. */
function finder(routes: readonly Route[]): (asked: string) => Methods | undefined {
  const plain = new Map(routes.toReversed().map((route) => [route.path, { route, at: routes.indexOf(route) }]))
  const named = [...routes.entries()].filter(([, { path }]) => path.includes(':'))
  const tests = named.map(([at, { path, methods }]) => ({ at, methods, belongs: namedPath(path) }))
  return (asked) => {
    const exact = asked.includes(':') ? undefined : plain.get(asked)
    const found = tests.find(({ at, belongs }) => at < (exact?.at ?? routes.length) && belongs(asked))
    return found?.methods ?? exact?.route.methods
  }
}

/** Whether a path belongs to a route that has a name in it. */
function namedPath(path: string): (asked: string) => boolean {
  const ending = endingOf(path)
  const at = path.indexOf(':')
  const start = path.slice(0, at)
  return (asked) =>
    asked.length > at + ending.length && asked.endsWith(ending) && asked.startsWith(start) && !asked.includes('/', at)
}

/** What has to stand after the name in a path's last part. */
export function endingOf(path: string): string {
  const at = path.indexOf('.', path.indexOf(':'))
  return path.includes(':') && at >= 0 ? path.slice(at) : ''
}

function wrongVerb(methods: Methods): Response {
  const allowed = [...new Set([...Object.keys(methods), 'OPTIONS'])].join(', ')
  return refuse(failure('method_not_allowed', `This address takes ${allowed}.`), { Allow: allowed })
}

const verbs: readonly string[] = ['GET', 'HEAD', 'PUT', 'POST', 'OPTIONS'] satisfies readonly Verb[]

const isVerb = (method: string): method is Verb => verbs.includes(method)

/** Where something was thrown; its message stays out, because it may quote a stranger or a secret. */
function framesOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return [error.name, ...frames.slice(0, 4).map((frame) => frame.trim())].join(' ')
}
