/** preview_block: a purchase tried out. */

import { Preview } from '../../../shared/contract/preview.ts'
import { failure } from '../../domain/failure.ts'
import { previewBlock as preview } from '../../wall/preview-block.ts'
import { Output, unknownArgument } from '../arguments.ts'
import { OrderArguments, readOrder } from '../buy-arguments.ts'
import { png, refuse, succeed } from '../reply.ts'
import { READ_ONLY, type Tool } from '../tool.ts'

const { image: _, ...withoutImage } = Preview.properties

export const previewBlock: Tool = {
  name: 'preview_block',
  title: 'Try a purchase for free',
  description:
    'Use before buy_block, with the same arguments: would they be accepted, which block would it be, on which terms, and how would it look among its neighbours. Not to buy (buy_block) and no reservation: another buyer may be quicker. Free, no side effects. Errors: invalid_coordinate, invalid_body, too_many_requests, database_unavailable; flaws of the listing are no errors but come as problems, all at once. Returns {acceptable, problems, block, state, price, request, terms} and a PNG of the place, eight times its size.',
  annotations: READ_ONLY,
  budget: 'previews',
  input: OrderArguments,
  output: Output(withoutImage),
  async answer(deps, given) {
    const order = readOrder(given)
    if ('code' in order) return refuse(order)
    if (order.hasStrangers) return refuse(failure('invalid_body', unknownArgument(OrderArguments)))
    const { image, ...found } = await preview(deps, order.target, order.said)
    return succeed(found, undefined, image === null ? [] : [png(image)])
  },
}
