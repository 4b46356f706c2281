/** Row checksums: the columns of each table that they cover, and the bytes they are computed from. */

import { CLAIM_ORDER } from '../shared/wall.ts'

/** The columns of a payment that its checksum covers, except `size`. */
export const PAYMENT = [
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
] as const

/** For each table, the columns that a row's checksum covers, in order; the first column contains the row's number. */
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
  payments: [...PAYMENT, 'size'],
  purchase_painters: ['payment', 'painter'],
  wall: ['only_row', 'network', 'seen_height'],
  wallet_painters: ['agent', 'painter', 'ts', 'through'],
} as const

/**
 * The default values of columns that were added later. A row with the default value has the same checksum as a row
 * without the column.
 */
const LATER: Readonly<Record<string, string>> = { size: '1x1' }

/** SQL for the content of a row, as bytes: each column's length and content, or a dash for NULL. */
export function renderChecksumSql(columns: readonly string[], of = ''): string {
  // One call for all columns, because a chain of `||` would copy the row once per column.
  const parts = columns.flatMap((name) => {
    const held = [`octet_length(${of}${name})`, `iif(${of}${name} IS NULL, '-', ':')`, `${of}${name}`]
    const left = LATER[name]
    return left === undefined ? held : held.map((part) => `iif(${of}${name} = '${left}', '', ${part})`)
  })
  return `CAST(concat(${parts.join(', ')}) AS BLOB)`
}

/** A table with checksums. */
export type Table = keyof typeof SUMMED

export const hasChecksums = (table: string): table is Table => Object.hasOwn(SUMMED, table)

export const TABLES: readonly Table[] = Object.keys(SUMMED).filter(hasChecksums)

/** A row that does not match its checksum. */
export type DamagedRow = { readonly table: Table; readonly row: number }

/** The length of a checksum in bytes. */
export const SUM_BYTES = 8

/** The checksum, as a number, of a row's content, which is read with `renderChecksumSql`. */
export const computeHash = (held: string | Uint8Array): bigint => Bun.hash.xxHash64(held)

type Text = string | number | null

/** A table's columns, each with one value for all rows, or a function from a row's position to its value. */
type Columns<T extends Table> = Readonly<Record<(typeof SUMMED)[T][number], Text | ((at: number) => Text | Uint8Array)>>

/** The concatenated checksums of the rows that a statement is about to write. */
export function computeChecksums<T extends 'blocks' | 'changes'>(
  table: T,
  rows: number,
  columns: Columns<T>,
): Uint8Array {
  const names: readonly (typeof SUMMED)[T][number][] = SUMMED[table]
  const parts: (string | ((at: number) => Text | Uint8Array))[] = []
  for (const name of names) {
    const column = columns[name]
    const before = parts.at(-1)
    if (typeof column === 'function') parts.push(column)
    else if (typeof before === 'string') parts[parts.length - 1] = before + encodeText(column)
    else parts.push(encodeText(column))
  }
  const sums = Buffer.alloc(SUM_BYTES * rows)
  for (let at = 0; at < rows; at++) sums.writeBigUInt64BE(computeHash(joinParts(parts, at)), SUM_BYTES * at)
  return sums
}

/** SQL that extracts from `$sums` the checksum of the row at position `key`. */
export const renderSumSql = (key: string): string => `substr($sums, ${SUM_BYTES} * ${key} + 1, ${SUM_BYTES})`

function encodeText(value: Text): string {
  if (value === null) return '-'
  return typeof value === 'number' ? `${String(value).length}:${value}` : `${Buffer.byteLength(value)}:${value}`
}

// A buffer for one row, ten times the size of a block's texts and picture.
const row = Buffer.alloc(32_768)

/** The content of a row, as `renderChecksumSql` reads it; a string unless a column contains bytes. */
function joinParts(parts: readonly (string | ((at: number) => Text | Uint8Array))[], at: number): string | Uint8Array {
  let text = ''
  let written = 0
  for (const part of parts) {
    const value = typeof part === 'string' ? part : part(at)
    if (typeof part === 'string') text += part
    else if (value === null || typeof value !== 'object') text += encodeText(value)
    else {
      written += row.write(`${text}${value.length}:`, written)
      row.set(value, written)
      written += value.length
      text = ''
    }
  }
  return written === 0 ? text : row.subarray(0, written + row.write(text, written))
}

/**
 * Whether the content of a row, as `renderChecksumSql` reads it, matches its checksum. A block that was never held has
 * no checksum yet; its content must be that of an untouched block.
 */
export function matchesChecksum(table: Table, row: number, held: Uint8Array, sum: Uint8Array | null): boolean {
  const hash = computeHash(held)
  if (sum === null) return table === 'blocks' && hash === computeHash(encodeUntouchedBlock(row))
  return sum.length === SUM_BYTES && hash === new DataView(sum.buffer, sum.byteOffset).getBigUint64(0)
}

let ranks: Map<number, number> | undefined

/** The position of a block in the order of sale, as stored in its row. */
export function getRank(block: number): number {
  ranks ??= new Map(CLAIM_ORDER.map((index, rank) => [index, rank]))
  return ranks.get(block) ?? -1
}

/** The content of a block that was never held, as `renderChecksumSql` reads it. */
const encodeUntouchedBlock = (block: number) => `${encodeText(block)}${encodeText(getRank(block))}4:open------`
