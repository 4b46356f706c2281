/** /openapi.json: every operation and schema of the contract as OpenAPI 3.1, with the extensions for paying clients. */

import type { TSchema } from '@sinclair/typebox'
import { AREA_BLOCKS_MAX } from '../../../shared/area.ts'
import { formatMoney } from '../../../shared/money.ts'
import type { Coord } from '../../../shared/wall.ts'
import { statusOf, type FailureCode } from '../../domain/failure.ts'
import { toOfferRequirements } from '../../x402/terms.ts'
import { renderEssentials } from '../guide.ts'
import { PATHS } from '../links.ts'
import { formatContactUri, renderPitch, formatBlockPrice, VERSION, type Site } from '../site.ts'
import { describeCodes, documentResponses, documentSharedRefusals } from './answers.ts'
import type { Operation } from './operation.ts'
import { sampleBodies } from './samples.ts'
import { publishNamedSchemas, publishSchema, type Json } from './schemas.ts'
import described from './tags-and-schemes.json'

/** The document. `example` is a block that is open now, so that trying the examples returns a demand for payment. */
export function createOpenApiDocument(site: Site, example: Coord): Json {
  const { baseUrl } = site.offer
  return {
    openapi: '3.1.0',
    info: documentInfo(site),
    servers: [{ url: baseUrl }],
    externalDocs: { description: 'The guide for agents', url: baseUrl + PATHS.llmsFull },
    tags: described.tags,
    'x-service-info': {
      categories: ['media', 'social'],
      docs: { homepage: `${baseUrl}/`, apiReference: baseUrl + PATHS.openapi, llms: baseUrl + PATHS.llms },
    },
    'x-discovery': { ownershipProofs: site.offer.ownershipProofs ?? [] },
    'x-agentcash-guidance': { llmsTxtUrl: baseUrl + PATHS.llms },
    paths: documentPaths(site, example),
    components: {
      schemas: publishNamedSchemas(),
      responses: documentSharedRefusals(site.operations, site),
      securitySchemes: described.securitySchemes,
    },
  }
}

const selectTag = ({ method, payable, signsIn }: Operation) =>
  payable === undefined ? (method === 'PUT' || signsIn === true ? 'own' : 'free') : 'buy'

function documentInfo(site: Site): Json {
  const uri = formatContactUri(site)
  return {
    title: site.offer.title,
    version: VERSION,
    summary: 'A public billboard sold to machines, block by block.',
    description: `${renderPitch(site)}\n\n${describeCommonRules(site)}`,
    'x-guidance': renderEssentials(site).join('\n\n'),
    contact: {
      name: site.offer.title,
      ...(uri?.startsWith('mailto:') === true ? { email: uri.slice('mailto:'.length) } : {}),
      url: uri?.startsWith('https:') === true ? uri : `${site.offer.baseUrl}/`,
    },
    license: { name: 'MIT', identifier: 'MIT' },
  }
}

/** The rules that are the same at every address, and the codes that no operation lists. */
function describeCommonRules({ operations }: Site): string {
  const listed = new Set(operations.flatMap(({ codes }) => codes))
  const others = (Object.keys(statusOf) as FailureCode[]).filter((code) => !listed.has(code))
  return [
    'At every address, HEAD returns what GET returns, without the body; it accepts no payment and never buys. OPTIONS returns 204. Pages of any origin may read and pay (CORS). Errors are JSON, `{error, message}`: `error` is a machine-readable code, `message` says what to do next. In addition to the errors listed with each operation, there are:',
    others.map((code) => `- ${statusOf[code]} ${describeCodes([code]).slice(2)}`).join('\n'),
  ].join('\n\n')
}

function documentPaths(site: Site, example: Coord): Json {
  const byPath = Object.groupBy(site.operations, ({ path }) => path)
  const entries = Object.entries(byPath).map(([path, operations = []]) => [
    path,
    Object.fromEntries(
      operations.map((operation) => [operation.method.toLowerCase(), describeOperation(operation, site, example)]),
    ),
  ])
  return Object.fromEntries(entries)
}

function describeOperation(operation: Operation, site: Site, example: Coord): Json {
  const { id, summary, description } = operation
  const requestBody = documentRequestBody(operation)
  return {
    operationId: id,
    tags: [selectTag(operation)],
    summary,
    description,
    // A security scheme declared here would mean that clients need a key beforehand; payment is requested in the
    // response instead.
    security: operation.signsIn === true ? [{ signInWithX: [] }] : [],
    ...(operation.payable === undefined ? {} : { 'x-payment-info': documentPayment(site, operation) }),
    parameters: documentParameters(operation, example),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: documentResponses(operation, site),
  }
}

function documentPayment(site: Site, { priced }: Operation): Json {
  const { amount, ...terms } = toOfferRequirements(site.offer)
  if (priced === undefined)
    return {
      price: { mode: 'fixed', currency: 'USD', amount: formatBlockPrice(site) },
      protocols: [{ x402: { version: 2, ...terms, amount } }],
    }
  const most = formatMoney(BigInt(AREA_BLOCKS_MAX) * site.offer.terms.amount)
  return {
    price: { mode: 'dynamic', currency: 'USD', min: formatBlockPrice(site), max: most },
    protocols: [{ x402: { version: 2, ...terms } }],
  }
}

/** The parameters of the path and of the query. */
function documentParameters({ params, query }: Operation, example: Coord): readonly Json[] {
  const named = Object.entries(params?.properties ?? {}).map(([name, schema]) =>
    documentParameter(name, 'path', true, schema),
  )
  const asked = Object.entries(query?.properties ?? {}).map(([name, schema]) =>
    documentParameter(name, 'query', query?.required?.includes(name) === true, schema),
  )
  return [...named.map((one) => (one['name'] === 'coord' ? { ...one, example } : one)), ...asked]
}

/** The schema's description becomes the parameter's description; a parameter with a default is optional. */
function documentParameter(name: string, place: 'path' | 'query', isNeeded: boolean, schema: TSchema): Json {
  const { description, examples, ...rest } = schema
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined
  return {
    name,
    in: place,
    required: isNeeded && rest['default'] === undefined,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example }),
    schema: publishSchema(convertUnionToEnum(rest)),
  }
}

/** A union of constant strings as an enum, which client generators support better. */
const convertUnionToEnum = ({ anyOf, ...rest }: Record<string, unknown>) =>
  Array.isArray(anyOf) ? { type: 'string', enum: anyOf.map((choice: TSchema) => choice['const']), ...rest } : rest

function documentRequestBody({ id, body, uploads }: Operation): Json | undefined {
  if (body === undefined && uploads === undefined) return undefined
  const example = sampleBodies[id]
  const json = { schema: publishSchema(body), ...(example === undefined ? {} : { example }) }
  const media = (uploads ?? []).map((type) => [type, { schema: {} }])
  return {
    required: true,
    content: { ...(body === undefined ? {} : { 'application/json': json }), ...Object.fromEntries(media) },
  }
}
