/** Responds to errors that hooks and handlers throw. The responses never contain an error's own message. */

import { Elysia, NotFoundError, ParseError } from 'elysia'
import { createFailure, StoreUnavailable } from '../domain/failure.ts'
import type { Logger } from '../ports.ts'
import { CLOSE_CONNECTION, refuse } from './answer/refuse.ts'
import { answerNotFound } from './fallback.ts'
import { Refused } from './request/refused.ts'

// Elysia does not pass the response of `onError` to `onAfterResponse`, which counts responses.
const answered = new WeakMap<Request, Response>()

/** The response to a request whose hook or handler threw; `undefined` if none did. */
export const findErrorResponse = (request: Request): Response | undefined => answered.get(request)

/**
 * The `onError` hook. The hook destructures its context, because otherwise Elysia would fill the whole context for each
 * request.
 */
export const createErrorPlugin = (logger: Logger) => {
  const handleError = createErrorHandler(logger)
  return new Elysia({ name: 'errors' }).onError({ as: 'global' }, ({ request, error, set }) => {
    // Elysia has set the status to 500 here, and would otherwise build a second, chunked response from ours.
    set.status = 200
    const response = handleError(request, error)
    answered.set(request, response)
    return response
  })
}

function createErrorHandler(logger: Logger) {
  return (request: Request, thrown: unknown): Response => {
    const error = thrown instanceof ParseError ? thrown.cause : thrown
    if (error instanceof Refused) return refuse(error.refusal, { ...createCloseHeaders(request), ...error.headers })
    if (error instanceof NotFoundError) return answerNotFound(request)
    if (error instanceof StoreUnavailable)
      return refuse(
        createFailure('database_unavailable', 'The database is unavailable right now. Send the same request again.'),
      )
    logger.alert('http-failed', { method: request.method, where: formatStackFrames(error) })
    return refuse(createFailure('internal_error', 'Internal error. The operator has been notified.'))
  }
}

/** A connection with an unread request body must be closed. */
const createCloseHeaders = ({ body, bodyUsed }: Request) => (body === null || bodyUsed ? {} : CLOSE_CONNECTION)

/** The stack frames of an error, without its message, which may contain untrusted text or secrets. */
function formatStackFrames(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return [error.name, ...frames.slice(0, 4).map((frame) => frame.trim())].join(' ')
}
