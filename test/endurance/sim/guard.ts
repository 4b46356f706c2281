/** Checks whether the book of a history's server is an older copy, and models what the operator knows about it. */

import { createRestoredBackupCheck, type RestoredBackupCheck } from '../../../server/books/check-restored-backup.ts'
import { createWitnessKeeper, type WitnessKeeper } from '../../../server/books/keep-witness.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { Terms } from '../../../server/domain/purchase/payment.ts'
import type { StorePosition } from '../../../server/domain/store-position.ts'
import type { Chain, Clock, Logger, Witness } from '../../../server/ports.ts'
import type { Vault } from './ledger-model.ts'
import { drawFault, type World } from './world.ts'

/** An operator, with its copies of the wall. */
export type Operator = {
  readonly vault: Vault
  readonly isApart: boolean // whether the witness is on another device than the store
  readonly hasWitness: boolean
  firstLook: number | undefined // the height from which the wall searches for payments on the chain
  witness: StorePosition | undefined
  readonly copies: Copy[] // in the order in which they were made
  putBack: PutBack | undefined // until a restored copy is accepted
}

/** A copy of the store as it was at `position`, and its witness at that moment. */
export type Copy = { readonly position: StorePosition; readonly witness: StorePosition | undefined }

/** The signs that the store is an older copy. */
type PutBack = { readonly isBehind: boolean; readonly lost: ReadonlyMap<string, string> } // `lost`: the transaction of each lost payment

/** The check that one server makes before it sells, and the keeper of its witness. */
export type Guard = { readonly restored: RestoredBackupCheck; readonly witnessing: WitnessKeeper }

type Around = {
  readonly chain: Chain
  readonly terms: Terms
  readonly clock: Clock
  readonly logger: Logger
}

/** Creates one server's check for an older copy, and the keeper of its witness. */
export function createGuard(world: World, operator: Operator, owner: object, around: Around): Guard {
  const { store, checkpoint, payouts } = operator.vault.ports
  const callStore = <T>(act: () => Promise<T> | T): Promise<T> =>
    world.scheduler.call(owner, () => {
      if (drawFault(world, 'storeBusy')) throw new StoreUnavailable('busy')
      return act()
    })
  const readPosition = () => callStore(() => store.readPosition())
  let isFirst = false
  const witness: Witness = {
    read: () => world.scheduler.call(owner, () => operator.witness),
    write: (seen) => world.scheduler.call(owner, () => writeWitness(operator, seen)),
  }
  const restored = createRestoredBackupCheck({
    ...around,
    witness,
    isWitnessApart: operator.isApart,
    store: { readPosition },
    checkpoint: {
      readHeight: () =>
        callStore(async () => {
          const height = await checkpoint.readHeight()
          isFirst = height === undefined
          return height
        }),
      isKnown: (key) => callStore(() => checkpoint.isKnown(key)),
      listPayees: () => callStore(() => checkpoint.listPayees()),
      addPayees: (payees) => callStore(() => checkpoint.addPayees(payees)),
      readAcceptanceTime: () => callStore(() => checkpoint.readAcceptanceTime()),
      recordAcceptance: (now) => callStore(() => checkpoint.recordAcceptance(now)),
      advanceTo: (height) =>
        callStore(() => {
          // If two servers make the first check in parallel, the larger height is used.
          if (isFirst) operator.firstLook = Math.max(operator.firstLook ?? 0, Number(height))
          return checkpoint.advanceTo(height)
        }),
    },
    payouts: {
      recordReference: (key, reference, now) => callStore(() => payouts.recordReference(key, reference, now)),
      findReference: (key) => callStore(() => payouts.findReference(key)),
      recordCredit: (unclaimed, tx, now) => callStore(() => payouts.recordCredit(unclaimed, tx, now)),
    },
  })
  return { restored, witnessing: createWitnessKeeper({ ...around, store: { readPosition }, witness }) }
}

/** Writes the position of the store to the witness, if there is one. */
export function writeWitness(operator: Operator, seen: StorePosition): void {
  if (operator.hasWitness) operator.witness = seen
}
