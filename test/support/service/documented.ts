/** Checks that a response matches the OpenAPI document: status, headers, code and body. */

import { expect } from 'bun:test'
import { FormatRegistry } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { App } from '../../../server/app.ts'
import { createOpenApiDocument } from '../../../server/discovery/openapi/openapi.ts'
import { collectOperations, type Operation } from '../../../server/discovery/openapi/operation.ts'
import { statusOf } from '../../../server/domain/failure.ts'
import { ErrorBody, PaymentRequiredBody, SignInRequiredBody } from '../../../shared/contract/service.ts'
import { OFFER } from '../offer.ts'

FormatRegistry.Set('uri', (text) => URL.canParse(text))

type Answer = {
  readonly content?: object
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>
}

type Documented = {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, Answer | { $ref: string }> }>>
  readonly components: { readonly responses: Record<string, Answer> }
}

/** The operations and the OpenAPI document of an app, which are made once because they are the same for every app. */
type Words = { readonly operations: readonly Operation[]; readonly document: Documented }

let known: Words | undefined

function loadOperations(app: App): Words {
  if (known !== undefined) return known
  const operations = collectOperations(app)
  const document = JSON.stringify(
    createOpenApiDocument(
      { offer: { ...OFFER, baseUrl: 'https://wall.test' }, contact: null, tools: [], operations },
      '0,0',
    ),
  )
  return (known = { operations, document: JSON.parse(document) as Documented })
}

/** Every response in the document, as `METHOD path status`. */
export const listResponses = (app: App): readonly string[] =>
  Object.entries(loadOperations(app).document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  )

function findListedAnswer({ document }: Words, { path, method }: Operation, status: number): Answer | undefined {
  const listed = document.paths[path]?.[method.toLowerCase()]?.responses[status]
  if (listed === undefined || !('$ref' in listed)) return listed
  return document.components.responses[listed.$ref.split('/').at(-1) ?? '']
}

/** The operation for a method and a path; `undefined` if there is none, such as for a wrong method. */
export function findOperation(app: App, method: string, path: string): Operation | undefined {
  const { operations } = loadOperations(app)
  const asked = path.split('?')[0] ?? ''
  // The template with the longest literal part applies, so that a literal part is not mistaken for a parameter of
  // another template.
  const [own] = operations
    .map((operation) => operation.path)
    .filter((template) => matchesTemplate(template, asked))
    .toSorted((one, other) => countOwnLetters(other) - countOwnLetters(one))
  return operations.find((operation) => operation.method === method && operation.path === own)
}

const countOwnLetters = (template: string) => template.replaceAll(/\{\w+\}/g, '').length

/** Whether a path matches a template such as `/blocks/{coord}`. */
const matchesTemplate = (template: string, asked: string) =>
  new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(asked)

/** Checks one response against the document and the contract. Leaves the response readable. */
export async function expectDocumented(app: App, response: Response, operation: Operation): Promise<void> {
  const other = operation.also?.[response.status]
  if (other?.schema !== undefined)
    return expect([...Value.Errors(other.schema, await response.clone().json())]).toEqual([])
  const listed = findListedAnswer(loadOperations(app), operation, response.status)
  expect(listed, `${operation.id} documents status ${response.status}`).toBeDefined()
  for (const [name, { required }] of Object.entries(listed?.headers ?? {}))
    if (required === true) expect(response.headers.get(name), `${name} of ${operation.id}`).not.toBeNull()
  if ([202, 303, 304].includes(response.status)) return
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  // Payable operations return a page to a browser, as their descriptions say.
  if (operation.payable !== undefined && type === 'text/html') return
  expect(Object.keys(listed?.content ?? {})).toContain(type)
  if (type === 'application/json') expectContract(response.status, await response.clone().json(), operation)
}

function expectContract(status: number, body: unknown, { answers, codes, signsIn }: Operation): void {
  if (status === 200) {
    const fits = answers.filter((schema) => Value.Check(schema, body))
    return expect(fits, `the body matches one schema of the contract: ${JSON.stringify(body)}`).toHaveLength(1)
  }
  const demand = signsIn === true ? SignInRequiredBody : PaymentRequiredBody
  const schema = status === 402 ? demand : ErrorBody
  expect([...Value.Errors(schema, body)]).toEqual([])
  const error = Value.Cast(ErrorBody, body).error as (typeof codes)[number]
  expect(codes).toContain(error)
  expect(statusOf[error]).toBe(status as (typeof statusOf)[typeof error])
}
