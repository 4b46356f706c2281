/**
 * The ports: the interfaces to the outside that the use cases need. Most methods are asynchronous, because an engine
 * may be in another process. Ports of the store throw `StoreUnavailable` if nothing was done.
 */

import type { Area } from '../shared/area.ts'
import type { Arrival } from '../shared/chain/arrivals.ts'
import type { BlockIndex } from '../shared/wall.ts'
import type { MaybeAsync } from './domain/maybe-async.ts'
import type { Bitmap, PaintPlan, PictureFlaw, SentPicture } from './domain/picture/picture.ts'
import type { Account, AccountPage, NumberedPurchase, Pending } from './domain/purchase/account.ts'
import type { OwedPayment, SoldPayment } from './domain/purchase/deeds.ts'
import type { SettleResult, SignatureCheck, SignedBy, VerifyResult } from './domain/purchase/facilitator-errors.ts'
import type { Listing } from './domain/purchase/listing.ts'
import type {
  Address,
  Availability,
  Hash,
  Payment,
  PaymentKey,
  Target,
  UnixMs,
  WatchedPayment,
} from './domain/purchase/payment.ts'
import type {
  AvailabilityCheck,
  ClaimResult,
  Purchase,
  SoldPurchase,
  ChainStatus,
  UnclaimedPayment,
} from './domain/purchase/purchase.ts'
import type { Progress, StorePosition } from './domain/store-position.ts'
import type { Edit, EditResult, Identity, IdentityResult, NamingResult, PainterNaming } from './domain/wall/edit.ts'
import type { AreaOwner, Change, OwnedBlock } from './domain/wall/log.ts'
import type {
  ContentPart,
  ModeratedWallet,
  ModerationAct,
  ModerationResult,
  RecordedAct,
  WalletAct,
  WalletActResult,
} from './domain/wall/moderation.ts'

/**
 * Payments and their purchases. The ledger decides all races between payments. A write throws `StaleWriteError` if the
 * payment is no longer in the state that the caller knows, because another run has changed it. Money depends on this
 * check alone, not on leases.
 */
