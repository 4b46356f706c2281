/** Where a picture that is being painted stands, so that after an interruption it goes on there and not elsewhere. */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ifMissing } from '../signed-payments.ts'
import type { Wall } from '../wall.ts'

/** The place of one picture on one wall. */
export type Place = {
  read(): Promise<string | undefined>
  write(coord: string): Promise<void>
  forget(): Promise<void>
}

export function rememberedPlace({ folder }: Wall, picture: string): Place {
  const path = join(folder(), 'places', picture)
  return {
    read: () => readFile(path, 'utf8').catch(ifMissing(undefined)),
    async write(coord) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await writeFile(path, coord)
    },
    forget: () => rm(path, { force: true }),
  }
}
