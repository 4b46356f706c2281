/**
 * What the use cases need of the world, in the domain's words. Everything is asynchronous, because an engine behind a
 * port need not be in this process. A port of the store throws `StoreUnavailable` when nothing could be done.
 */

import type { Area } from '../shared/area.ts'
import type { BlockIndex } from '../shared/wall.ts'
import type { Bitmap, PaintPlan, PictureFlaw, SentPicture } from './domain/picture/picture.ts'
import type { Account, AccountPage, Pending } from './domain/purchase/account.ts'
import type { Statement } from './domain/purchase/balance.ts'
import type { Settling, SignatureCheck, SignedBy, Verification } from './domain/purchase/facilitator-errors.ts'
import type { Listing } from './domain/purchase/listing.ts'
import type { Address, Hash, Payment, PaymentKey, Space, Target, UnixMs } from './domain/purchase/payment.ts'
import type { Availability, Claiming, Landed, Purchase, SoldPurchase, ChainStatus } from './domain/purchase/purchase.ts'
import type { Progress, StorePosition } from './domain/store-position.ts'
import type { Edit, EditResult, Identity, IdentityResult, NamingResult, PainterNaming } from './domain/wall/edit.ts'
import type { AreaOwner, Change, LogNumber, OwnedBlock } from './domain/wall/log.ts'
import type {
  FacePart,
  ModeratedWallet,
  ModerationAct,
  ModerationResult,
  RecordedAct,
  WalletAct,
  WalletActResult,
} from './domain/wall/moderation.ts'

/**
 * Payments and what became of them; the only judge of races between them. A write throws `StaleWriteError` where the payment is
 * no longer as the caller knows it, because another run has moved it on: all rests on that, and on nobody's lease.
 */
export type Ledger = {
  /** The purchase this payment was first used for. */
  find(key: PaymentKey): Promise<Purchase | undefined>
  /**
   * Whether a target can be bought by this payer, and which purchase of the payer's goes before: one that is unanswered, unless
   * its nonce is among `attended` (runs of this process that claimed it and whose clients wait) and it is not uncertain.
   */
  availability(target: Target, payment: Payment, now: UnixMs, attended: readonly Hash[]): Promise<Availability>
  /** The payments for which a target is held: of `next` all that hold anything. */
  holders(target: Target): Promise<readonly PaymentKey[]>
  /** Whether a target can be bought by anyone. */
  space(target: Target): Promise<Exclude<Space, 'full'>>
  /** Which blocks of a target that has a place are sold or held, in the order of the wall. */
  inTheWay(target: Target): Promise<{ readonly taken: readonly BlockIndex[]; readonly held: readonly BlockIndex[] }>
  /** Holds the target for a new payment, or again for a released one, in one transaction. */
  claim(
    target: Target,
    payment: Payment,
    listing: Listing,
    head: bigint,
    now: UnixMs,
    attended: readonly Hash[],
  ): Promise<Claiming>
  /** Writes that the payer of a held block is told to wait. */
  markUncertain(purchase: Purchase): Promise<Purchase>
  /**
   * Makes the held block the payer's, numbers the sale and writes it to the log, unanswered. Final sales are answered as they
   * are.
   */
  finalize(purchase: Purchase, tx: Hash, settled: boolean, now: UnixMs): Promise<SoldPurchase>
  /** Notes that our own look at the chain has seen the transfer, in `tx`. */
  confirm(purchase: Purchase, tx: Hash): Promise<void>
  /** Notes that no reorganisation can undo the transfer, in `tx`: the sale is not looked at again. */
  markFinal(purchase: Purchase, tx: Hash): Promise<void>
  /** Notes that the chain does not show the transfer any more. The deed stays. */
  markMissing(purchase: Purchase): Promise<void>
  /** Notes that a sale will never be paid, so that it is not looked at again. The deed stays. */
  writeOff(purchase: Purchase): Promise<void>
  /**
   * Gives a held block back; `isFinal` ends the watch for a late landing. Throws `StaleWriteError` for a purchase that has become
   * uncertain since, or is held by a later attempt: somebody else may have had it settled, so that no refusal is final.
   */
  release(purchase: Purchase, isFinal: boolean): Promise<void>
  /** Gives a payment that landed its block, else the next open one, else a credit: a released one, or one not known yet. */
  fulfilLatePayment(purchase: Landed, tx: Hash, now: UnixMs): Promise<Purchase>
  /** Notes that the receipt of a sale went out to its payer. */
  markAnswered(key: PaymentKey): Promise<void>
  /**
   * Every payment to look at now: held, watched for a late landing, or sold and not seen on the chain. A sale that was
   * seen is looked at twice more: soon, while a lost payment can be settled again, and once no block of it can be replaced.
   */
  unfinished(now: UnixMs): Promise<readonly PaymentKey[]>
}