export type Ledger = {
  /** The purchase that this payment was first used for. */
  find(key: PaymentKey): Promise<Purchase | undefined>
  /**
   * Whether this payer can buy a target, and the earlier purchase of the payer that must be resolved first, if any.
   * A purchase that is not uncertain is ignored if `active` has its nonce: a run of this process serves its client.
   */
  checkAvailability(target: Target, payment: Payment, now: UnixMs, active: readonly Hash[]): Promise<AvailabilityCheck>
  /** The payments that hold a target; for `next`, all payments that hold a block. */
  listHolders(target: Target): Promise<readonly PaymentKey[]>
  /** Whether a target can be bought, regardless of the payer. */
  checkSpace(target: Target): MaybeAsync<Exclude<Availability, 'full'>>
  /** The sold or held blocks of a target that has a position, in the order of the wall. */
  listUnavailable(
    target: Target,
  ): Promise<{ readonly taken: readonly BlockIndex[]; readonly held: readonly BlockIndex[] }>
  /**
   * Holds the target for a new or a released payment, in one transaction. A released payment keeps its first target and
   * listing, but takes the picture of `listing` if its own listing has none.
   */
  claim(
    target: Target,
    payment: Payment,
    listing: Listing,
    head: bigint,
    now: UnixMs,
    activeNonces: readonly Hash[],
  ): Promise<ClaimResult>
  /** Records that the payer of a held block was asked to wait. */
  markUncertain(purchase: Purchase): Promise<Purchase>
  /**
   * Makes the payer the owner of the held block, numbers the sale, writes it to the log and marks it as unanswered.
   * If the sale already exists, returns it; if `settled`, first records that the chain shows its transfer.
   */
  finalize(purchase: Purchase, tx: Hash, settled: boolean, now: UnixMs): Promise<SoldPurchase>
  /** Records that our own chain check has seen the transfer, in `tx`. */
  confirm(purchase: Purchase, tx: Hash): Promise<void>
  /** Records that no reorganisation can undo the transfer, in `tx`. The sale or credit is not checked again. */
  markFinal(purchase: Purchase, tx: Hash): Promise<void>
  /** Records that the chain no longer shows the transfer. The deed stays. */
  markMissing(purchase: Purchase): Promise<void>
  /** Records that a sale or a credit will never be paid, and ends its checks. The deed stays; the credit ends. */
  writeOff(purchase: Purchase): Promise<void>
  /**
   * Releases a held block. `isFinal` ends the watch for a late payment. Throws `StaleWriteError` for a purchase that
   * has become uncertain since it was read, or that a later attempt holds. Another run may have settled such a
   * purchase, so no rejection is final.
   */
  release(purchase: Purchase, isFinal: boolean): Promise<void>
  /**
   * Stores a payment that was rejected before anything was held for it. It is stored as a released payment, because it
   * may still settle. Throws `StaleWriteError` for a known payment.
   */
  recordUnclaimed(payment: UnclaimedPayment, now: UnixMs): Promise<Purchase>
  /** If a released payment has settled, gives it its block, or else the next open one, or else a credit. */
  fulfilLatePayment(purchase: Purchase, tx: Hash, now: UnixMs): Promise<Purchase>
  /**
   * Records, before the response is sent, that a later payment of the payer (nonce `to`) is answered with the receipt
   * of an unanswered sale. That payment is never claimed. Returns `false` if this reuse is not allowed: the receipt was
   * already sent, or the payment has its own purchase.
   */
  reuseReceipt(sale: SoldPurchase, to: Hash): Promise<boolean>
  /** Records that the receipt of a sale was sent to its payer. */
  markAnswered(key: PaymentKey): Promise<void>
  /**
   * Every payment to check now: held, watched for a late settlement, or sold and not seen on the chain. A sale that was
   * seen on the chain is checked twice more: soon, while a lost payment can be settled again, and later, once no
   * reorganisation can replace the transfer. A credit is also checked at that later time.
   */
  listUnfinished(now: UnixMs): Promise<readonly PaymentKey[]>
}

/** Read access to the ledger. */
export type LedgerReader = {
  /** All blocks that are held now. */
  listHeld(): Promise<readonly BlockIndex[]>
  /** How many purchases are open, and since when the oldest has been. */
  countPending(): Promise<Pending>
  /** A page of a wallet's purchases, without those that were released permanently. */
  readAccount(wallet: Address, page?: AccountPage): Promise<Account>
  /** At most `limit` purchases of a wallet with numbers below `before`, whatever their outcome, newest first. */
  listPurchases(wallet: Address, before: number, limit: number): Promise<readonly NumberedPurchase[]>
  /** At most `limit` payments that bought something, in the order of their first sales, after sale number `after`. */
  listSold(after: number, limit: number): Promise<readonly SoldPayment[]>
  /**
   * At most `limit` payments that bought nothing, skipping the first `after`. Credits come before money that was only
   * recorded; each group is in the order in which it was stored.
   */
  listOwed(after: number, limit: number): Promise<readonly OwedPayment[]>
}

/** Claimed blocks and their owners. */
export type Blocks = {
  /** A block's owner and content. If no other process writes, returns the same object until something is written. */
  findOwned(block: BlockIndex): MaybeAsync<OwnedBlock | undefined>
  /** Whether an unowned block is held for a payer. */
  isReserved(block: BlockIndex): Promise<boolean>
  /** Applies an edit once; see `EditResult`. */
  edit(block: BlockIndex, edit: Edit, now: UnixMs): Promise<EditResult>
  /** The owner of an area. */
  findOwner(area: Area): Promise<AreaOwner>
  /** Applies an edit to each block of an area, or to none. The edit has the pixels of each block, row by row. */
  editArea(area: Area, edit: Edit, now: UnixMs): Promise<EditResult>
}

