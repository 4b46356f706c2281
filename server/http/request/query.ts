/** Reads query parameters strictly, so that no two parties read one request differently. */

import { decodePercent, queryOf } from './request-url.ts'

/** A parameter as sent, or why it cannot be read. */
export type QueryValue = { readonly text: string } | { readonly flaw: string }

// Other spellings of a number are read differently by different parties.
const decimalPattern = /^(?:0|[1-9]\d*)$/

/** The known parameters that are present; all others are ignored. */
export function readQuery<Key extends string>(url: string, keys: readonly Key[]): ReadonlyMap<Key, QueryValue> {
  const values = new Map<Key, QueryValue>()
  const query = queryOf(url)
  if (query === '') return values
  for (const pair of query.split('&')) {
    const [name = '', ...rest] = pair.split('=')
    const decoded = decode(name)
    const key = keys.find((known) => known === decoded)
    if (key === undefined) continue
    values.set(key, values.has(key) ? { flaw: 'must be given once' } : readValue(rest.join('=')))
  }
  return values
}

/** The first parameter that is none of these, its name as it reads; an empty one that cannot be read. */
export function strangerIn(url: string, keys: readonly string[]): string | undefined {
  const query = queryOf(url)
  if (query === '') return undefined
  for (const pair of query.split('&')) {
    const [name = ''] = pair.split('=')
    const decoded = decode(name) ?? ''
    if (pair !== '' && !keys.includes(decoded)) return decoded
  }
  return undefined
}

/** Reads an integer from 0 up in plain decimal; `undefined` when it is none or cannot be held exactly. */
export function readInteger(text: string): number | undefined {
  const number = Number(text)
  return decimalPattern.test(text) && Number.isSafeInteger(number) ? number : undefined
}

function readValue(encoded: string): QueryValue {
  const text = decode(encoded)
  return text === undefined ? { flaw: 'must be percent-encoded UTF-8' } : { text }
}

// A form writes a space as a plus.
const decode = (text: string) => decodePercent(text.replaceAll('+', ' '))
