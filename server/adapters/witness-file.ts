/** Stores the witness in a file: one line of JSON, replaced as a whole. The file is flushed before `write` resolves. */

import { readFileSync } from 'node:fs'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Closed } from '../../shared/contract/kinds.ts'
import type { Address } from '../domain/purchase/payment.ts'
import type { Witness } from '../ports.ts'

const Position = Closed({
  change: Type.Integer({ minimum: 0 }),
  payment: Type.Integer({ minimum: 0 }),
  height: Type.String({ pattern: '^\\d{1,15}$' }),
  payees: Type.Optional(Type.Array(Type.String({ pattern: '^0x[0-9a-f]{40}$' }), { maxItems: 1000 })),
})

/** Whether the file at a path is a witness. */
export function isWitness(path: string): boolean {
  try {
    return Value.Check(Position, JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return false
  }
}

/** The witness at a path; without a path, none is stored. `read` throws if the file contains something else. */
export function openWitness(path: string | undefined): Witness {
  if (path !== undefined) return openWitnessFile(path)
  return { read: async () => undefined, write: async () => {} }
}

function openWitnessFile(path: string): Witness {
  const folder = dirname(resolve(path))
  return {
    async read() {
      try {
        const { height, payees = [], ...numbers } = Value.Parse(Position, JSON.parse(await readFile(path, 'utf8')))
        // The schema has checked that the payees are addresses. Versions before 1.3 wrote no payees.
        return { ...numbers, height: BigInt(height), payees: payees as Address[] }
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
        throw error
      }
    },
    async write({ change, payment, height, payees }) {
      const aside = `${path}.new`
      const line = `${JSON.stringify({ change, payment, height: height.toString(), payees })}\n`
      await writeFile(aside, line, { mode: 0o600, flush: true })
      await rename(aside, path)
      // The new file name is on disk once its folder is flushed.
      await using names = await open(folder, 'r')
      await names.sync()
    },
  }
}
