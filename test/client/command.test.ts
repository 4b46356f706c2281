import { expect, test } from 'bun:test'
import { join } from 'node:path'

// Goal: the command that buys trusts no wall with the terminal it runs in. Method: the command as it is typed, against a
// server that answers what it likes.

const MAIN = join(import.meta.dir, '../../server/client/cli/main.ts')

test('a wall’s words are printed, and cannot act on the terminal', async () => {
  const evil = '\u001B]0;owned\u0007\u001B[2J\u202Etxt\r\nsecond line\u009B31m'
  using wall = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json({ error: `e${evil}`, message: `m${evil}` }, { status: 409 }),
  })
  const child = Bun.spawn([process.execPath, MAIN, 'buy', 'next', '--url', wall.url.href], {
    env: { PATH: Bun.env['PATH'] ?? '', PRIVATE_KEY: `0x${'1'.repeat(64)}` },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect([out, await child.exited]).toEqual(['', 1])
  expect(err).toStartWith(String.raw`409 e\u001b]0;owned\u0007\u001b[2J\u202etxt\u000d`)
  expect(err).toMatch(/^[ -~\n]*$/)
})
