/** Changes of the wall as sent to clients that follow it. */

import { Type, type Static } from '@sinclair/typebox'
import { TOTAL_BLOCKS } from '../wall.ts'
import { Sale } from './feed.ts'
import { CoordText, Count, PixelsBase64, TextOrNull, UnixMs } from './kinds.ts'

const number = Type.Integer({
  minimum: 1,
  description: 'Change number, in the order in which changes were made. Old repaints may be missing.',
})

/** The content of a block from this change on; absent fields are empty. */
const shown = {
  i: Type.Integer({ minimum: 0, maximum: TOTAL_BLOCKS - 1 }),
  coord: CoordText,
  m: Type.Optional(Type.String()),
  l: Type.Optional(Type.String()),
  px: Type.Optional(PixelsBase64),
}

export const SaleChange = Type.Object({ number, kind: Type.Literal('sale'), ...Sale.properties })

export const RepaintChange = Type.Object({ number, kind: Type.Literal('repaint'), t: UnixMs, ...shown })

export const IdentityChange = Type.Object({
  number,
  kind: Type.Literal('identity'),
  t: UnixMs,
  agent: Type.Object({ id: Type.Integer(), name: TextOrNull, framework: TextOrNull }),
})

/** The query of a stream: the change after which it starts. */
export const LiveQuery = Type.Object({
  after: Type.Optional(
    Count({
      description:
        'Only changes with a greater number are sent; pass the Log-Number of the canvas read. The Last-Event-ID header takes precedence. Without either, only new changes are sent.',
    }),
  ),
})

/** One change: the data of one event in `GET /api/live`. */
export const ChangeDto = Type.Union([SaleChange, RepaintChange, IdentityChange])
export type ChangeDto = Static<typeof ChangeDto>

/**
 * The data of the event that is sent instead of all changes up to `number`: the client reads the canvas and continues
 * from `number`.
 */
export const Reset = Type.Object({
  number: Type.Integer({ minimum: 0, description: 'The canvas read shows at least all changes up to this one.' }),
  kind: Type.Literal('reset'),
})
export type Reset = Static<typeof Reset>

/** Path of the stream that a cache may read once and send to all its clients. */
export const SHARED_STREAM = '/api/live/shared'

/**
 * The data of the events that begin and end a shared stream. The stream carries every change after the `number` of its
 * `start` event.
 */
export type Mark = Readonly<{ kind: 'start'; number: number } | { kind: 'end'; number: number }>

/** The end of the log, oldest change first: every change after `after` up to `nextAfter`. */
export const LogTail = Type.Object({
  after: Type.Integer({
    minimum: 0,
    description: 'If the last change you have is older than this number, read the canvas instead.',
  }),
  nextAfter: Type.Integer({ minimum: 0 }),
  askAgainMs: Type.Integer({ minimum: 1000, description: 'Time to wait before the next request, in milliseconds.' }),
  changes: Type.Array(ChangeDto),
})
export type LogTail = Static<typeof LogTail>

/** A page of the whole log, oldest change first. */
export const HistoryPage = Type.Object({
  nextAfter: Type.Integer({ minimum: 0 }),
  hasMore: Type.Boolean(),
  changes: Type.Array(ChangeDto),
})
export type HistoryPage = Static<typeof HistoryPage>
