/** The witness as a file: one line of JSON, replaced as a whole. It is on the disk before `write` resolves. */

import { open, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Closed } from '../../shared/contract/kinds.ts'
import type { Database } from '../domain/store-position.ts'
import type { Witness } from '../ports.ts'

const Position = Closed({
  change: Type.Integer({ minimum: 0 }),
  payment: Type.Integer({ minimum: 0 }),
  height: Type.String({ pattern: '^\\d{1,15}$' }),
})

/**
 * The witness at a path of a store on `database`; without one, none is kept. Reading one that holds something else throws.
 */
export function witnessAt(path: string | undefined, database: Database): Witness {
  if (path !== undefined) return witnessFile(path, database)
  return { read: async () => undefined, isApart: async () => false, write: async () => {} }
}

const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/

/** Whether a folder lies on another device than a database. A server on another machine has another one. */
async function isApart(folder: string, database: Database): Promise<boolean> {
  if (database.kind === 'postgres') {
    const { hostname, searchParams } = new URL(database.url)
    return !LOOPBACK.test(hostname) && !searchParams.has('host')
  }
  try {
    const [its, ours] = await Promise.all([stat(folder), stat(database.path)])
    return its.dev !== ours.dev
  } catch {
    return false
  }
}

function witnessFile(path: string, database: Database): Witness {
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
    isApart: () => isApart(folder, database),
    async write({ change, payment, height }) {
      const aside = `${path}.new`
      const line = `${JSON.stringify({ change, payment, height: height.toString() })}\n`
      await writeFile(aside, line, { mode: 0o600, flush: true })
      await rename(aside, path)
      // The new name is on the disk once its folder is.
      await using names = await open(folder, 'r')
      await names.sync()
    },
  }
}
