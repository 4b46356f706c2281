/** Row sums: which columns of each table SQLite sums, and over which bytes. */

import { CLAIM_ORDER } from '../shared/wall.ts'

/** The columns of a payment, but for those that came later. */
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
  payments: [...PAYMENT, 'size'],
  purchase_painters: ['payment', 'painter'],
  wall: ['only_row', 'network', 'seen_height'],
  wallet_painters: ['agent', 'painter', 'ts', 'through'],
} as const

/** What columns hold that came later, in rows from before: a row that holds it has the sum that it had without the column. */
const LATER: Readonly<Record<string, string>> = { size: '1x1' }

/** SQL for all that a row holds, as bytes: each column's length and content, or a dash for none. */
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

export const isSummed = (table: string): table is Table => Object.hasOwn(SUMMED, table)

export const TABLES: readonly Table[] = Object.keys(SUMMED).filter(isSummed)

/** A row that does not fit its sum. */
export type DamagedRow = { readonly table: Table; readonly row: number }

/** The sum of what a row holds, as `heldInSql` reads it. */
export function sumOf(held: Uint8Array): Uint8Array {
  hashed.setBigUint64(0, Bun.hash.xxHash64(held))
  return new Uint8Array(hashed.buffer.slice(0))
}

/** How long a sum is. */
export const SUM_BYTES = 8

const hashed = new DataView(new ArrayBuffer(SUM_BYTES))

/**
 * Whether what a row holds, as `heldInSql` reads it, is what its sum says. A block that nobody ever wanted has no sum yet, and
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

let ranks: Map<number, number> | undefined

/** What a block holds that nobody ever wanted, as `heldInSql` reads it. */
function untouchedBlock(block: number): string {
  ranks ??= new Map(CLAIM_ORDER.map((index, rank) => [index, rank]))
  const [index, rank] = [String(block), String(ranks.get(block))]
  return `${index.length}:${index}${rank.length}:${rank}4:open------`
}

const decoder = new TextDecoder()
