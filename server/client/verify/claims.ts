/** The claims of a wall: every deed, its credits, the sales in its feed, and its canvas. */

import type { TSchema, Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Canvas } from '../../../shared/contract/canvas.ts'
import { DeedsPage, type OwedMoney, type SaleDeed } from '../../../shared/contract/deeds.ts'
import { FEED_LIMIT_MAX, FeedPage, type Sale } from '../../../shared/contract/feed.ts'
import { TOTAL_BLOCKS } from '../../../shared/wall.ts'
import { parseTerms } from '../payment.ts'
import { fetchJsonWithRetries } from '../read.ts'
import { sendRequest, WallError } from '../wall-error.ts'

/** The claims of a wall that can be checked. */
export type Claims = {
  readonly host: string // the host that the claims were read from
  readonly network: string
  readonly asset: string
  readonly payTo: readonly string[]
  readonly deeds: readonly SaleDeed[] // oldest first
  readonly owed: readonly OwedMoney[]
  readonly sales: readonly Sale[] // of the feed, oldest first
  readonly shown: readonly { readonly i: number; readonly wallet: string }[] // blocks on the canvas, with their owners
  readonly lastShown: number // number of the last sale that the canvas shows
  /** The payment address in the wall's current terms; none if the wall is sold out, or does not ask for dollars. */
  readonly asksAt: string | undefined
}

/** Reads a JSON document of the wall, by its path. */
type ReadWall = (path: string) => Promise<unknown>

/** Reads all claims, in pages. Throws a `WallError` if the wall does not respond according to its contract. */
export async function readClaims(wall: URL, onPage: (deeds: number) => void): Promise<Claims> {
  const read: ReadWall = (path) => fetchJsonWithRetries(new URL(path, wall))
  const sales: Sale[] = []
  for (let after = 0, hasMore = true; hasMore;) {
    const page = await fetchChecked(FeedPage, read, `/api/feed?after=${after}&limit=${FEED_LIMIT_MAX}`)
    sales.push(...page.sales)
    if ((page.hasMore && page.nextAfter <= after) || sales.length > TOTAL_BLOCKS) throw createFormatError('/api/feed')
    ;({ nextAfter: after, hasMore } = page)
  }
  // The deeds are read last, so every sale in the feed and on the canvas already has a deed.
  const canvas = await fetchChecked(Canvas, read, '/api/canvas')
  const deeds: SaleDeed[] = []
  const owed: OwedMoney[] = []
  let page: DeedsPage
  let after = 0
  do {
    const path = `/api/deeds?after=${after}&owedAfter=${owed.length}&limit=${FEED_LIMIT_MAX}`
    page = await fetchChecked(DeedsPage, read, path)
    deeds.push(...page.deeds)
    owed.push(...page.owed)
    const isStuck = (page.hasMore && page.nextAfter <= after) || (page.hasMoreOwed && page.owed.length === 0)
    if (isStuck || deeds.length > TOTAL_BLOCKS) throw createFormatError(path)
    after = page.nextAfter
    onPage(deeds.length)
  } while (page.hasMore || page.hasMoreOwed)
  const { network, asset, payTo } = page
  const shown = canvas.blocks.map(({ i, a }) => ({ i, wallet: canvas.agents[a]?.wallet ?? '' }))
  const { hostname: host } = wall
  const [asksAt, lastShown] = [await readPaymentAddress(wall), canvas.stats.lastSaleId]
  return { host, network, asset, payTo, deeds, owed, sales, shown, lastShown, asksAt }
}

async function readPaymentAddress(wall: URL): Promise<string | undefined> {
  const response = await sendRequest(new URL('/blocks/next', wall), { headers: { accept: 'application/json' } })
  await response.body?.cancel()
  const terms = parseTerms(response.headers.get('payment-required') ?? undefined)
  return typeof terms === 'string' ? undefined : terms.payTo
}

async function fetchChecked<Schema extends TSchema>(
  schema: Schema,
  read: ReadWall,
  path: string,
): Promise<Static<Schema>> {
  const value = await read(path)
  if (!Value.Check(schema, value)) throw createFormatError(path)
  return value
}

const createFormatError = (path: string) =>
  new WallError({
    kind: 'unavailable',
    code: 'no_wall',
    message: `The response to ${path.split('?', 1)[0]} is not what a wall of this version returns.`,
  })