/** Money that was handled outside of purchases: credits that were paid back, and payments without a purchase. */
export type Payouts = {
  /**
   * Records where money was paid back, or that it is stray (see `isStray`). Returns `false`, and changes nothing, if
   * this payment already has a final record. Only a record as stray can be replaced later, for example by a payout.
   */
  recordReference(key: PaymentKey, reference: string, now: UnixMs): Promise<boolean>
  /** The reference of money that was paid back or is recorded as stray; `undefined` for money without a record. */
  findReference(key: PaymentKey): Promise<string | undefined>
  /** Records money without a purchase as a credit, owed to its payer. Throws `StaleWriteError` for a known payment. */
  recordCredit(payment: UnclaimedPayment, tx: Hash, now: UnixMs): Promise<void>
}

/** Moderation: what the operator hides from readers. */
export type Moderation = {
  /** Hides parts of a claimed block, or shows them again. The owner's content is kept, including later changes. */
  moderate(block: BlockIndex, act: ModerationAct, parts: readonly ContentPart[], now: UnixMs): Promise<ModerationResult>
  /** Hides the name or framework of a wallet, or shows it again; bans a wallet, or ends the ban. */
  moderateWallet(wallet: Address, act: WalletAct, now: UnixMs): Promise<WalletActResult>
  /** Wallets with hidden parts or a ban, in the order of their first purchases. */
  listWallets(): Promise<readonly ModeratedWallet[]>
  /** Records an action of an operator. */
  recordAct(act: RecordedAct): Promise<void>
  /** The records, oldest first. */
  listRecords(): Promise<readonly RecordedAct[]>
}

/** Wallets that have bought blocks. */
export type Agents = {
  isKnown(wallet: Address): Promise<boolean>
  /** Applies a registration once; see `IdentityResult`. */
  register(wallet: Address, identity: Identity, now: UnixMs): Promise<IdentityResult>
  /** Names the painter of a wallet. This painter replaces all earlier ones, including those that purchases named. */
  namePainter(wallet: Address, naming: PainterNaming): Promise<NamingResult>
}

/** The append-only log of everything visible, in commit order. Entries omit content that was hidden later. */
export type Log = {
  /** At most `limit` changes after number `after`, oldest first. */
  readAfter(after: number, limit: number): Promise<readonly Change[]>
  /**
   * The shortest part of the log that leads to the present state: every sale, every action of the operator, the latest
   * repaint of each block and the latest identity of each agent. Its last entry has the number of the log.
   */
  readCompacted(): Promise<readonly Change[]>
}

/** The last chain block whose payments were compared with the purchases. */
export type ChainCheckpoint = {
  /** The height up to which everything is accounted for; `undefined` before the first comparison. */
  readHeight(): Promise<bigint | undefined>
  /** Whether a payment with this key was ever accepted, whatever its outcome. */
  isKnown(key: PaymentKey): Promise<boolean>
  /** All addresses to which accepted payments were made, or which `addPayees` recorded. */
  listPayees(): Promise<readonly Address[]>
  /** Records addresses at which the wall asks to be paid, before it accepts a payment to them. */
  addPayees(payees: readonly Address[]): Promise<void>
  /** When the operator last accepted a restored copy; `undefined` if never. */
  readAcceptanceTime(): Promise<UnixMs | undefined>
  recordAcceptance(now: UnixMs): Promise<void>
  /** Records that everything up to a height is accounted for. A lower height than before changes nothing. */
  advanceTo(height: bigint): Promise<void>
}

/** The store as a whole. */
export type Store = {
  /** Whether the store can be read now. */
  isReadable(): Promise<boolean>
  /** Makes a test write that no read shows; `null` if it was stored, otherwise the reason. */
  tryWrite(): Promise<WriteFailure | null>
  /** The store's position, counting only what would survive a power failure. */
  readPosition(): Promise<StorePosition>
  /**
   * Calls `report` if the store that responds may not be the same as before. The call comes before any result of that
   * store is used. While that store is older than what this process has seen, all ports of the store are unavailable.
   */
  watchForReplacement(report: (replaced: StoreReplaced) => void): void
}

