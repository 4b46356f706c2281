/** What is thrown on the way to an answer is answered here, without a word of what was thrown. */

import { Elysia, NotFoundError, ParseError } from 'elysia'
import { failure, StoreUnavailable } from '../domain/failure.ts'
import type { Logger } from '../ports.ts'
import { refuse } from './answer/refuse.ts'
import { notFound } from './fallback.ts'
import { Refused } from './request/strict.ts'

// Elysia keeps what `onError` answers from those who count answers.
const answered = new WeakMap<Request, Response>()

/** What a request was answered whose hook or handler threw. */
export const answeredTo = (request: Request): Response | undefined => answered.get(request)

/** Answers everything that hooks and handlers throw. The context is taken apart, or Elysia would fill all of it for every request. */
export const errors = (logger: Logger) => {
  const answer = answerTo(logger)
  return new Elysia({ name: 'errors' }).onError({ as: 'global' }, ({ request, error, set }) => {
    // Elysia has put 500 there, and would make another answer of ours, in chunks.
    set.status = 200
    const response = answer(request, error)
    answered.set(request, response)
    return response
  })
}

function answerTo(logger: Logger) {
  return (request: Request, thrown: unknown): Response => {
    const error = thrown instanceof ParseError ? thrown.cause : thrown
    if (error instanceof Refused) return refuse(error.refusal, { ...hangUp(request), ...error.headers })
    if (error instanceof NotFoundError) return notFound(request)
    if (error instanceof StoreUnavailable)
      return refuse(
        failure('database_unavailable', 'The store cannot be used at the moment. Send the same request again.'),
      )
    logger.alert('http-failed', { method: request.method, where: framesOf(error) })
    return refuse(failure('internal_error', 'Something went wrong here. The operator has been told.'))
  }
}

/** A connection on which a body was not read cannot go on. */
const hangUp = ({ body, bodyUsed }: Request) => (body === null || bodyUsed ? {} : { Connection: 'close' })

/** Where something was thrown; its message stays out, because it may quote a stranger or a secret. */
function framesOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return [error.name, ...frames.slice(0, 4).map((frame) => frame.trim())].join(' ')
}
