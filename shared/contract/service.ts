/** The health report, the bodies of error responses, and JSON-RPC messages. */

import { type Static, Type } from '@sinclair/typebox'

export const Rail = Type.Union([Type.Literal('armed'), Type.Literal('arming'), Type.Literal('misconfigured')], {
  description: 'Whether payments are accepted.',
})
export type Rail = Static<typeof Rail>

export const Health = Type.Object({
  ok: Type.Boolean(),
  service: Type.String(),
  environment: Type.Optional(Type.String()),
  bindings: Type.Optional(
    Type.Object({
      assets: Type.Optional(Type.Boolean()),
      d1: Type.Optional(Type.Boolean()),
      kv: Type.Optional(Type.Boolean()),
    }),
  ),
  rail: Rail,
  railError: Type.Optional(
    Type.String({ description: 'The problem with payments, or a feature that the chain endpoint lacks.' }),
  ),
  network: Type.String(),
})
export type Health = Static<typeof Health>

const Charged = Type.Optional(
  Type.Union([Type.Literal('yes'), Type.Literal('no'), Type.Literal('unknown')], {
    description:
      'Only for the payer, if the payment was looked up: `yes` if it moved money (in `tx`), `no` if it never will, `unknown` if it still may.',
  }),
)

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'Machine-readable code.' }),
    message: Type.String({ description: 'What happened and what to do next.' }),
    charged: Charged,
    transaction: Type.Optional(
      Type.String({
        description:
          'Hash of a transaction that a facilitator reported for a payment with an unknown outcome. The transaction is not confirmed.',
      }),
    ),
  },
  { additionalProperties: true },
)
export type ErrorBody = Static<typeof ErrorBody>

/** Body of a 402 that requests a signature but no money; the text to sign is in the PAYMENT-REQUIRED header. */
export const SignInRequiredBody = Type.Object(
  {
    error: Type.Literal('sign_in_required'),
    message: Type.String(),
    accepts: Type.Array(Type.Unknown(), { maxItems: 0 }),
    docs: Type.String({ format: 'uri' }),
  },
  { additionalProperties: true },
)

/** The payment terms in the format of x402 version 1. */
export const DemandV1 = Type.Object({
  x402Version: Type.Literal(1),
  accepts: Type.Array(
    Type.Object({
      scheme: Type.String({ examples: ['exact'] }),
      network: Type.String({ description: 'The network’s name in x402 version 1.', examples: ['base'] }),
      maxAmountRequired: Type.String({ description: 'Atomic units of the asset.', examples: ['1000000'] }),
      resource: Type.String({ format: 'uri' }),
      description: Type.String(),
      mimeType: Type.String(),
      payTo: Type.String(),
      maxTimeoutSeconds: Type.Integer(),
      asset: Type.String(),
      extra: Type.Record(Type.String(), Type.Unknown(), { description: 'Name and version of the EIP-712 domain.' }),
    }),
    { minItems: 1 },
  ),
})
export type DemandV1 = Static<typeof DemandV1>

/**
 * Body of a 402: the error shape, and the terms for clients of x402 version 1. Clients of version 2 read the
 * PAYMENT-REQUIRED header instead; one body cannot serve both.
 */
export const PaymentRequiredBody = Type.Object(
  {
    error: Type.Literal('payment_required'),
    message: Type.String(),
    reason: Type.Optional(Type.String({ description: 'Why the payment in the request was rejected.' })),
    balance: Type.Optional(
      Type.String({ description: 'The wallet’s balance in atomic units, if it is the reason for the rejection.' }),
    ),
    charged: Charged,
    resource: Type.Optional(Type.String({ format: 'uri' })),
    docs: Type.Optional(Type.String({ format: 'uri' })),
    ...DemandV1.properties,
  },
  { additionalProperties: true },
)

export const RpcRequest = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  method: Type.String({
    description:
      'initialize, tools/list, tools/call, resources/list, resources/read or ping; notifications are accepted and get no response.',
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
  { description: 'Contains either `result` or `error`, never both.' },
)
