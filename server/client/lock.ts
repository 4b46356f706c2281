/**
 * Only one process at a time may buy with a wallet at a wall: a second one would mistake the first one's unfinished
 * payments for those of a crashed process. The lock of a killed process is free immediately if its process id is gone,
 * else after a few seconds.
 */

import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { returnOnCode, returnIfMissing } from './signed-payments.ts'

const HEARTBEAT_MS = 500
const STALE_MS = 5000
const LOOK_AGAIN_MS = 100

/** Waits for a lock; `onWait` is called if another process has it. Resolves to a function that releases it. */
export type Lock = (onWait?: () => void) => Promise<() => Promise<void>>

/** Waits for the lock of a folder; resolves to a function that releases it. */
export async function lockFolder(folder: string, onWait: () => void = () => {}): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'lock')
  for (let tries = 0; !(await tryToCreate(path)); tries++) {
    // Two processes that remove a stale lock at the same time may both continue; at worst they share one purchase.
    if (await isStale(path)) await rm(path, { force: true })
    else {
      if (tries === 0) onWait()
      await pause(LOOK_AGAIN_MS)
    }
  }
  const heartbeat = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => clearInterval(heartbeat))
  }, HEARTBEAT_MS)
  heartbeat.unref()
  return async () => {
    clearInterval(heartbeat)
    await rm(path, { force: true })
  }
}

/** Creates the file; returns `false` if it already exists. */
const tryToCreate = (path: string): Promise<boolean> =>
  writeFile(path, String(process.pid), { flag: 'wx', mode: 0o600 }).then(() => true, returnOnCode('EEXIST', false))

async function isStale(path: string): Promise<boolean> {
  const [text, touched] = await Promise.all([
    readFile(path, 'utf8').catch(returnIfMissing('')),
    stat(path).then(({ mtimeMs }) => mtimeMs, returnIfMissing(Date.now())),
  ])
  return Date.now() - touched > STALE_MS || (text !== '' && !isRunning(Number(text)))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM means that the process is running, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
