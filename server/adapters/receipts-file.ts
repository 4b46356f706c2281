/**
 * A cache file of transfers read from the chain, so that years of history are read only once. A damaged file counts as
 * empty.
 */

import { readFile, rename, writeFile } from 'node:fs/promises'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Closed } from '../../shared/contract/kinds.ts'
import type { ReceiptArchive } from '../ports.ts'

const Hex = Type.TemplateLiteral('0x${string}')
const Whole = Type.String({ pattern: '^\\d{1,78}$' })
const Transfer = Closed({ payer: Hex, nonce: Type.Union([Hex, Type.Null()]), amount: Whole, tx: Hex, height: Whole })
const Stretch = Closed({ payee: Hex, from: Whole, through: Whole, transfers: Type.Array(Transfer) })
const Kept = Closed({ of: Type.String(), stretches: Type.Array(Stretch), sum: Type.String() })

/** Opens the archive at a path; `of` names a network and its token. Without a path, nothing is stored. */
export function openReceiptArchive(path: string | undefined, of: string): ReceiptArchive {
  return path === undefined ? { read: async () => [], write: async () => {} } : openArchiveFile(path, of)
}

function openArchiveFile(path: string, of: string): ReceiptArchive {
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(() => '')
      const kept = parseReceipts(text)
      if (kept === undefined || kept.of !== of || kept.sum !== hashStretches(kept.stretches)) return []
      return kept.stretches.map(({ payee, from, through, transfers }) => ({
        payee,
        from: BigInt(from),
        through: BigInt(through),
        transfers: transfers.map(({ amount, height, ...rest }) => ({
          ...rest,
          amount: BigInt(amount),
          height: BigInt(height),
        })),
      }))
    },
    async write(kept) {
      const stretches: unknown = JSON.parse(JSON.stringify(kept, stringifyBigint))
      const aside = `${path}.new`
      await writeFile(aside, `${JSON.stringify({ of, stretches, sum: hashStretches(stretches) })}\n`, { mode: 0o600 })
      await rename(aside, path)
    },
  }
}

const stringifyBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

const hashStretches = (stretches: unknown) =>
  new Bun.CryptoHasher('sha256').update(JSON.stringify(stretches)).digest('hex')

function parseReceipts(text: string) {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(Kept, value) ? value : undefined
  } catch {
    return undefined
  }
}
