import { expect } from 'bun:test'

/** Compares a text with a file beside the tests. `bun run snapshots` writes the file anew. */
export async function expectSnapshot(text: string, path: string): Promise<void> {
  const file = Bun.file(path)
  if (Bun.env['UPDATE_SNAPSHOTS'] === '1') await Bun.write(file, text)
  expect(text).toBe(await file.text())
}