/** The ledger, for those who only look. */
export type LedgerReader = {
  /** Every block that is held for a payer now. */
  held(): Promise<readonly BlockIndex[]>
  /** How much is open. */
  pending(): Promise<Pending>
  /** What is to be told of a wallet's purchases, a page of it; what was given back for good is left out. */
  ofPayer(wallet: Address, page?: AccountPage): Promise<Account>
}

/** Claimed blocks and who owns them. */
export type Blocks = {
  owned(block: BlockIndex): Promise<OwnedBlock | undefined>
  /** Whether a block that nobody owns is held for a payer. */
  reserved(block: BlockIndex): Promise<boolean>
  /** Applies an owner's edit once; see `EditResult`. */
  edit(block: BlockIndex, edit: Edit, now: UnixMs): Promise<EditResult>
  /** Whose an area is. */
  ownerOf(area: Area): Promise<AreaOwner>
  /** Applies an owner's edit to every block of an area once, or to none. Its pixels are those of all blocks, row by row. */
  editArea(area: Area, edit: Edit, now: UnixMs): Promise<EditResult>
}

/** The ledger, for those who check it; see `Statement`. */
export type Audit = { statement(): Promise<Statement> }

/** What was settled outside of purchases: credits that were paid back, and money that no purchase is known for. */
export type Payouts = {
  /**
   * Remembers where it was paid back, or that it is stray (`STRAY_NOTE`); `false` when something was remembered of this
   * payment before, which stands. Only what was stray can be paid back later.
   */
  note(key: PaymentKey, reference: string, now: UnixMs): Promise<boolean>
  /** Whether money is accounted for: booked as stray, or settled by hand. */
  isNoted(key: PaymentKey): Promise<boolean>
}

/** What the operator withholds from readers. */
export type Moderation = {
  /** Hides parts of a claimed block, or shows them again. What its owner set, or sets meanwhile, is kept. */
  moderate(block: BlockIndex, act: ModerationAct, parts: readonly FacePart[], now: UnixMs): Promise<ModerationResult>
  /** Hides parts of what a wallet is called, or shows them again; bans it, or ends that. */
  moderateWallet(wallet: Address, act: WalletAct, now: UnixMs): Promise<WalletActResult>
  /** Wallets of which something is withheld now, or that are banned, in the order of their first purchases. */
  wallets(): Promise<readonly ModeratedWallet[]>
  /** Keeps on record what an operator does. */
  record(act: RecordedAct): Promise<void>
  /** What is on record, oldest first. */
  records(): Promise<readonly RecordedAct[]>
}

/** Wallets that have bought. */
export type Agents = {
  knows(wallet: Address): Promise<boolean>
  /** Applies a wallet's word on itself once; see `IdentityResult`. */
  identify(wallet: Address, identity: Identity, now: UnixMs): Promise<IdentityResult>
  /** Takes a wallet's word on who paints for it, which ends every naming before, those of its purchases too. */
  namePainter(wallet: Address, naming: PainterNaming): Promise<NamingResult>
}

/** The append-only log of everything visible, in commit order. What was hidden later is left out of an entry. */
export type Log = {
  /** At most `limit` changes after number `after`, oldest first. */
  after(after: number, limit: number): Promise<readonly Change[]>
  /**
   * The shortest part of the log that leads to the present: every sale and act of the operator's, and of repaints and
   * identity changes the latest of each block and agent. The last one's number is the log's.
   */
  compacted(): Promise<readonly Change[]>
}

/** How far what arrived on the chain was compared with the purchases. */
export type ChainCheckpoint = {
  /** The height up to which everything is accounted for; `undefined` on a wall that has never looked. */
  height(): Promise<bigint | undefined>
  /** Whether a payment was ever taken, whatever became of it. */
  knows(key: PaymentKey): Promise<boolean>
  /** Every amount that a payment was ever taken for. */
  prices(): Promise<readonly bigint[]>
  /** Notes that everything up to a height is accounted for; a lower one than before changes nothing. */
  reach(height: bigint): Promise<void>
}

