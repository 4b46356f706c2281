import { expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TOOL_LIST } from '../../support/service/agent.ts'
import { expectSnapshot } from '../../support/snapshot.ts'

// What an agent reads of each tool, whole, so that a reviewer reads it too. What an earlier tool has already shown is a
// reference to it, so a new field of a shared schema changes one snapshot.
// `bun run snapshots` writes them anew.

const SHARED_MIN_LENGTH = 100 // characters of JSON: shorter than that, a reference reads no better
const LINE_MAX_LENGTH = 120

const directory = join(import.meta.dir, 'snapshots')
const snapshots = snapshotsOf(JSON.parse(JSON.stringify(TOOL_LIST)))

test.each([...snapshots])('%s is defined as its snapshot', (name, text) =>
  expectSnapshot(text, join(directory, `${name}.json.txt`)),
)

test('there is no snapshot of a tool that is gone', async () => {
  const files = await readdir(directory)
  expect(files.toSorted()).toEqual([...snapshots.keys()].map((name) => `${name}.json.txt`).toSorted())
})

function snapshotsOf(tools: ReadonlyArray<{ readonly name: string }>): ReadonlyMap<string, string> {
  const placeOf = new Map<string, string>() // JSON of a schema -> where it stands first
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
  return new Map(tools.map((tool) => [tool.name, `${print(withReferences(tool, `${tool.name}#`))}\n`]))
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
