/** A crowd that follows the shared stream, in a process of its own. */

import { join } from 'node:path'
import type { Seen } from './run-followers.ts'

/** A crowd of followers. */
export type Crowd = {
  /** Waits until every follower has a change, ends them all, and resolves to what they saw. */
  waitForChange(last: number): Promise<Seen>
}

/** Starts this many followers at a URL, who know all changes up to a number; resolves once each follows. */
export async function startFollowers(url: string, count: number, known: number): Promise<Crowd> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'run-followers.ts'), url, String(count), String(known)],
    {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  const readNextLine = async () => {
    for (let said = ''; ;) {
      const { value, done } = await lines.read()
      if (done) throw new Error('the followers ended too early')
      said += value
      if (said.includes('\n')) return said
    }
  }
  await readNextLine()
  return {
    async waitForChange(last) {
      await child.stdin.write(`${last}\n`)
      await child.stdin.end()
      return JSON.parse(await readNextLine()) as Seen
    },
  }
}
