/** Whether an answer is what the OpenAPI document promises, status, headers, code and body. */

import { expect } from 'bun:test'
import { FormatRegistry } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { openApi } from '../../server/discovery/openapi.ts'
import { OPERATIONS, type Operation } from '../../server/http/operations.ts'
import { ErrorBody, PaymentRequiredBody } from '../../shared/contract/service.ts'

FormatRegistry.Set('uri', (text) => URL.canParse(text))

type Documented = {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, { readonly content?: object }> }>>
}

const document: Documented = JSON.parse(JSON.stringify(openApi('https://wall.test')))

/** The operation behind a request line; `undefined` for what is no operation, such as a wrong verb. */
export function operationOf(method: string, path: string): Operation | undefined {
  const asked = path.split('?')[0] ?? ''
  const exact = OPERATIONS.find((operation) => operation.method === method && operation.path === asked)
  if (exact !== undefined) return exact
  const isBlock = asked.startsWith('/blocks/') && asked.length > 8 && !asked.includes('/', 8)
  return isBlock ? OPERATIONS.find((operation) => operation.method === method && operation.onBlock === true) : undefined
}

/** Checks one answer against the document and the contract. Leaves the response readable. */
export async function expectDocumented(response: Response, operation: Operation): Promise<void> {
  const other = operation.also?.[response.status]
  if (other?.schema !== undefined)
    return expect([...Value.Errors(other.schema, await response.clone().json())]).toEqual([])
  const listed = document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses[response.status]
  expect(listed, `${operation.id} answers ${response.status}`).toBeDefined()
  if (response.status === 304) return
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  expect(Object.keys(listed?.content ?? {})).toContain(type)
  if (type === 'application/json') expectContract(response.status, await response.clone().json(), operation)
}

function expectContract(status: number, body: unknown, { answers, codes }: Operation): void {
  if (status === 200) {
    const fits = answers.filter((schema) => Value.Check(schema, body))
    return expect(fits, `a body of the contract: ${JSON.stringify(body)}`).toHaveLength(1)
  }
  const schema = status === 402 ? PaymentRequiredBody : ErrorBody
  expect([...Value.Errors(schema, body)]).toEqual([])
  expect(codes).toContain(Value.Cast(ErrorBody, body).error as (typeof codes)[number])
}
