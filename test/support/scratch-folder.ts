import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder that is removed after the tests of the file that asks for it. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pixel-wall-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Whether this process may mount a small disk in one. */
export const mayMount = process.platform === 'linux' && process.getuid?.() === 0
