/** An operator, who copies the wall, restores an older copy, and accepts it; and a final check of the books. */

import { acceptRestoredBackup, findLostPayments } from '../../../../server/books/accept-restored-backup.ts'
import { compareBooks } from '../../../../server/domain/purchase/balance.ts'
import { toPaymentKey } from '../../../../server/domain/purchase/payment.ts'
import type { StorePosition } from '../../../../server/domain/store-position.ts'
import { readSettledResult } from '../../../support/scheduler.ts'
import { assertPromise, findRow, type Witness } from '../check.ts'
import { writeWitness, type Copy, type Operator } from '../guard.ts'
import type { Vault } from '../ledger-model.ts'
import {
  computeHeight,
  getMaxLag,
  readAuthorization,
  readTerms,
  computeTime,
  listTransfers,
  readTransfers,
  type World,
} from '../world.ts'

/** Creates an operator, who has a witness on another device, one next to the store, or none. */
export function createOperator({ prng }: World, vault: Vault): Operator {
  const keeps = prng.pick(['apart', 'beside', 'beside', 'nothing'] as const)
  const isApart = keeps === 'apart'
  return {
    vault,
    isApart,
    hasWitness: keeps !== 'nothing',
    firstLook: undefined,
    witness: undefined,
    copies: [],
    putBack: undefined,
  }
}

/**
 * Copies the wall once the wall has searched the chain. An earlier copy would not know where to begin the search, and
 * its acceptance would report that. A snapshot of the store's device includes a witness that is next to the store.
 */
export function saveCopy(world: World, operator: Operator): void {
  const position = readSettledResult(operator.vault.ports.store.readPosition())
  if (position.height === 0n) return
  operator.vault.saveCopy(operator.copies.length)
  operator.copies.push({ position, witness: operator.witness })
  world.trace(() => 'operator: copies the wall')
}

/** The copies that lack later changes of the wall. */
export function listOlderCopies({ vault, copies }: Operator): readonly Copy[] {
  const { payment, height } = readSettledResult(vault.ports.store.readPosition())
  return copies.filter(({ position }) => payment > position.payment || height > position.height)
}

/** Restores a copy while the wall is stopped, with or without the other files on its device. */
export function restoreCopy(world: World, operator: Operator, copied: Copy, witness: Witness): void {
  const { vault, copies, isApart } = operator
  vault.restoreCopy(copies.indexOf(copied))
  const isSnapshot = !isApart && world.prng.nextBoolean(0.7)
  if (isSnapshot) operator.witness = copied.witness
  const position = readSettledResult(vault.ports.store.readPosition())
  const seen = operator.witness
  const isBehind =
    seen !== undefined &&
    (position.change < seen.change || position.payment < seen.payment || position.height < seen.height)
  operator.putBack = { isBehind, lost: listLostPayments(world, operator, witness) }
  forgetLostPayments(world, witness)
  const { size } = operator.putBack.lost
  world.trace(() => `operator: restores the copy${isSnapshot ? ', with its witness' : ''}: ${size} payments are lost`)
}

/**
 * Payments that every endpoint shows but the copy lacks, to any address in the copy, the witness or the settings.
 * Excludes payments that the copy already has among its payouts.
 */
function listLostPayments(
  world: World,
  { vault, witness: seen }: Operator,
  witness: Witness,
): ReadonlyMap<string, string> {
  const { store, payouts, checkpoint } = vault.ports
  const { height: from } = readSettledResult(store.readPosition())
  const shown = BigInt(computeHeight(world) - getMaxLag(world))
  const payees = new Set([
    ...readSettledResult(checkpoint.listPayees()),
    ...(seen?.payees ?? []),
    readTerms(world).payTo,
  ])
  const lost = listTransfers(world).filter(
    ({ to, height, ...key }) =>
      height > from &&
      height <= shown &&
      payees.has(to) &&
      findRow(witness, toPaymentKey(key)) === undefined &&
      readSettledResult(payouts.findReference(key)) === undefined,
  )
  return new Map(lost.map((transfer) => [toPaymentKey(transfer), transfer.tx]))
}

