import { expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openWall } from '../../support/service/wall.ts'

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))

test('the conformance suite passes, except for scenarios that need features that this server does not offer', async () => {
  const { app } = await openWall({ bindHost: '127.0.0.1' })
  app.listen({ hostname: '127.0.0.1', port: 0 })
  try {
    const url = `http://127.0.0.1:${app.server?.port}/mcp`
    const exceptions = join(import.meta.dir, 'not-offered.yml')
    const command = ['server', '--url', url, '--suite', 'all', '--expected-failures', exceptions]
    const run = Bun.spawn([process.execPath, '--bun', suite, ...command], {
      cwd: tmpdir(),
      env: { PATH: Bun.env['PATH'] ?? '' },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const report = await new Response(run.stdout).text()
    expect([await run.exited, report]).toEqual([0, expect.stringContaining('=== SUMMARY ===')])
    for (const scenario of ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'])
      expect(report).toMatch(new RegExp(`✓ ${scenario}: [1-9]\\d* passed, 0 failed`))
  } finally {
    await app.stop()
  }
})
