/** JSON-RPC 2.0 as `POST /mcp` takes and answers it. */

import { Type } from '@sinclair/typebox'

export const RpcRequest = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  method: Type.String({
    description:
      'initialize, tools/list, tools/call, resources/list, resources/read or ping; notifications are taken and not answered.',
    examples: ['tools/list'],
  }),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

export const RpcAnswer = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Union([Type.Integer(), Type.String(), Type.Null()]),
    result: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    error: Type.Optional(
      Type.Object({ code: Type.Integer(), message: Type.String(), data: Type.Optional(Type.Unknown()) }),
    ),
  },
  { description: 'With `result` or `error`, never both.' },
)
