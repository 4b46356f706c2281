import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder that is removed after the tests of the file that asks for it. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pixel-wall-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Whether this process may mount a small disk. */
export const mayMount = process.platform === 'linux' && process.getuid?.() === 0

/** A disk of its own, of so many megabytes; nothing but a folder where none may be mounted. */
export async function mountDisk(folder: string, megabytes: number) {
  await mkdir(folder)
  if (mayMount) await Bun.$`mount -t tmpfs -o size=${megabytes}m none ${folder}`
  const unmount = () => (mayMount ? Bun.spawnSync(['umount', folder]) : undefined)
  process.once('exit', unmount)
  return {
    folder,
    /** A file of so many megabytes; it is cut off where the disk is full. */
    fill: (name: string, size: number) =>
      mayMount ? writeFile(join(folder, name), Buffer.alloc(size * 1024 * 1024)).catch(() => {}) : undefined,
    free: (name: string) => rm(join(folder, name), { force: true }),
    unmount() {
      process.off('exit', unmount)
      unmount()
    },
  }
}

export type SmallDisk = Awaited<ReturnType<typeof mountDisk>>
