/** Reads query parameters strictly, so that no two parsers read a request differently. */

import { decodePercent, queryOf } from './request-url.ts'

/** A parameter as sent, or why it cannot be read. */
export type QueryValue = { readonly text: string } | { readonly flaw: string }

// Parsers disagree about other spellings of a number.
const decimalPattern = /^(?:0|[1-9]\d*)$/

/** Reads the known parameters. All others are ignored. */
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

/** Finds the first unknown parameter; an empty name when it cannot be decoded. */
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

/** Reads a decimal integer from 0 up; `undefined` when it is invalid or not a safe integer. */
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
