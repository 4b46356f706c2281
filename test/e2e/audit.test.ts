import { expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOutput } from '../support/output-of.ts'
import { createScratchFolder } from '../support/scratch-folder.ts'

// Goal: no unaudited package passes as audited. Method: the script as CI runs it, with a fake `npx` that responds like
// a registry.

const folder = createScratchFolder()

test.each([
  ['that reports no flaw', 'echo "{}"', 0, /^\{\}$/m],
  ['that reports a flaw', 'echo "{\\"flaw\\":1}"; exit 1', 1, /flaw/],
  [
    'that is unavailable',
    'echo "error: ConnectionRefused" >&2; exit 1',
    2,
    /^NOT AUDITED: .*\nerror: ConnectionRefused$/m,
  ],
])(
  'with a registry %s, the audit prints the result and exits with the status for that result',
  async (_, answer, status, words) => {
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\n${answer}\n`)
    chmodSync(join(folder, 'npx'), 0o755)
    const env = { PATH: `${folder}:${Bun.env['PATH'] ?? ''}` }
    const child = Bun.spawn([join(import.meta.dir, '../../.ci/audit')], {
      env,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const { out, code } = await readOutput(child)
    expect(code).toBe(status)
    expect(out).toMatch(words)
  },
)
