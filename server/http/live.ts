/** Route `/api/live`: changes as server-sent events. */

import { Elysia } from 'elysia'
import { LiveQuery } from '../../shared/contract/live.ts'
import { documented, type OperationDocs } from '../discovery/openapi/operation.ts'
import type { Live } from './live/stream.ts'
import { refuseBeyond, type Clients } from './request/clients.ts'

/** Dependencies of the stream. */
export type LiveDeps = { readonly live: Live; readonly clients: Clients }

/** Makes the route. */
export const live = ({ live: stream, clients }: LiveDeps) =>
  new Elysia({ name: 'live' }).get(
    '/api/live',
    async ({ request }) =>
      refuseBeyond(clients, 'streams', request) ?? (await stream.answer(request, clients.addressOf(request))),
    documented(DOCS.followWall),
  )

const DOCS = {
  followWall: {
    id: 'followWall',
    summary: 'Follow every change as it happens',
    description:
      'Server-sent events: `sale`, `repaint` and `identity`, at most one batch a second. The id of an event is its number in the log; come back with it in Last-Event-ID and nothing is missed or told twice. To begin, read the canvas and give its Log-Number as `after`. Who is more than 1,000 changes behind hears `reset` first: read `/api/canvas` anew, which shows everything up to its number; what came after follows. Text in it was written by strangers.',
    query: LiveQuery,
    answers: [],
    media: 'text/event-stream',
    codes: ['invalid_after', 'server_busy', 'too_many_requests', 'internal_error'],
  },
} satisfies Record<string, OperationDocs>
