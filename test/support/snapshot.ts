/** Snapshots: texts beside the tests, written so that a reviewer sees what changed. */

import { expect } from 'bun:test'

const SHARED_MIN_LENGTH = 100 // characters of JSON: shorter than that, a reference reads no better
const LINE_MAX_LENGTH = 120

/** Compares a text with a file beside the tests. `bun run snapshots` writes the file anew. */
export async function expectSnapshot(text: string, path: string): Promise<void> {
  const file = Bun.file(path)
  if (Bun.env['UPDATE_SNAPSHOTS'] === '1') await Bun.write(file, text)
  expect(text).toBe(await file.text())
}

/** Shows JSON values by their names. What stood earlier is a reference to its place, so a change of it shows once. */
export function shownOnce(values: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const placeOf = new Map<string, string>() // JSON of a value -> where it stands first
  const withReferences = (value: unknown, place: string): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item, at) => withReferences(item, `${place}/${at}`))
    const json = JSON.stringify(value)
    const shownAt = placeOf.get(json)
    if (shownAt !== undefined) return { $ref: shownAt }
    if (json.length >= SHARED_MIN_LENGTH) placeOf.set(json, place)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, withReferences(item, `${place}/${key}`)]),
    )
  }
  const plain = Object.entries(JSON.parse(JSON.stringify(values)) as Record<string, unknown>)
  return new Map(plain.map(([name, value]) => [name, `${print(withReferences(value, `${name}#`))}\n`]))
}

/** JSON with a line for each value that fits one. */
function print(value: unknown, indent = ''): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= LINE_MAX_LENGTH) return line
  const deeper = `${indent}  `
  const isArray = Array.isArray(value)
  const items = isArray
    ? value.map((item) => deeper + print(item, deeper))
    : Object.entries(value).map(([key, item]) => `${deeper}${JSON.stringify(key)}: ${print(item, deeper)}`)
  return `${isArray ? '[' : '{'}\n${items.join(',\n')}\n${indent}${isArray ? ']' : '}'}`
}
