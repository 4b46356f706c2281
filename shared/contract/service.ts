/** Health and the one shape of every error. */

import { Type, type Static } from '@sinclair/typebox'

export const Rail = Type.Union([Type.Literal('armed'), Type.Literal('arming'), Type.Literal('misconfigured')], {
  description: 'Whether payments can be taken.',
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
    Type.String({ description: 'What is wrong with taking payments, or what the chain endpoint cannot do.' }),
  ),
  network: Type.String(),
})
export type Health = Static<typeof Health>

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'Machine-readable code.' }),
    message: Type.String({ description: 'What happened and what to do next.' }),
  },
  { additionalProperties: true },
)
export type ErrorBody = Static<typeof ErrorBody>

/** Body of a 402: the error shape plus the terms, which the PAYMENT-REQUIRED header holds in full. */
export const PaymentRequiredBody = Type.Object(
  {
    error: Type.Literal('payment_required'),
    message: Type.String(),
    reason: Type.Optional(Type.String({ description: 'Why a payment that was sent cannot be taken.' })),
    resource: Type.Optional(Type.String({ format: 'uri' })),
    docs: Type.Optional(Type.String({ format: 'uri' })),
    x402Version: Type.Literal(2),
    accepts: Type.Array(Type.Record(Type.String(), Type.Unknown()), { minItems: 1 }),
    extensions: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: true },
)
export type PaymentRequiredBody = Static<typeof PaymentRequiredBody>
