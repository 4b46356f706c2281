import { expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TOOL_LIST } from '../../support/service/agent.ts'
import { expectSnapshot, printWithReferences } from '../../support/snapshot.ts'

// Snapshots of the whole definition of each tool, so that reviewers read it too. `bun run snapshots` updates them.

const directory = join(import.meta.dir, 'snapshots')
const snapshots = printWithReferences(Object.fromEntries(TOOL_LIST.map((tool) => [tool.name, tool])))

test.each([...snapshots])('the definition of the tool %s equals its snapshot', (name, text) =>
  expectSnapshot(text, join(directory, `${name}.yaml.txt`)),
)

test('every snapshot belongs to an existing tool', async () => {
  const files = await readdir(directory)
  expect(files.toSorted()).toEqual([...snapshots.keys()].map((name) => `${name}.yaml.txt`).toSorted())
})
