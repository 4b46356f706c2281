/** The responses in the OpenAPI document: successes with samples, and errors with the meaning of every code. */

import { Type } from '@sinclair/typebox'
import { ErrorBody, PaymentRequiredBody, SignInRequiredBody } from '../../../shared/contract/service.ts'
import { statusOf, type FailureCode } from '../../domain/failure.ts'
import { buildDemand } from '../../x402/terms.ts'
import { toDemandV1 } from '../../x402/v1.ts'
import { meaningOf, createSignInBody } from '../codes.ts'
import { PATHS } from '../links.ts'
import type { Site } from '../site.ts'
import type { Operation } from './operation.ts'
import { createSampleAnswers } from './samples.ts'
import { publishSchema, type Json } from './schemas.ts'

/** Every response of an operation, by status. */
export function documentResponses(operation: Operation, site: Site): Json {
  const refusals = Object.entries(groupByStatus(operation.codes)).map(([status, codes]) => [
    status,
    documentRefusal(codes),
  ])
  return {
    200: documentSuccess(operation, site),
    ...(operation.revalidates === true ? { 304: REVALIDATED } : {}),
    ...Object.fromEntries(refusals),
    ...Object.fromEntries(
      Object.entries(operation.also ?? {}).map(([status, other]) => [status, documentOtherAnswer(other)]),
    ),
  }
}

/** Codes with their meanings, one per line. */
export const describeCodes = (codes: readonly FailureCode[]): string =>
  codes.map((code) => `- \`${code}\`: ${meaningOf[code]}`).join('\n')

/** The 402 with the real terms for `/blocks/next`. */
function documentPaymentDemand(site: Site): Json {
  const terms = buildDemand(site.offer, 'next')
  const example = {
    error: 'payment_required',
    message: meaningOf.payment_required,
    resource: terms.resource.url,
    docs: site.offer.baseUrl + PATHS.openapi,
    ...toDemandV1(terms),
  }
  return {
    description: `${describeCodes(['payment_required'])}\n\nA browser that requests HTML gets a page with the same status and header.`,
    headers: {
      'PAYMENT-REQUIRED': documentRequiredHeader('Base64 of the x402 v2 PaymentRequired: the terms to sign.'),
      'Cache-Control': documentRequiredHeader('no-store'),
      Link: documentRequiredHeader('Links to this document and to the guide.'),
    },
    content: {
      'application/json': { schema: publishSchema(PaymentRequiredBody), example },
      'text/html': { schema: publishSchema(Type.String()) },
    },
  }
}

/** The 402 that requests a signature. */
const documentSignInDemand = (site: Site): Json => ({
  description: describeCodes(['sign_in_required']),
  headers: {
    'PAYMENT-REQUIRED': documentRequiredHeader(
      'Base64 of the x402 v2 PaymentRequired, which has the text to sign and no payment terms.',
    ),
    'Cache-Control': documentRequiredHeader('no-store'),
  },
  content: {
    'application/json': {
      schema: publishSchema(SignInRequiredBody),
      example: createSignInBody(site.offer.baseUrl),
    },
  },
})

const REVALIDATED: Json = {
  description: 'Not modified: the ETag in If-None-Match is current.',
  headers: {
    ETag: {
      description: 'The current ETag, as in If-None-Match.',
      schema: publishSchema(Type.String()),
      required: true,
    },
  },
}

function documentSuccess(operation: Operation, site: Site): Json {
  const { answers, payable, media, revalidates } = operation
  const headers = {
    ...(payable === undefined
      ? {}
      : { 'PAYMENT-RESPONSE': documentHeader('With a receipt: base64 of the x402 settle response.') }),
    ...(revalidates === undefined ? {} : { ETag: documentHeader('ETag of this response, for If-None-Match.') }),
  }
  const samples = Object.entries(createSampleAnswers(site)[operation.id] ?? {})
  const examples = Object.fromEntries(samples.map(([name, value]) => [name, { value }]))
  const [only, ...others] = answers.map((schema) => publishSchema(schema))
  const schema = others.length === 0 ? only : { oneOf: [only, ...others] }
  const json = { schema, ...(samples.length === 0 ? {} : { examples }) }
  return {
    description: 'Success.',
    headers,
    content: {
      ...(only === undefined ? {} : { 'application/json': json }),
      ...(media === undefined ? {} : { [media]: { schema: {} } }),
    },
  }
}

const documentOtherAnswer = ({ what, schema }: NonNullable<Operation['also']>[number]): Json => ({
  description: what,
  ...(schema === undefined ? {} : { content: { 'application/json': { schema: publishSchema(schema) } } }),
})

/** Error responses with a single code: each is in the document once, under the code's name. */
export function documentSharedRefusals(operations: readonly Operation[], site: Site): Json {
  const alone = operations.flatMap(({ codes }) =>
    Object.values(groupByStatus(codes)).filter(({ length }) => length === 1),
  )
  const answers = [...new Set(alone.flat())].map((code) => [
    code,
    code === 'payment_required'
      ? documentPaymentDemand(site)
      : code === 'sign_in_required'
        ? documentSignInDemand(site)
        : describeRefusals([code]),
  ])
  return Object.fromEntries(answers)
}

const groupByStatus = (codes: readonly FailureCode[]) => Object.groupBy(codes, (code) => statusOf[code])

const documentRefusal = (codes: readonly FailureCode[]): Json =>
  codes.length === 1 ? { $ref: `#/components/responses/${codes[0]}` } : describeRefusals(codes)

function describeRefusals(codes: readonly FailureCode[]): Json {
  const [first] = codes
  const named = { properties: { error: { enum: codes } } }
  return {
    description: describeCodes(codes),
    headers: {
      'Cache-Control': documentRequiredHeader('no-store'),
      'Retry-After': documentHeader(
        'Seconds to wait before you send the same request again; present if waiting helps.',
      ),
      ...(codes.includes('settlement_unknown')
        ? {
            'PAYMENT-RESPONSE': documentHeader(
              'If charged is unknown: base64 of the x402 settle response, whose errorReason is settlement_pending.',
            ),
          }
        : {}),
    },
    content: {
      'application/json': {
        schema: { allOf: [publishSchema(ErrorBody), named] },
        ...(first === undefined ? {} : { example: { error: first, message: meaningOf[first] } }),
      },
    },
  }
}

const documentHeader = (description: string) => ({ description, schema: publishSchema(Type.String()) })

const documentRequiredHeader = (description: string) => ({ ...documentHeader(description), required: true })