/**
 * Forgets observations about payments that the copy does not know: the wall no longer settles them, and may store and
 * credit them again. Pictures that were stored after the copy was made are forgotten too.
 */
function forgetLostPayments(world: World, witness: Witness): void {
  for (const sent of world.pool) if (findRow(witness, toPaymentKey(sent.payment)) === undefined) sent.isForgotten = true
  for (const known of [witness.written, witness.claimed])
    for (const key of known.keys()) if (findRow(witness, key) === undefined) known.delete(key)
  for (const key of witness.kept.keys()) {
    const row = findRow(witness, key)
    if (row === undefined) witness.kept.delete(key)
    else witness.kept.set(key, row.listing)
  }
  for (const key of witness.credited) if (findRow(witness, key)?.state.kind !== 'credited') witness.credited.delete(key)
}

/**
 * Whether a wall on a restored copy must not sell yet, because the witness is ahead of the copy or the chain shows lost
 * payments.
 */
export function mustWait(world: World, { putBack, witness, isApart }: Operator, book: Pick<Witness, 'book'>) {
  if (putBack === undefined) return false
  if (putBack.isBehind) return true
  if (isApart && witness !== undefined) return false
  return listTransfers(world).some((transfer) => {
    const key = toPaymentKey(transfer)
    return putBack.lost.get(key) === transfer.tx && findRow(book, key) === undefined
  })
}

/** Accepts the copy while the wall is stopped, unless the chain does not respond. */
export function acceptCopy(world: World, operator: Operator, seenBy: Witness): void {
  const { store, checkpoint, payouts } = operator.vault.ports
  const sight = { newest: 0 }
  const chain: Parameters<typeof findLostPayments>[0]['chain'] = {
    readAuthorization: async (key) => readAuthorization(world, key, sight),
    readTransfers: async (payTo, from) => readTransfers(world, payTo, from, sight),
  }
  const witness = { write: async (seen: StorePosition) => writeWitness(operator, seen) }
  const deps = {
    chain,
    checkpoint,
    payouts,
    store,
    witness,
    terms: readTerms(world),
    clock: { now: () => computeTime(world) },
  }
  const lost = readSettledResult(findLostPayments(deps, operator.witness))
  world.trace(() => `operator: accepts the copy: ${lost === 'silent' ? lost : lost.orphans.length}`)
  if (lost === 'silent') return
  readSettledResult(acceptRestoredBackup(deps, lost))
  for (const orphan of lost.orphans) {
    const key = toPaymentKey(orphan)
    assertPromise(
      findRow(seenBy, key)?.state.kind === 'credited',
      'a payment lost by an older copy is a credit once the copy is accepted',
      key,
    )
    seenBy.accepted.add(key)
  }
  operator.putBack = undefined
}

/**
 * Checks that every transfer that arrived is a sale or a credit, and that every sale was paid; for each exception, the
 * operator must have got an alert.
 */
export function checkBooks(world: World, { vault, firstLook }: Operator, witness: Witness): void {
  const statement = readSettledResult(vault.ports.audit.readStatement())
  // If only the lost history used a payment address, the wall cannot know that it must search that address.
  const payees = new Set<string>([...statement.payees, readTerms(world).payTo])
  const arrivals = listTransfers(world).filter(({ to }) => payees.has(to))
  const { unpaid, landed, orphans } = compareBooks(statement, arrivals, statement)
  for (const sale of unpaid)
    assertPromise(
      witness.alerts.has(toPaymentKey(sale)),
      'the books: the operator gets an alert for an unpaid sale',
      toPaymentKey(sale),
    )
  for (const { payer, nonce, amount } of landed) {
    const key = `${payer}:${nonce}`
    assertPromise(
      findRow(witness, key)?.payment.amount !== amount,
      'the books: money that arrived is a sale or a credit',
      key,
    )
  }
  for (const { payer, nonce } of orphans) {
    const key = `${payer}:${nonce}`
    const isBefore = (world.spendings.get(key)?.height ?? 0) <= (firstLook ?? Infinity)
    assertPromise(
      isBefore || witness.strays.has(key),
      'the books: the operator gets an alert for money without a known purchase',
      key,
    )
  }
}