/** An entry of the log in short. */
export type OutlinedEntry = {
  readonly number: LogNumber
  readonly at: UnixMs
  readonly repainted: BlockIndex | null // by its owner; null for every other kind
}

/** Makes the log shorter. What is dropped is in no later read of it. */
export type LogCompaction = {
  /** At most `limit` entries after number `after`, oldest first. */
  outline(after: LogNumber, limit: number): Promise<readonly OutlinedEntry[]>
  /** Drops repaints for good, all or none. Fails for one that is the last of its block in its hour, as for any other entry. */
  drop(numbers: readonly LogNumber[]): Promise<void>
}

/** The store as a whole. */
export type Store = {
  /** Whether it can be read now. */
  ready(): Promise<boolean>
  /** Writes, and changes nothing that is ever read, to learn whether what is written now is kept; `null` when it is. */
  tryWrite(): Promise<WriteFailure | null>
  /** How far it has come, in what would survive a power cut. */
  position(): Promise<StorePosition>
  /**
   * Tells each time that another store may answer than before, before anything it says is believed. While it is older than
   * what this process has seen, every port of the store is unavailable.
   */
  watch(told: (replaced: StoreReplaced) => void): void
}

/** Why nothing can be written, in a clause of ours; `standby`: a copy that must have each commit does not confirm any. */
export type WriteFailure = { readonly of: 'store-write' | 'standby'; readonly reason: string }

/** A store that may be another one than before, and how far it and that one had come. */
export type StoreReplaced = { readonly progress: Progress; readonly seen: Progress; readonly isOlder: boolean }

/** How far the store had come when it was last seen, kept outside of it, so that an older copy put back is noticed. */
export type Witness = {
  /** `undefined` where there is none. Throws where it cannot be read. */
  read(): Promise<StorePosition | undefined>
  /** Replaces it, all or nothing. Throws where that cannot be done. */
  write(position: StorePosition): Promise<void>
}

/** Which of several processes on one store works on a payment. Only answers rest on it, never money. */
export type Leases = {
  /** Takes or renews; `false` while another process has it. It ends by itself after `forMs`. */
  take(key: PaymentKey, forMs: number): Promise<boolean>
  give(key: PaymentKey): Promise<void>
  /** Whether another process has it. */
  isTaken(key: PaymentKey): Promise<boolean>
}

/** Work that one of several processes on one store does at a time. Nothing but the number of questions asked rests on it. */
export type ExclusiveJobs = {
  /** Runs `work` unless another process is at the same job; answers whether it ran. A process that stands still loses its job. */
  run(job: 'sweep' | 'compact', work: () => Promise<void>): Promise<boolean>
}

/** Tells that the log may have grown, by another process's hand too. A hint: what is missed is found by asking. */
export type ChangeNotifier = { listen(rung: () => void): () => void } // answers how to stop listening

/** The x402 facilitator: checks payments and broadcasts them. Its word proves little; see `Settling`. */
export type Facilitator = {
  /** `target` names the resource paid for. */
  verify(target: Target, payment: Payment, manner?: Manner): Promise<Verification>
  settle(target: Target, payment: Payment, manner?: Manner): Promise<Settling>
  /** Whether it takes payments of our scheme and network; `unavailable` when it does not answer. */
  supports(): Promise<'yes' | 'no' | 'unavailable'>
  /** The addresses that it broadcasts from on our network; `unknown` where it does not tell them. */
  signers(): Promise<readonly Address[] | 'unknown' | 'unavailable'>
}

/** How a facilitator is asked: within how long, in milliseconds, and whether it is sent no more than the payment itself. */
export type Manner = { readonly withinMs: number; readonly isBare: boolean }

/** One of the facilitators that payments are taken through. `host` is what operators are told of its address. */
export type RingMember = Facilitator & { readonly host: string }

