/**
 * Caches the payments read from the chain, so that the next check reads only new blocks. The cache contains nothing
 * from a wall.
 */

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ChainPayment } from './chain-facts.ts'

/**
 * Payments to a wall's addresses, or in transactions that it names; complete for its addresses from `from` to
 * `through`.
 */
export type KeptPayments = {
  readonly of: string // the network, the token and the addresses
  readonly from: bigint
  readonly through: bigint // below `from` if nothing was searched yet
  readonly payments: readonly ChainPayment[]
}

const Hex = Type.TemplateLiteral('0x${string}')
const Whole = Type.String({ pattern: '^\\d{1,78}$' })
const Row = Type.Tuple([Hex, Hex, Type.Union([Hex, Type.Null()]), Whole, Hex, Hex, Whole])
const File = Type.Object({ of: Type.String(), from: Whole, through: Whole, payments: Type.Array(Row) })

const NAME = 'verified.json'

/** Reads the cache in a folder; `undefined` if there is none, it is invalid, or its `of` differs. */
export async function readKeptPayments(folder: string, of: string): Promise<KeptPayments | undefined> {
  const text = await readFile(join(folder, NAME), 'utf8').catch(() => '')
  const file = parseKeptPayments(text)
  if (file === undefined || file.of !== of) return undefined
  return {
    of,
    from: BigInt(file.from),
    through: BigInt(file.through),
    payments: file.payments.map(([payer, to, nonce, amount, tx, token, height]) => ({
      payer,
      to,
      nonce,
      amount: BigInt(amount),
      tx,
      token,
      height: BigInt(height),
    })),
  }
}

/** Replaces the cache in a folder, completely or not at all. */
export async function writeKeptPayments(folder: string, { of, from, through, payments }: KeptPayments): Promise<void> {
  const rows = payments.map(({ payer, to, nonce, amount, tx, token, height }) => [
    payer,
    to,
    nonce,
    `${amount}`,
    tx,
    token,
    `${height}`,
  ])
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, NAME)
  await writeFile(`${path}.new`, JSON.stringify({ of, from: `${from}`, through: `${through}`, payments: rows }))
  await rename(`${path}.new`, path)
}

function parseKeptPayments(text: string) {
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(File, value) ? value : undefined
  } catch {
    return undefined
  }
}
