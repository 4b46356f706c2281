/** list_unclaimed: blocks that can be bought now. */

import { Type } from '@sinclair/typebox'
import { BlockRef } from '../../../shared/contract/block.ts'
import { coordOf, parseCoord } from '../../../shared/wall.ts'
import { invalidCoordinate } from '../../domain/purchase/refusals.ts'
import { statsOf } from '../../domain/wall/wall-view.ts'
import { listUnclaimed as find } from '../../wall/open-blocks.ts'
import { Arguments, NearArgument, Output } from '../arguments.ts'
import { refuse, succeed } from '../reply.ts'
import { READ_ONLY, tool } from '../tool.ts'

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 100

export const listUnclaimed = tool(
  {
    name: 'list_unclaimed',
    title: 'List blocks that are for sale',
    description:
      'Use to pick single open blocks, nearest the wall’s centre or a block you name. Not for a rectangle (find_space), and not needed to buy just any block: buy_block with coord "next" takes the first of this list. Free, no side effects: nothing is held, so another buyer may be quicker. Errors: invalid_coordinate, invalid_limit, too_many_requests, database_unavailable. Returns {blocks, remaining}: blocks nearest first, remaining how many are unsold in all.',
    annotations: READ_ONLY,
    budget: 'searches',
    input: Arguments({
      limit: Type.Integer({
        minimum: 1,
        maximum: LIMIT_MAX,
        default: LIMIT_DEFAULT,
        description: `How many blocks, 1 to ${LIMIT_MAX}. Default ${LIMIT_DEFAULT}.`,
        examples: [5],
      }),
      near: NearArgument,
    }),
    output: Output({ blocks: Type.Array(BlockRef), remaining: Type.Integer() }),
  },
  { limit: 'invalid_limit', near: 'invalid_coordinate' },
  async (deps, { limit, near: text }) => {
    const near = text === undefined ? undefined : parseCoord(text)
    if (text !== undefined && near === undefined) return refuse(invalidCoordinate())
    const blocks = await find(deps.taken, limit, near)
    return succeed({
      blocks: blocks.map((index) => ({ coord: coordOf(index), index })),
      remaining: statsOf(deps.view).remaining,
    })
  },
)
