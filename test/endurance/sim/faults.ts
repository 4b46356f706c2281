/** What can go wrong around a purchase, and how often it does in one history. */

import type { Prng } from '../../support/prng.ts'

const names = [
  'chainSilent', // the endpoint does not answer
  'chainLags', // the endpoint is some blocks behind
  'reorganise', // the newest blocks are replaced
  'chainStalls', // no blocks are made for a while
  'logsNarrow', // the endpoint finds only what is in the newest blocks
  'safeUnreadable', // the endpoint does not tell which block is safe
  'poolSlow', // a broadcast waits for a later block
  'poolDrops', // a broadcast never lands
  'verifyDown', // verify is not answered
  'facilitatorBusy', // our own queue for the facilitator is full
  'verifyStale', // verify calls good what the chain would refuse
  'blind', // the facilitator's own endpoint is down, and it calls signatures bad
  'settleUnsent', // the facilitator cannot be reached
  'requestLost', // settle is hung up on before it does anything
  'answerLost', // settle does its work, and nobody hears of it
  'settledTwice', // what is to be settled arrives twice, and is broadcast twice
  'refusesGood', // a definite refusal of a good payment, nothing broadcast
  'refusesThenLands', // a definite refusal of what was broadcast
  'refusesVaguely', // a refusal that proves nothing of what was broadcast
  'inventsHash', // success, and nothing broadcast
  'storeBusy', // the store cannot be used now
  'storeFull', // the store can be read, and not written
  'storeBroken', // the disk fails at commit: what was written may be there after the restart, or not
  'crash', // the process dies between two steps
  'freeze', // the process stands still for a while
  'hangUp', // a client leaves before its answer
  'answerLostOnTheWay', // an answer is sent to a client that is not there any more
  'wrongTarget', // somebody sends a known payment for other blocks, again and again
  'clockSteps', // the server's clock is set
  'stranger', // somebody broadcasts a payment they have seen
  'cancel', // a payer cancels an authorization
  'spendElsewhere', // a payer spends the nonce on themselves
  'drain', // a payer empties the wallet
  'forge', // somebody signs in a payer's name
] as const

// What goes wrong only where several servers share a store.
const sharedNames = [
  'leaseLapses', // a lease or a turn ends while its holder is still at work
  'answerOfStoreLost', // a write is kept, and nobody hears of it
] as const

// What goes wrong in histories of its own only, so that all others stay as they were.
const ownNames = [
  'leaseUnknown', // the store gives no lease for now
] as const

// What was added later has its own dice, so that the histories of most seeds stay as they were.
const laterNames = [
  'broadcastsAtVerify', // a facilitator broadcasts what it is to verify
  'bodyCut', // the body of a paid order is cut, or comes too slowly
] as const

export type Fault = (typeof names | typeof sharedNames | typeof ownNames | typeof laterNames)[number]

/** Probability of each fault, where it could happen. */
export type Faults = Readonly<Record<Fault, number>>

/** A world in which everything works. */
export const NO_FAULTS: Faults = faultsFrom([...names, ...sharedNames, ...ownNames, ...laterNames], () => 0)

/** Each history has its own mixture, so that rare pairs of faults get histories to themselves. */
export const drawFaults = (prng: Prng): Faults => ({ ...NO_FAULTS, ...faultsFrom(names, () => drawn(prng)) })

/** What goes wrong of what was added later. */
export const drawLaterFaults = (prng: Prng): Partial<Faults> => faultsFrom(laterNames, () => drawn(prng))

/** What goes wrong between servers; where there are two, one of them may well die. */
export const drawSharedFaults = (prng: Prng): Partial<Faults> => ({
  ...faultsFrom(sharedNames, () => (prng.chance(0.5) ? 0 : prng.pick([0.03, 0.1, 0.3]))),
  crash: prng.pick([0, 0.3, 0.6, 1]),
})

/** What goes wrong where the adapter's own rules read the chain: much, as they are what is tried. */
export const drawChainFaults = (prng: Prng): Partial<Faults> =>
  faultsFrom(['chainLags', 'logsNarrow', 'safeUnreadable', 'reorganise'], () =>
    prng.chance(0.5) ? 0 : prng.pick([0.1, 0.3, 0.6]),
  )

const drawn = (prng: Prng) => (prng.chance(0.75) ? 0 : prng.pick([0.03, 0.1, 0.3, 0.6]))

function faultsFrom(all: readonly Fault[], probability: () => number): Faults {
  const entries = all.map((name) => [name, probability()] as const)
  return Object.fromEntries(entries) as Faults
}
