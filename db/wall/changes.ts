/** Rows of the log and what they mean. */

import type { Address } from '../../server/domain/purchase/payment.ts'
import type { Change } from '../../server/domain/wall/log.ts'
import type { ModerationAct } from '../../server/domain/wall/moderation.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { contentOf, hiddenOf, type ContentRow } from '../rows.ts'

/** A row of `changes`, with the wallet of its agent. */
export type ChangeRow = ContentRow & {
  readonly number: number
  readonly at: number
  readonly name: string | null
  readonly framework: string | null
} & (
    | {
        readonly kind: 'sale'
        readonly seq: number
        readonly block: BlockIndex
        readonly agent: number
        readonly wallet: Address
      }
    | { readonly kind: 'repaint'; readonly block: BlockIndex }
    | { readonly kind: ModerationAct; readonly block: BlockIndex; readonly hidden: number }
    | { readonly kind: 'identity'; readonly agent: number }
  )

export type ChangeColumns = ContentRow & {
  readonly number: number
  readonly at: number
  readonly kind: Change['kind']
  readonly seq: number | null
  readonly block: number | null
  readonly agent: number | null
  readonly hidden: number | null
  readonly name: string | null
  readonly framework: string | null
}

/** An entry in the columns that its kind has a word on. */
export type ChangeEntry = Pick<ChangeColumns, 'number' | 'at' | 'kind'> & Partial<ChangeColumns>

export const changeRow = (entry: ChangeEntry): ChangeColumns => ({
  seq: null,
  block: null,
  agent: null,
  hidden: null,
  name: null,
  framework: null,
  pixels: null,
  message: null,
  link: null,
  ...entry,
})

/** The entry that a row holds. */
export function changeOf(row: ChangeRow): Change {
  const { number, at } = row
  const profile = { name: row.name, framework: row.framework }
  switch (row.kind) {
    case 'sale': {
      const { seq, block, agent, wallet } = row
      return { number, at, kind: 'sale', seq, block, content: contentOf(row), agent, wallet, profile }
    }
    case 'repaint':
      return { number, at, kind: 'repaint', block: row.block, content: contentOf(row) }
    case 'hide':
    case 'unhide':
      return { number, at, kind: row.kind, block: row.block, hidden: hiddenOf(row.hidden), content: contentOf(row) }
    case 'identity':
      return { number, at, kind: 'identity', agent: row.agent, profile }
  }
}