/** Why nothing can be written, in the wall's own words. `standby`: a synchronous standby does not confirm commits. */
export type WriteFailure = { readonly of: 'store-write' | 'standby'; readonly reason: string }

/** A store that may have replaced another one, and the progress of both. */
export type StoreReplaced = { readonly progress: Progress; readonly seen: Progress; readonly isOlder: boolean }

/** The last known position of the store, kept outside of it, so that a restored older copy is noticed. */
export type Witness = {
  /** Returns `undefined` if there is no witness. Throws if the witness cannot be read. */
  read(): Promise<StorePosition | undefined>
  /** Replaces the witness atomically. Throws if that fails. */
  write(position: StorePosition): Promise<void>
}

/**
 * Leases: which of several processes on one store works on a payment. They save work, and show which process may have
 * sent a payment to a facilitator; whether money moves never depends on them.
 */
export type Leases = {
  /**
   * Takes or renews a lease for `forMs`. Returns `first`, or `again` if another process had the lease in the last few
   * minutes; `false` while another process has it.
   */
  take(key: PaymentKey, forMs: number): Promise<'first' | 'again' | false>
  release(key: PaymentKey): Promise<void>
  /** Whether another process has the lease. */
  isTaken(key: PaymentKey): Promise<boolean>
}

/** Jobs that only one process on a store runs at a time. This saves calls to the chain; nothing else depends on it. */
export type ExclusiveJobs = {
  /** Runs `work` unless another process runs the job; returns whether it ran. A process that hangs loses its job. */
  run(job: 'sweep' | 'compact' | 'deliver', work: () => Promise<void>): Promise<boolean>
}

/**
 * Notifies that the log may have grown, even if another process wrote to it. A notification is a hint: polling finds
 * what the notifier misses.
 */
export type ChangeNotifier = { listen(notify: () => void): () => void } // returns a function that stops listening

/** The x402 facilitator, which verifies and settles payments. Its answers prove little; see `SettleResult`. */
export type Facilitator = {
  /** `target` is the resource that is paid for. */
  verify(target: Target, payment: Payment, manner?: Manner): Promise<VerifyResult>
  settle(target: Target, payment: Payment, manner?: Manner): Promise<SettleResult>
  /** Whether the facilitator supports our scheme and network; `unavailable` if it is silent, or fails the probe. */
  checkSupport(probe?: FacilitatorProbe): Promise<'yes' | 'no' | 'unavailable'>
}

/** How a facilitator is probed: `verify` also makes it verify a payment that nobody can make. */
export type FacilitatorProbe = 'supported' | 'verify'

/** How a facilitator is called: `withinMs` is the time limit, and `isBare` omits everything but the payment. */
export type Manner = { readonly withinMs: number; readonly isBare: boolean }

/** One of several facilitators. `host` is the part of its address that operators see. */
export type RingMember = Facilitator & { readonly host: string }

/** The chain, through the endpoints of the operator. */
export type Chain = {
  /** The current height, and whether the authorization is used or cancelled at that height. */
  readAuthorization(key: PaymentKey): Promise<{ head: bigint; spent: boolean } | 'silent'>
  /**
   * The state of an authorization that was unspent at height `head`. `named` is the transaction that a facilitator
   * named. It is checked first, but only its events prove a payment, not the word of the facilitator.
   */
  readPaymentStatus(payment: WatchedPayment, head: bigint, named?: Hash): Promise<ChainStatus>
  /** How much of our asset a wallet holds at the newest block, in atomic units. */
  readBalance(wallet: Address): Promise<bigint | 'silent'>
  /** Checks whether the endpoints serve the right network, and what they can do. */
  checkHealth(): Promise<ChainHealth>
  /** Payments to an address in our asset, from height `from` on; see `Receipts`. */
  readTransfers(payTo: Address, from: bigint): Promise<Receipts | 'silent'>
}

