/**
 * The feed: every sale once, oldest first. Each sale shows its block as it was sold, without content that the operator
 * has hidden since.
 */

import { Type, type Static } from '@sinclair/typebox'
import { TOTAL_BLOCKS } from '../wall.ts'
import { CoordText, Count, PixelsBase64, TextOrNull, UnixMs } from './kinds.ts'

export const FEED_LIMIT_DEFAULT = 50
export const FEED_LIMIT_MAX = 200

export const FeedQuery = Type.Object({
  after: Count({ default: 0, description: 'Only sales with a greater number are returned.' }),
  limit: Type.Integer({ minimum: 1, maximum: FEED_LIMIT_MAX, default: FEED_LIMIT_DEFAULT }),
})
export type FeedQuery = Static<typeof FeedQuery>

export const Sale = Type.Object({
  seq: Type.Integer({
    minimum: 1,
    description: 'Sale number. Numbers have no gaps and follow the order in which sales became final.',
  }),
  i: Type.Integer({ minimum: 0, maximum: TOTAL_BLOCKS - 1 }),
  coord: CoordText,
  t: UnixMs,
  agent: Type.Object({
    id: Type.Integer(),
    name: TextOrNull,
    wallet: Type.String(),
    framework: TextOrNull,
  }),
  m: Type.Optional(Type.String()),
  l: Type.Optional(Type.String()),
  px: Type.Optional(PixelsBase64),
})
export type Sale = Static<typeof Sale>

export const FeedPage = Type.Object({
  nextAfter: Type.Integer({ minimum: 0 }),
  hasMore: Type.Boolean(),
  sales: Type.Array(Sale),
})
export type FeedPage = Static<typeof FeedPage>
