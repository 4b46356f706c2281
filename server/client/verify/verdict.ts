/** The result of a check of a wall. */

/** The kinds of findings. */
export type FindingKind =
  | 'another_network' // the network is unknown, or the token is not the network's dollar
  | 'not_on_chain'
  | 'failed_transaction'
  | 'no_payment' // the transaction contains no payment with this nonce
  | 'another_token'
  | 'another_payer'
  | 'another_amount'
  | 'another_address'
  | 'another_transaction'
  | 'payment_used_twice'
  | 'order_changed'
  | 'payment_without_deed'
  | 'sale_without_deed'
  | 'block_without_deed'
  | 'block_sold_twice'
  | 'block_not_shown'
  | 'another_owner'

/** One finding; `message` is a complete line about it. */
export type Finding = {
  readonly kind: FindingKind
  readonly message: string
  readonly seq?: number // of the deed
  readonly nonce?: string
  readonly tx?: string
}

/** A kind of finding, and its text. */
export type Flaw = readonly [kind: FindingKind, what: string]

/** The verified totals, the findings and the notes. Blocks and amounts count only deeds whose payment is proved. */
export type Verdict = {
  readonly findings: readonly Finding[]
  readonly blocks: number
  readonly amount: bigint // atomic units
  readonly bound: number // blocks whose order was recomputed, with its picture
  readonly boundToFile: number // blocks whose order was recomputed, but bound to an image file that the wall converted
  readonly unbound: number // blocks
  readonly hiddenOrders: number // bound deeds that cannot be recomputed, because the operator hides a part
  readonly otherHosts: readonly string[] // hosts that bound orders name instead of this one
  readonly unconfirmed: number // deeds in the newest blocks of the chain
  readonly credits: { readonly open: number; readonly paidBack: number; readonly notProved: number }
  readonly noted: number // payments without a purchase that the wall or its operator noted
  readonly notedAmount: bigint // atomic units of the noted payments that may have been for blocks
  readonly plain: number // arrivals that cannot have been for blocks: without an authorization, or not in whole cents
  readonly young: number // payments without a deed that may still get one
}

/** The totals for a wall about which nothing could be proved. */
export const NOTHING_PROVED: Omit<Verdict, 'findings'> = {
  blocks: 0,
  amount: 0n,
  bound: 0,
  boundToFile: 0,
  unbound: 0,
  hiddenOrders: 0,
  otherHosts: [],
  unconfirmed: 0,
  credits: { open: 0, paidBack: 0, notProved: 0 },
  noted: 0,
  notedAmount: 0n,
  plain: 0,
  young: 0,
}
