/** Snapshots: text files next to the tests, in a format that makes changes easy to review. */

import { expect } from 'bun:test'

const SHARED_MIN_LENGTH = 100 // characters of JSON: below that, a reference is not easier to read
const LINE_MAX_LENGTH = 120

/** Compares a text with a file next to the tests; `bun run snapshots` rewrites the file first. */
export async function expectSnapshot(text: string, path: string): Promise<void> {
  const file = Bun.file(path)
  if (Bun.env['UPDATE_SNAPSHOTS'] === '1') await Bun.write(file, text)
  expect(text).toBe(await file.text())
}

/**
 * Prints named JSON values. A long object that occurred earlier is printed as a reference, so a change in it shows
 * once.
 */
export function printWithReferences(values: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const placeOf = new Map<string, string>() // JSON of a value -> where it occurs first
  const replaceRepeated = (value: unknown, place: string): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item, at) => replaceRepeated(item, `${place}/${at}`))
    const json = JSON.stringify(value)
    const shownAt = placeOf.get(json)
    if (shownAt !== undefined) return { $ref: shownAt }
    if (json.length >= SHARED_MIN_LENGTH) placeOf.set(json, place)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, replaceRepeated(item, `${place}/${key}`)]),
    )
  }
  const plain = Object.entries(JSON.parse(JSON.stringify(values)) as Record<string, unknown>)
  return new Map(
    plain.map(([name, value]) => [name, `${formatLines(replaceRepeated(value, `${name}#`)).join('\n')}\n`]),
  )
}

/** The lines of a value as YAML, with each part that fits on one line as JSON. */
function formatLines(value: unknown, room = LINE_MAX_LENGTH): readonly string[] {
  if (!isLong(value, room)) return [JSON.stringify(value)]
  const deeper = room - 2
  if (Array.isArray(value))
    return value.flatMap((item) => formatLines(item, deeper).map((line, at) => `${at === 0 ? '-' : ' '} ${line}`))
  return Object.entries(value).flatMap(([key, item]) => {
    const lines = formatLines(item, deeper)
    const name = `${JSON.stringify(key)}:`
    return isLong(item, deeper) ? [name, ...lines.map((line) => `  ${line}`)] : [`${name} ${lines[0]}`]
  })
}

const isLong = (value: unknown, room: number): value is object =>
  typeof value === 'object' && value !== null && JSON.stringify(value).length > room
