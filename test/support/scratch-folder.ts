import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder that is removed after the tests of the calling file. */
export function createScratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pixel-wall-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Whether this process may mount a small disk. */
export const mayMount = process.platform === 'linux' && process.getuid?.() === 0

/** Mounts a separate disk of this many megabytes, or makes a plain folder if mounting is not allowed. */
export async function mountDisk(folder: string, megabytes: number) {
  await mkdir(folder)
  if (mayMount) await Bun.$`mount -t tmpfs -o size=${megabytes}m none ${folder}`
  const unmount = () => (mayMount ? Bun.spawnSync(['umount', folder]) : undefined)
  process.once('exit', unmount)
  return {
    folder,
    /** Writes a file of this many megabytes, or as much of it as fits on the disk; does nothing in a plain folder. */
    fill: (name: string, size: number) => (mayMount ? fill(join(folder, name), size) : undefined),
    removeFile: (name: string) => rm(join(folder, name), { force: true }),
    unmount() {
      process.off('exit', unmount)
      unmount()
    },
  }
}

export type SmallDisk = Awaited<ReturnType<typeof mountDisk>>

const MEGABYTE = Buffer.alloc(1024 * 1024)

// Writes the file piece by piece. For one large write, Bun first reserves all the space. If the file system has less
// space, Bun frees what it reserved, so the disk would be full, then empty, then full again.
async function fill(path: string, megabytes: number): Promise<void> {
  await using file = await open(path, 'w')
  try {
    for (let written = 0; written < megabytes; written++) await file.writeFile(MEGABYTE)
  } catch (error) {
    if (!isFull(error)) throw error
  }
}

const isFull = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOSPC'
