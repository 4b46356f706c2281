/** find_space: room for a picture of several blocks. */

import { Type } from '@sinclair/typebox'
import { SPACE_LIMIT_MAX, SpaceQuery, Spaces } from '../../../shared/contract/space.ts'
import { COLS, parseCoord, ROWS } from '../../../shared/wall.ts'
import { invalidCoordinate } from '../../domain/purchase/refusals.ts'
import { Arguments, NearArgument, Output } from '../arguments.ts'
import { refuse, succeed } from '../reply.ts'
import { READ_ONLY, tool } from '../tool.ts'

const LIMIT_DEFAULT = 3

// A model reads every coordinate it is given.
const LISTED_MAX = 600

const { w, h } = SpaceQuery.properties

export const findSpace = tool(
  {
    name: 'find_space',
    title: 'Find room for a picture of several blocks',
    description:
      'Use to find open rectangles of w x h blocks, nearest the wall’s centre or a block you name. Not for single blocks (list_unclaimed). Free, no side effects: nothing is held, so another buyer may be quicker; buy one whole with buy_area (at is its coord). Errors: invalid_size, invalid_coordinate, invalid_limit, too_many_requests, database_unavailable. Returns {w, h, asset, note, spaces}: each with coord (its top left block), blocks in buying order and price for all; nearest first, none sharing a block, empty when there is no room, fewer than limit when they are large.',
    annotations: READ_ONLY,
    isShown: true,
    budget: 'searches',
    input: Arguments({
      w: { ...w, description: `Width in blocks of 10 pixels, 1 to ${COLS}. Default 1.` },
      h: { ...h, description: `Height in blocks of 10 pixels, 1 to ${ROWS}. Default 1.` },
      near: NearArgument,
      limit: Type.Integer({
        minimum: 1,
        maximum: SPACE_LIMIT_MAX,
        default: LIMIT_DEFAULT,
        description: `How many rectangles, 1 to ${SPACE_LIMIT_MAX}. Default ${LIMIT_DEFAULT}.`,
      }),
    }),
    output: Output(Spaces.properties),
  },
  { w: 'invalid_size', h: 'invalid_size', near: 'invalid_coordinate', limit: 'invalid_limit' },
  async (deps, args) => {
    const near = args.near === undefined ? undefined : parseCoord(args.near)
    if (args.near !== undefined && near === undefined) return refuse(invalidCoordinate())
    const fitting = Math.max(1, Math.floor(LISTED_MAX / (args.w * args.h)))
    return succeed({ ...(await deps.findSpace({ ...args, near, limit: Math.min(args.limit, fitting) })) })
  },
)
