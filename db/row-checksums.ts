/**
 * Row sums: a hash of all that a row holds. Both engines make it over the same bytes for the same values, so that rows
 * moved from one to the other can be held against what they were.
 */

import { CLAIM_ORDER } from '../shared/wall.ts'

/** A value in a row. */
export type Cell = string | number | Uint8Array | null

/** The columns of each table that carries sums, in the order in which they are summed; the first numbers the row. */
export const SUMMED = {
  agents: ['id', 'wallet', 'name', 'framework', 'first_seen_at', 'changed'],
  blocks: ['i', 'rank', 'state', 'payment', 'agent', 'pixels', 'message', 'link', 'changed'],
  changes: [
    'number',
    'at',
    'kind',
    'seq',
    'block',
    'agent',
    'hidden',
    'name',
    'framework',
    'pixels',
    'message',
    'link',
  ],
  moderated: ['block', 'hidden'],
  moderated_agents: ['agent', 'hidden', 'ever', 'through', 'banned'],
  payments: [
    'id',
    'payer',
    'nonce',
    'pay_to',
    'asset',
    'network',
    'scheme',
    'amount',
    'valid_after',
    'valid_before',
    'signature',
    'target',
    'block',
    'name',
    'framework',
    'message',
    'link',
    'pixels',
    'head',
    'created_at',
    'state',
    'uncertain',
    'dead',
    'settled',
    'looks',
    'unanswered',
    'tx',
    'seq',
    'claimed_at',
    'size',
  ],
  purchase_painters: ['payment', 'painter'],
  wall: ['only_row', 'network', 'seen_height'],
  wallet_painters: ['agent', 'painter', 'ts', 'through'],
} as const

/** What columns hold that came later, in rows from before: a row that holds it has the sum that it had without the column. */
const LATER: Readonly<Record<string, string>> = { size: '1x1' }

/** SQL for all that a row holds, as bytes: each column's length and content, or a dash for none; as `heldIn` writes it. */
export function heldInSql(columns: readonly string[], of = ''): string {
  // One call for all columns: a chain of `||` would copy the row as often as it has columns.
  const parts = columns.flatMap((name) => {
    const held = [`octet_length(${of}${name})`, `iif(${of}${name} IS NULL, '-', ':')`, `${of}${name}`]
    const left = LATER[name]
    return left === undefined ? held : held.map((part) => `iif(${of}${name} = '${left}', '', ${part})`)
  })
  return `CAST(concat(${parts.join(', ')}) AS BLOB)`
}

/** A table that carries sums. */
export type Table = keyof typeof SUMMED

/** Whether a table is one of those. */
export const isSummed = (table: string): table is Table => Object.hasOwn(SUMMED, table)

/** All of them. */
export const TABLES: readonly Table[] = Object.keys(SUMMED).filter(isSummed)

/** A row of it: a value for each summed column. */
export type SummedRow<T extends Table = Table> = Readonly<Record<(typeof SUMMED)[T][number], Cell>>

/** A row that does not fit its sum. */
export type DamagedRow = { readonly table: Table; readonly row: number }

/** The sum of what a row holds, as `heldIn` writes it. */
export function sumOf(held: Uint8Array): Uint8Array {
  hashed.setBigUint64(0, Bun.hash.xxHash64(held))
  return new Uint8Array(hashed.buffer.slice(0))
}

const hashed = new DataView(new ArrayBuffer(8))

/** The sum of a row. */
export const sumOfRow = <T extends Table>(table: T, row: SummedRow<T>): Uint8Array => sumOf(heldIn(table, row))

/** Whether a row holds what its sum says. */
export const fitsSum = <T extends Table>(table: T, row: SummedRow<T>, sum: Uint8Array | null): boolean =>
  isWhole(table, numberOf(table, row), heldIn(table, row), sum)

/**
 * Whether what a row holds, as `heldIn` writes it, is what its sum says. A block that nobody ever wanted has no sum yet, and
 * holds what all of them do.
 */
export function isWhole(table: Table, row: number, held: Uint8Array, sum: Uint8Array | null): boolean {
  if (sum !== null) return isSumOf(held, sum)
  return table === 'blocks' && decoder.decode(held) === untouchedBlock(row)
}

/** Whether `sum` is the sum of what a row holds. Asked of every row at each start, so it makes nothing of its own. */
function isSumOf(held: Uint8Array, sum: Uint8Array): boolean {
  hashed.setBigUint64(0, Bun.hash.xxHash64(held))
  return sum.length === hashed.byteLength && sum.every((byte, at) => byte === hashed.getUint8(at))
}

/** What numbers a row in its table. */
export const numberOf = <T extends Table>(table: T, row: SummedRow<T>): number => Number(cellsOf(table, row)[0])

let ranks: Map<number, number> | undefined

/** What a block holds that nobody ever wanted, as `heldIn` writes it. */
function untouchedBlock(block: number): string {
  ranks ??= new Map(CLAIM_ORDER.map((index, rank) => [index, rank]))
  const [index, rank] = [String(block), String(ranks.get(block))]
  return `${index.length}:${index}${rank.length}:${rank}4:open------`
}

/** All that a row holds, as bytes: each column's length and content, or a dash for none. */
function heldIn<T extends Table>(table: T, row: SummedRow<T>): Uint8Array {
  const columns: readonly string[] = SUMMED[table]
  const parts = cellsOf(table, row).flatMap((cell, at) => {
    if (cell === null) return [DASH]
    if (cell === LATER[columns[at] ?? '']) return []
    const bytes = typeof cell === 'object' ? cell : encoder.encode(String(cell))
    return [encoder.encode(`${bytes.length}:`), bytes]
  })
  return Bun.concatArrayBuffers(parts, Infinity, true)
}

function cellsOf<T extends Table>(table: T, row: SummedRow<T>): readonly Cell[] {
  const columns: readonly (typeof SUMMED)[T][number][] = SUMMED[table]
  return columns.map((column) => row[column])
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const DASH = encoder.encode('-')
