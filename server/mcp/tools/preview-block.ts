/** preview_block: a purchase tried out. */

import { Type } from '@sinclair/typebox'
import { AreaOrder } from '../../../shared/contract/area-order.ts'
import { Preview } from '../../../shared/contract/preview.ts'
import { failure } from '../../domain/failure.ts'
import { readTarget } from '../../purchase/area-order.ts'
import { previewBlock as preview } from '../../wall/preview-block.ts'
import { Arguments, argumentsIn, Output, unknownArgument } from '../arguments.ts'
import { OrderArguments, readOrder, sayingOf } from '../buy-arguments.ts'
import { png, refuse, succeed } from '../reply.ts'
import { READ_ONLY, type Tool } from '../tool.ts'

const { image: _, ...withoutImage } = Preview.properties

const { w, h, pixels } = AreaOrder.properties

const PreviewArguments = Arguments({
  ...OrderArguments.properties,
  w: Type.Optional({
    ...w,
    description: 'Width in blocks, of an area whose top left block is coord. Default 1.',
    examples: [4],
  }),
  h: Type.Optional({ ...h, description: 'Height in blocks. Default 1.', examples: [3] }),
  pixels: Type.Optional({
    ...pixels,
    description: 'Of an area, instead of px: palette indices in base64. Example: AAEC.',
  }),
})

export const previewBlock: Tool = {
  name: 'preview_block',
  title: 'Try a purchase for free',
  description:
    'Use before buy_block, with the same arguments, or with w and h before buy_area: would they be accepted, which block or area would it be, on which terms, and how would it look among its neighbours. Not to buy and no reservation: another buyer may be quicker. Free, no side effects. Errors: invalid_coordinate, invalid_area, invalid_body, too_many_requests, database_unavailable; flaws of the listing are no errors but come as problems, all at once. Returns {acceptable, problems, block, area, state, price, request, terms} and a PNG of the place, up to eight times its size.',
  annotations: READ_ONLY,
  isShown: true,
  budget: 'previews',
  input: PreviewArguments,
  output: Output(withoutImage),
  async answer(deps, given) {
    const { w = 1, h = 1, pixels, ...rest } = argumentsIn(given)
    const order = readOrder(rest)
    if ('code' in order) return refuse(order)
    if (order.hasStrangers) return refuse(failure('invalid_body', unknownArgument(PreviewArguments)))
    const target = readTarget(rest['coord'], w, h)
    if (typeof target === 'object') return refuse(target)
    const saying = { listing: order.said, pixels: pixels === undefined ? pixels : sayingOf(pixels) }
    const { image, ...found } = await preview(deps, target, saying)
    return succeed(found, undefined, image === null ? [] : [png(image)])
  },
}