/** The chain, through an endpoint of ours. */
export type Chain = {
  /** The height, and whether the authorization is used or cancelled at it. */
  read(key: PaymentKey): Promise<{ head: bigint; spent: boolean } | 'silent'>
  /**
   * What became of an authorization that was unspent at height `head`. `named` is the transaction that a facilitator named:
   * it is looked at first, and believed only for the events in it.
   */
  status(payment: Payment, head: bigint, named?: Hash): Promise<ChainStatus>
  /** Asks once whether the endpoint is the right one, and what it can do. */
  fault(): Promise<ChainHealth>
  /** The next stretch of what an address was paid in our asset, from height `from` on; see `Receipts`. */
  transfersTo(payTo: Address, from: bigint): Promise<Receipts | 'silent'>
  /** Who broadcast a transaction; `silent` also where the endpoint does not know it. */
  broadcaster(tx: Hash): Promise<Address | 'silent'>
}

/** How the chain is, in words without secrets. */
export type ChainHealth =
  | { readonly kind: 'none'; readonly head?: bigint; readonly lacks?: string } // `lacks` is what the endpoint cannot do
  | { readonly kind: 'fault'; readonly what: string } // what can never work about network and token
  | { readonly kind: 'stalled'; readonly what: string } // it makes no blocks
  | { readonly kind: 'silent'; readonly what?: string }

/** What an address was paid in one stretch of the chain. A question that covers more goes on at `next`. */
export type Receipts = {
  readonly transfers: readonly Transfer[] // in the order of the chain
  readonly next: bigint // the first height that was not looked at
  readonly isAll: boolean // whether the newest block was
}

/** Money that arrived. `nonce` is the authorization's that moved it; `null` for a plain transfer. */
export type Transfer = {
  readonly payer: Address
  readonly nonce: Hash | null
  readonly amount: bigint // atomic units
  readonly tx: Hash
  readonly height: bigint
}

/** What was read of the chain before, so that years of it are read once. A copy: what is lost is read again. */
export type ReceiptArchive = {
  read(): Promise<readonly KeptReceipts[]>
  /** Replaces it. Throws where that cannot be done. */
  write(kept: readonly KeptReceipts[]): Promise<void>
}

/** Everything an address was paid between two heights, both included. */
export type KeptReceipts = {
  readonly payee: Address
  readonly from: bigint
  readonly through: bigint
  readonly transfers: readonly Transfer[]
}

/** Signatures of wallets. */
export type Wallets = {
  /**
   * Which of `signers` signed which of `messages`. Keys are tried here first; a wallet that is a contract is asked on the
   * chain (EIP-1271, 6492) within a deadline. `busy` and `silent`: nobody could be asked, so that nothing is known of the
   * signature. `from` is where the request came from: one who sent bad ones waits behind others.
   */
  signed(
    signers: readonly Address[],
    messages: readonly string[],
    signature: `0x${string}`,
    from: string,
  ): Promise<SignedBy | Exclude<SignatureCheck, 'signed'>>
  /**
   * Whether the payer signed the payment; to be asked before anybody else is. `signed`: by its key, which is told here and
   * costs nothing, or by its contract, which is asked on the chain. `not-signed`: it is nobody's, as junk is, mostly without
   * a call. `busy`: no key made it, and too many such are being looked up. `silent`: nor did the chain answer.
   */
  signedPayment(payment: Payment): Promise<SignatureCheck>
  /**
   * Whether the token would take the payment's signature as things are: it asks the code of a payer that has some, whatever
   * the payer's key says, and a wallet that is still to be deployed has none. To be asked once a facilitator has called the signature of an admitted payment bad.
   */
  signedForToken(payment: Payment): Promise<SignatureCheck>
}

/** Pictures, read and written beside the thread that answers. */
export type Pictures = {
  /** A PNG of palette indices, each pixel as a square of `scale` x `scale`, 1 if not given. */
  encode(bitmap: Bitmap, scale?: number): Promise<Uint8Array<ArrayBuffer>>
  /** A picture of the wall's own, brought down to a size in pixels. No stranger's picture keeps it waiting. */
  shrink(bitmap: Bitmap, width: number, height: number): Promise<Bitmap>
  /** Brings a picture down to the palette, within a deadline. */
  paint(picture: SentPicture, plan: PaintPlan): Promise<Bitmap | PictureFlaw>
}

export type Clock = {
  now(): UnixMs
  /** Milliseconds since some moment, by a clock that is never set. */
  elapsed(): number
  /** Resolves after `ms`, measured by a clock that is never set, or as soon as `signal` aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

/** Where operators read; never secrets, never third parties' words. */
export type Logger = {
  note(event: string, facts?: Readonly<Record<string, string | number | boolean>>): void
  alert(event: string, facts?: Readonly<Record<string, string | number | boolean>>): void
}
