/** A crowd that follows the shared stream, in a process of its own. */

import { join } from 'node:path'
import type { Seen } from './run-followers.ts'

/** A crowd of followers. */
export type Crowd = {
  /** Waits until every follower has received the change `last`, and resolves to the observations of all followers. */
  waitForChange(last: number): Promise<Seen>
}

/**
 * Starts `count` followers at `url`, each of which already knows all changes up to `known`; resolves once each has a
 * stream.
 */
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
