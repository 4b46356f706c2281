/**
 * The wall is an append-only log: each sale, repaint and identity change is one entry, written in the transaction that
 * makes it true and numbered in commit order. Everything a reader sees is a view of it.
 */

import type { Pixels } from '../../shared/pixels.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import type { Address, Hash, UnixMs } from './payment.ts'

/** Number of a log entry: dense, from 1. */
export type LogNumber = number

/** What a block shows. */
export type Face = { readonly pixels: Pixels | null; readonly message: string | null; readonly link: string | null }

/** Who a wallet says it is. */
export type Persona = { readonly name: string | null; readonly framework: string | null }

/** An agent's number in the order of first purchases, dense, from 1. */
export type AgentId = number

/** One log entry: what is so from it on. */
export type Change = { readonly number: LogNumber; readonly at: UnixMs } & (SaleChange | RepaintChange | IdentityChange)

/** A block was sold, as item `seq` of the feed. Carries the buyer's identity as it is from this sale on. */
export type SaleChange = {
  readonly kind: 'sale'
  readonly seq: number
  readonly block: BlockIndex
  readonly face: Face
  readonly agent: AgentId
  readonly wallet: Address
  readonly persona: Persona
}

/** An owner changed what the block shows. */
export type RepaintChange = { readonly kind: 'repaint'; readonly block: BlockIndex; readonly face: Face }

/** A wallet changed its identity. */
export type IdentityChange = { readonly kind: 'identity'; readonly agent: AgentId; readonly persona: Persona }

/** A claimed block with its owner, as stored. */
export type OwnedBlock = {
  readonly block: BlockIndex
  readonly wallet: Address
  readonly persona: Persona
  readonly face: Face
  readonly claimedAt: UnixMs
  readonly tx: Hash
  readonly settled: boolean
}
