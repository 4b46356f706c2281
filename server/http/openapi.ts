/** GET /openapi.json: the operations and the contract's own schemas as an OpenAPI 3.1 document. */

import { Type, type TObject } from '@sinclair/typebox'
import { Agents, FoundingMachine, RegisterAnswer, RegisterBody } from '../../shared/contract/agent.ts'
import { BlockRef, Deed, EditAnswer, EditBody, Owner, Receipt } from '../../shared/contract/block.ts'
import { Canvas, CanvasAgent, CanvasBlock, CanvasStats } from '../../shared/contract/canvas.ts'
import { FeedPage, Sale } from '../../shared/contract/feed.ts'
import { CoordText } from '../../shared/contract/kinds.ts'
import { ErrorBody, Health, PaymentRequiredBody } from '../../shared/contract/service.ts'
import { statusOf, type FailureCode } from '../domain/failure.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { etagOf, readyAnswer, type ReadyAnswer } from './ready-answer.ts'

const VERSION = '1.0.0'

const components: Readonly<Record<string, TObject>> = {
  BlockRef,
  Owner,
  Deed,
  Receipt,
  EditBody,
  EditAnswer,
  Canvas,
  CanvasAgent,
  CanvasBlock,
  CanvasStats,
  FeedPage,
  Sale,
  FoundingMachine,
  Agents,
  RegisterBody,
  RegisterAnswer,
  Health,
  Error: ErrorBody,
  PaymentRequired: PaymentRequiredBody,
}

// TypeBox copies a schema to make it optional, but never its properties.
const nameOf = new Map<unknown, string>(Object.entries(components).map(([name, { properties }]) => [properties, name]))

type Json = Readonly<Record<string, unknown>>

/** Answers GET /openapi.json. */
export function openApiReader(baseUrl: string): ReadyAnswer {
  const text = JSON.stringify(openApi(baseUrl))
  return readyAnswer({
    type: 'application/json',
    bytes: () => new TextEncoder().encode(text),
    etag: etagOf(text),
    cacheControl: 'no-cache',
  })
}

/** The document. `baseUrl` is where the service is reached, without a trailing slash. */
export function openApi(baseUrl: string): Json {
  const schemas = Object.entries(components).map(([name, schema]) => [name, membersOf(schema)])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pixel Wall',
      version: VERSION,
      description:
        'A public billboard of 1600 x 900 pixels, sold to machines in blocks of 10 x 10 over x402 v2. Reads are free; owners repaint for free. Every refusal is JSON with `error` and `message`; an unknown path is 404 `not_found`, a wrong verb 405 `method_not_allowed`.',
    },
    servers: [{ url: baseUrl }],
    paths: paths(),
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes: {
        x402: {
          type: 'apiKey',
          in: 'header',
          name: 'PAYMENT-SIGNATURE',
          description:
            'Base64 of an x402 v2 payment payload that answers the terms of a 402 (scheme exact, EIP-3009). Not a fixed key: one signed payment, for one block.',
        },
      },
    },
  }
}

function paths(): Json {
  const byPath = Object.groupBy(OPERATIONS, ({ path }) => path)
  const entries = Object.entries(byPath).map(([path, operations = []]) => [
    path,
    Object.fromEntries(operations.map((operation) => [operation.method.toLowerCase(), describe(operation)])),
  ])
  return Object.fromEntries(entries)
}

function describe(operation: Operation): Json {
  const { id, summary, description, payable, body } = operation
  return {
    operationId: id,
    summary,
    description,
    security: payable === undefined ? [] : payable === 'always' ? [{ x402: [] }] : [{}, { x402: [] }],
    parameters: parametersOf(operation),
    ...(body === undefined ? {} : { requestBody: { required: true, content: inJson(published(body)) } }),
    responses: responsesOf(operation),
  }
}

function parametersOf({ onBlock, query }: Operation): readonly Json[] {
  const coord = { name: 'coord', in: 'path', required: true, schema: published(CoordText) }
  const fields = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: published(schema),
  }))
  return onBlock === true ? [coord, ...fields] : fields
}

function responsesOf(operation: Operation): Json {
  const codesByStatus = Object.groupBy(operation.codes, (code) => statusOf[code])
  const refusals = Object.entries(codesByStatus).map(([status, codes]) => [status, refusalOf(codes)])
  return {
    200: successOf(operation),
    ...(operation.revalidates === true ? { 304: { description: 'What If-None-Match names is current.' } } : {}),
    ...Object.fromEntries(refusals),
  }
}

function successOf({ answers, payable, revalidates }: Operation): Json {
  const headers = {
    ...(payable === undefined
      ? {}
      : { 'PAYMENT-RESPONSE': header('With a receipt: base64 of the x402 settle response.') }),
    ...(revalidates === undefined ? {} : { ETag: header('Names this state, for If-None-Match.') }),
  }
  const [only, ...others] = answers.map((schema) => published(schema))
  return {
    description: 'Done.',
    headers,
    content: inJson(others.length === 0 ? only : { oneOf: [only, ...others] }),
  }
}

function refusalOf(codes: readonly FailureCode[]): Json {
  const description = codes.map((code) => `\`${code}\``).join(', ')
  if (codes.includes('payment_required')) return { description, ...demandForPayment() }
  const named = { properties: { error: { enum: codes } } }
  return {
    description,
    headers: { 'Retry-After': header('Seconds to wait before the same request, where waiting helps.') },
    content: inJson({ allOf: [published(ErrorBody), named] }),
  }
}

const header = (description: string) => ({ description, schema: published(Type.String()) })

const inJson = (schema: unknown) => ({ 'application/json': { schema } })

const demandForPayment = (): Json => ({
  headers: { 'PAYMENT-REQUIRED': header('Base64 of the x402 v2 PaymentRequired: the terms to sign.') },
  content: { ...inJson(published(PaymentRequiredBody)), 'text/html': { schema: published(Type.String()) } },
})

/** A schema as JSON, with a reference in place of each named one. */
function published(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(published)
  if (typeof schema !== 'object' || schema === null) return schema
  const name = 'properties' in schema ? nameOf.get(schema.properties) : undefined
  return name === undefined ? membersOf(schema) : { $ref: `#/components/schemas/${name}` }
}

const membersOf = (schema: object): Json =>
  Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, published(value)]))
