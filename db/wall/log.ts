/** Entries of the append-only log, written in the same transaction as the changes they describe. */

import type { Address, UnixMs } from '../../server/domain/purchase/payment.ts'
import type { AgentId, BlockContent, Change, LogNumber, Profile } from '../../server/domain/wall/log.ts'
import type { ModerationAct } from '../../server/domain/wall/moderation.ts'
import type { LogCompaction, OutlinedEntry } from '../../server/operator-ports.ts'
import { sliceBlockPixels, PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { CHANNEL } from '../fragments.ts'
import { renderSumSql, computeChecksums } from '../row-checksums.ts'
import { toContent, type ContentRow, toHiddenParts } from '../rows.ts'
import { changeRows, countChangedRows, type Driver, queryOne, queryRows, type Tx } from '../tx.ts'

/** The first reserved number of each kind (entry, sale, agent), and the time of the entries. */
export type Entry = {
  readonly number: LogNumber
  readonly at: UnixMs
  readonly seq: number
  readonly agent: AgentId
}

/** How many numbers to take for entries, for the sales among them, and for first-time buyers. */
type Taken = { readonly entries: number; readonly sales: number; readonly agents: 0 | 1 }

const ONE_ENTRY: Taken = { entries: 1, sales: 0, agents: 0 }

// On PostgreSQL, nobody else can take numbers until the transaction ends. Listeners are notified when it is committed.
const NEXT = {
  sqlite: `
    SELECT coalesce(max(number), 0) + 1 AS number, (SELECT coalesce(max(seq), 0) + 1 FROM changes) AS seq,
      (SELECT coalesce(max(id), 0) + 1 FROM agents) AS agent,
      max($now, coalesce((SELECT at FROM changes ORDER BY number DESC LIMIT 1), 0)) AS at
    FROM changes`,
  postgres: `
    UPDATE counters SET number = number + $entries, seq = seq + $sales, agent = agent + $agents, at = greatest(at, $now)
    RETURNING number - $entries + 1 AS number, seq - $sales + 1 AS seq, agent - $agents + 1 AS agent, at, pg_notify('${CHANNEL}', '')`,
}

/** Takes the next numbers. Time in the log never decreases, even if the clock does. */
export const takeNextEntry = (now: UnixMs, taken: Taken = ONE_ENTRY): Tx<Entry> =>
  queryOne<Entry>(NEXT, { now, ...taken })

const INSERT = `
  INSERT INTO changes (number, at, kind, seq, block, agent, hidden, name, framework, pixels, message, link)
  VALUES ($number, $at, $kind, $seq, $block, $agent, $hidden, $name, $framework, $pixels, $message, $link)`

export const writeEntry = (entry: ChangeEntry): Tx<void> =>
  changeRows('an entry to write', INSERT, { ...NO_WORD, ...entry })

/** The fields that all sales of one purchase share. */
type Sales = Entry & { readonly profile: Profile; readonly content: BlockContent }

const INSERT_SALES = `
  INSERT INTO changes (number, at, kind, seq, block, agent, name, framework, pixels, message, link{sqlite , sum})
  SELECT $number + key, $at, 'sale', $seq + key, value, $agent, $name, $framework,
    substr({bytes $pixels}, ${PIXELS_PER_BLOCK} * key + 1, ${PIXELS_PER_BLOCK}), $message, $link{sqlite , ${renderSumSql('key')}}
  FROM {each integer $blocks} AS sold ORDER BY key`

/** Writes one sale per block; the content has the pixels of one block after another. */
export function* writeSales({ profile, content, ...entry }: Sales, blocks: readonly BlockIndex[]): Tx<void> {
  const { number, at, seq, agent } = entry
  const computeSums = () =>
    computeChecksums('changes', blocks.length, {
      ...profile,
      ...toContentColumns(content),
      number: (key) => number + key,
      at,
      kind: 'sale',
      seq: (key) => seq + key,
      block: (key) => blocks[key] ?? -1,
      agent,
      hidden: null,
    })
  yield* changeRows(
    'sales to write',
    INSERT_SALES,
    { ...entry, ...profile, ...content, blocks, sums: computeSums },
    blocks.length,
  )
}

/** The content of several blocks, with the pixels of one block after another, as columns of their rows. */
export const toContentColumns = ({ pixels, message, link }: BlockContent) => ({
  pixels: pixels && ((key: number) => sliceBlockPixels(pixels, key)),
  message,
  link,
})

/**
 * The contents of blocks as values of a statement: a list for the fragment in `CONTENTS`, and the pixels of one block
 * after another.
 */
export function toContentList(contents: readonly (BlockContent & { readonly block: BlockIndex })[]) {
  const pixels = new Uint8Array(contents.length * PIXELS_PER_BLOCK)
  for (const [at, content] of contents.entries())
    if (content.pixels !== null) pixels.set(content.pixels, at * PIXELS_PER_BLOCK)
  const list = contents.map((content) => ({
    block: content.block,
    drawn: content.pixels === null ? 0 : 1,
    message: content.message,
    link: content.link,
  }))
  return { contents: list, pixels }
}

/**
 * The fragment that reads the list that `toContentList` makes, and the SQL for the pixels of one member of the list.
 */
export const CONTENTS = '{rows $contents block:integer drawn:integer message:text link:text} AS content'
export const PIXELS_OF_CONTENT = `
  CASE WHEN content.drawn = 1 THEN substr({bytes $pixels}, ${PIXELS_PER_BLOCK} * content.key + 1, ${PIXELS_PER_BLOCK}) END`

const INSERT_REPAINTS = `
  INSERT INTO changes (number, at, kind, block, pixels, message, link)
  SELECT $number + content.key, $at, 'repaint', content.block, ${PIXELS_OF_CONTENT}, content.message, content.link
  FROM ${CONTENTS} ORDER BY content.key`

/** Writes the repaints of blocks, as readers should see them. */
export function* writeRepaints(
  { number, at }: Entry,
  shown: readonly (BlockContent & { readonly block: BlockIndex })[],
): Tx<void> {
  const [only, ...others] = shown
  if (only !== undefined && others.length === 0) yield* writeEntry({ number, at, kind: 'repaint', ...only })
  else yield* changeRows('repaints to write', INSERT_REPAINTS, { number, at, ...toContentList(shown) }, shown.length)
}

// An entry that hid a wallet's names also hides them in earlier entries, so compaction keeps it.
const OUTLINE = `
  SELECT number, at,
    CASE WHEN {damaged changes number} THEN NULL
      WHEN kind = 'repaint' THEN 'block ' || block
      WHEN kind = 'identity' AND number NOT IN (SELECT through FROM moderated_agents) THEN 'wallet ' || agent
    END AS subject,
    CASE WHEN number < CASE kind
        WHEN 'repaint' THEN (SELECT changed FROM blocks WHERE i = block)
        WHEN 'identity' THEN (SELECT changed FROM agents WHERE id = agent)
      END THEN 1 ELSE 0 END AS superseded
  FROM changes WHERE number > $after ORDER BY number LIMIT $limit`
const DROP = 'DELETE FROM changes WHERE number {in bigint $numbers}'

/** The compaction of a store's log. */
export const createCompaction = ({ query, write }: Driver): LogCompaction => ({
  readOutline: (after, limit) => query(() => queryRows<OutlinedEntry>(OUTLINE, { after, limit })),
  dropEntries: async (numbers) => void (await write(null, () => countChangedRows(DROP, { numbers }))),
})

/** A row of `changes`, with the wallet of its agent. */
export type ChangeRow = ContentRow &
  Profile &
  Pick<Change, 'number' | 'at'> &
  (
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

/** An entry, with the columns that its kind uses. */
type ChangeEntry = Pick<Change, 'number' | 'at' | 'kind'> &
  Partial<ContentRow & Profile & Readonly<Record<'block' | 'agent' | 'hidden', number>>>

/** Empty values for the columns that only some kinds of entry use. */
const NO_WORD = {
  seq: null,
  block: null,
  agent: null,
  hidden: null,
  name: null,
  framework: null,
  pixels: null,
  message: null,
  link: null,
} as const

/** The log entry in a row of `changes`. */
export function toChange(row: ChangeRow): Change {
  const { number, at } = row
  const profile = { name: row.name, framework: row.framework }
  switch (row.kind) {
    case 'sale': {
      const { seq, block, agent, wallet } = row
      return { number, at, kind: 'sale', seq, block, content: toContent(row), agent, wallet, profile }
    }
    case 'repaint':
      return { number, at, kind: 'repaint', block: row.block, content: toContent(row) }
    case 'hide':
    case 'unhide':
      return {
        number,
        at,
        kind: row.kind,
        block: row.block,
        hidden: toHiddenParts(row.hidden),
        content: toContent(row),
      }
    case 'identity':
      return { number, at, kind: 'identity', agent: row.agent, profile }
  }
}
