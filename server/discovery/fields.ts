/** Markdown tables, with rows made from the contract's schemas. */

import type { TObject, TSchema } from '@sinclair/typebox'

/** A Markdown table. */
export const renderTable = (head: readonly string[], rows: ReadonlyArray<readonly string[]>): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`).join('\n')

/** A row for each property of an object: its name, its rule and its meaning. */
export const listFieldRows = ({ properties, required = [] }: TObject): string[][] =>
  Object.entries(properties).map(([name, schema]) => [
    `\`${name}\``,
    required.includes(name) && schema['default'] === undefined
      ? `${describeValues(schema)}, required`
      : describeValues(schema),
    describeMeaning(schema),
  ])

const escapeCell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** The rule for a value, in words. */
function describeValues(schema: TSchema): string {
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].map(describeValues).join(' or ')
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  return [
    schema['type'] ?? 'any',
    describeRange(schema),
    schema['default'] === undefined ? '' : `default ${schema['default']}`,
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function describeRange({ pattern, minLength, maxLength, minimum, maximum }: TSchema): string {
  if (pattern !== undefined) return maxLength === undefined ? `\`${pattern}\`` : `\`${pattern}\`, up to ${maxLength}`
  if (maxLength !== undefined) return `${minLength ?? 0} to ${maxLength} characters`
  if (maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER) return `${minimum ?? 0} to ${maximum}`
  return minimum === undefined ? '' : `from ${minimum}`
}

const describeMeaning = (schema: TSchema): string =>
  schema.description ??
  schema['anyOf']
    ?.map((one: TSchema) => one.description ?? '')
    .join(' ')
    .trim() ??
  ''
