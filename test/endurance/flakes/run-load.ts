/**
 * `run-load.ts SECONDS [FOLDER]`: keeps a CPU busy, or the disk of FOLDER; exits after SECONDS, or earlier if its
 * standard input ends.
 */

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

const [seconds = '0', folder] = Bun.argv.slice(2)
const until = performance.now() + Number(seconds) * 1000

process.stdin.on('end', () => process.exit()).resume()
if (folder === undefined) await keepProcessorBusy()
else await keepDiskBusy(join(folder, `flushed-${process.pid}`))
process.exit()

async function keepProcessorBusy(): Promise<void> {
  while (performance.now() < until) {
    for (const pause = performance.now() + 20; performance.now() < pause;);
    // Lets the process notice the end of the input.
    await setImmediate()
  }
}

async function keepDiskBusy(path: string): Promise<void> {
  const megabyte = Buffer.alloc(1024 * 1024, 1)
  await using file = await open(path, 'w')
  while (performance.now() < until) {
    await file.write(megabyte, 0, megabyte.length, 0)
    await file.sync()
  }
}
