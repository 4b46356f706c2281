/** The witness as a file: one line of JSON, replaced as a whole. It is on the disk before `write` resolves. */

import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Witness } from '../ports.ts'

const Position = Type.Object(
  {
    change: Type.Integer({ minimum: 0 }),
    payment: Type.Integer({ minimum: 0 }),
    height: Type.String({ pattern: '^\\d{1,15}$' }),
  },
  { additionalProperties: false },
)

/** The witness at a path; without one, none is kept. Reading one that holds something else throws. */
export function witnessAt(path: string | undefined): Witness {
  return path === undefined ? { read: async () => undefined, write: async () => {} } : witnessFile(path)
}

function witnessFile(path: string): Witness {
  const folder = dirname(resolve(path))
  return {
    async read() {
      try {
        const { height, ...numbers } = Value.Parse(Position, JSON.parse(await readFile(path, 'utf8')))
        return { ...numbers, height: BigInt(height) }
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
        throw error
      }
    },
    async write({ change, payment, height }) {
      const aside = `${path}.new`
      const line = `${JSON.stringify({ change, payment, height: height.toString() })}\n`
      await writeFile(aside, line, { mode: 0o600, flush: true })
      await rename(aside, path)
      // The new name is on the disk once its folder is.
      const names = await open(folder, 'r')
      try {
        await names.sync()
      } finally {
        await names.close()
      }
    },
  }
}