/** The health of the chain endpoints, in words without secrets. */
export type ChainHealth =
  | { readonly kind: 'none'; readonly head?: bigint; readonly lacks?: string } // `lacks`: what the endpoint does not support
  | { readonly kind: 'fault'; readonly what: string } // wrong network or token: it can never work
  | { readonly kind: 'stalled'; readonly what: string } // the chain makes no blocks
  | { readonly kind: 'silent'; readonly what?: string }

/** Payments in a range of heights. A longer query continues at `next`. */
export type Receipts = {
  readonly transfers: readonly Transfer[] // in the order of the chain
  readonly next: bigint // the first height that was not read
  readonly isAll: boolean // whether the newest block was read
}

/** A payment on the chain, with the height of its block. */
export type Transfer = Arrival & { readonly height: bigint }

/** A cache of payments read from the chain, so that years of the chain are read only once. */
export type ReceiptArchive = {
  read(): Promise<readonly KeptReceipts[]>
  /** Replaces the cache. Throws if that fails. */
  write(kept: readonly KeptReceipts[]): Promise<void>
}

/** All payments to an address between two heights, both included. */
export type KeptReceipts = {
  readonly payee: Address
  readonly from: bigint
  readonly through: bigint
  readonly transfers: readonly Transfer[]
}

/** Checks signatures of wallets. */
export type Wallets = {
  /**
   * Which of `signers` signed which of `messages`. Key signatures are checked first, in this process; contract wallets
   * are queried on the chain (EIP-1271, EIP-6492) within a time limit. `busy` and `silent` mean that the chain could
   * not be queried, so it is not known whether the signature is valid. `from` is the client's address: clients that
   * sent invalid signatures wait behind others.
   */
  findSigner(
    signers: readonly Address[],
    messages: readonly string[],
    signature: `0x${string}`,
    from: string,
  ): Promise<SignedBy | Exclude<SignatureCheck, 'signed'>>
  /**
   * Whether the payer signed the payment. This is checked before any facilitator is called. `signed`: by the payer's
   * key, which needs no chain call, or by its contract, which is queried on the chain. `not-signed`: by neither, which
   * usually needs no chain call. `busy`: not by a key, and too many contracts are being queried. `silent`: not by a
   * key, and the chain did not respond.
   */
  checkPaymentSignature(payment: Payment): Promise<SignatureCheck>
  /**
   * Whether the token would accept the signature of the payment now. The token queries the code of a payer that has
   * code, even if its key signed; a wallet that is not deployed yet has no code. This is checked after a facilitator
   * has rejected the signature of a payment that `checkPaymentSignature` accepted.
   */
  checkTokenSignature(payment: Payment): Promise<SignatureCheck>
}

/** Encodes and decodes pictures in other threads. Bitmaps move to those threads, and are empty afterwards. */
export type Pictures = {
  /** Encodes palette indices as PNG, each pixel as a square of `scale` x `scale` pixels (default 1). */
  encode(bitmap: Bitmap, scale?: number): Promise<Uint8Array<ArrayBuffer>>
  /** Scales a picture of the wall down to a size in pixels. The scaling does not wait behind pictures of clients. */
  shrink(bitmap: Bitmap, width: number, height: number): Promise<Bitmap>
  /**
   * Converts a picture to the palette in limited time. A paid picture never waits behind a free one, and senders of
   * each kind take turns.
   */
  convertToPalette(picture: SentPicture, plan: PaintPlan, sender: PictureSender): Promise<Bitmap | PictureFlaw>
}

/** The sender of a picture: a client by its address, or a payer with a valid payment. */
export type PictureSender = { readonly kind: 'client' | 'payer'; readonly who: string }

export type Clock = {
  now(): UnixMs
  /** Milliseconds since an arbitrary moment, by a monotonic clock. */
  elapsed(): number
  /** Resolves after `ms` by the monotonic clock, or when `signal` aborts. */
  wait(ms: number, signal?: AbortSignal): Promise<void>
}

/** The journal of the operator. It contains no secrets and no text from third parties. */
export type Logger = {
  note(event: string, facts?: Readonly<Record<string, string | number | boolean>>): void
  alert(event: string, facts?: Readonly<Record<string, string | number | boolean>>): void
}
