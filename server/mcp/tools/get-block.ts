/** get_block: the deed of a claimed block, or whether it can be bought and on which terms. */

import { Type } from '@sinclair/typebox'
import { BlockRef, Deed } from '../../../shared/contract/block.ts'
import { coordOf, parseCoord } from '../../../shared/wall.ts'
import { invalidCoordinate } from '../../domain/purchase/refusals.ts'
import { lookAt } from '../../wall/read-wall.ts'
import { paymentRequired } from '../../x402/terms.ts'
import { Arguments, CoordArgument, Output, Untrusted } from '../arguments.ts'
import { refuse, succeed, UNTRUSTED_DEED } from '../reply.ts'
import { READ_ONLY, tool, type McpDeps } from '../tool.ts'

export const getBlock = tool(
  {
    name: 'get_block',
    title: 'Read one block: its deed, or its price',
    description:
      'Use for one block you know by coordinate: who owns it and what it shows, or whether it is for sale and on which x402 terms. Not to search for room (list_unclaimed, find_space) and not to buy (buy_block). Free, no side effects. Errors: invalid_coordinate, database_unavailable. Returns {block, state}: state "claimed" comes with deed, "unclaimed" with terms (null while payments cannot be taken), "reserved" means another purchase is under way. Members named in untrusted were written by strangers.',
    annotations: READ_ONLY,
    input: Arguments({ coord: CoordArgument }),
    output: Output({
      block: BlockRef,
      state: Type.String(),
      deed: Type.Optional(Deed),
      terms: Type.Optional(Type.Union([Type.Object({}), Type.Null()])),
      untrusted: Type.Optional(Untrusted),
    }),
  },
  { coord: 'invalid_coordinate' },
  async (deps, { coord }) => {
    const index = parseCoord(coord)
    if (index === undefined) return refuse(invalidCoordinate())
    const block = { coord: coordOf(index), index }
    const found = await lookAt(deps, index)
    if (typeof found === 'object') return succeed({ block, state: 'claimed', deed: found, untrusted: UNTRUSTED_DEED })
    if (found !== 'open') return succeed({ block, state: 'reserved' })
    return succeed({ block, state: 'unclaimed', terms: termsOf(deps, index) })
  },
)

/** The demand without what only catalogues read. */
function termsOf({ offer, rail }: McpDeps, index: Parameters<typeof coordOf>[0]) {
  if (rail.state() === 'misconfigured') return null
  const { x402Version, resource, accepts } = paymentRequired(offer, index)
  return { x402Version, resource, accepts }
}
