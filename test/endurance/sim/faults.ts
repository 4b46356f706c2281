/** The possible faults around a purchase, and how often each occurs in one history. */

import type { Prng } from '../../support/prng.ts'

const names = [
  'chainSilent', // the endpoint does not respond
  'chainLags', // the endpoint is some blocks behind
  'reorganise', // the newest blocks are replaced
  'chainStalls', // no blocks are made for a while
  'logsNarrow', // the endpoint finds only events in the newest blocks
  'safeUnreadable', // the endpoint does not report its safe block
  'poolSlow', // a broadcast waits for a later block
  'poolDrops', // a broadcast is never mined
  'verifyDown', // verify does not respond
  'facilitatorBusy', // our own queue for the facilitator is full
  'verifyStale', // verify accepts a payment that the chain would reject
  'blind', // the facilitator's own endpoint is down, and it calls signatures bad
  'settleUnsent', // the facilitator cannot be reached
  'requestLost', // settle is cut off before it does anything
  'answerLost', // settle succeeds, and its response is lost
  'settledTwice', // a settle request arrives twice, and is broadcast twice
  'refusesGood', // a definite rejection of a valid payment, without a broadcast
  'refusesThenLands', // a definite rejection of a payment that was broadcast
  'refusesVaguely', // a rejection that proves nothing about a broadcast payment
  'inventsHash', // success without a broadcast
  'storeBusy', // the store is unavailable now
  'storeFull', // the store can be read, but not written
  'storeBroken', // the disk fails at commit: the writes may be there after the restart, or not
  'crash', // the process crashes between two steps
  'freeze', // the process stands still for a while
  'hangUp', // a client disconnects before its response
  'answerLostOnTheWay', // a response is sent to a client that has disconnected
  'wrongTarget', // somebody sends a known payment for other blocks, again and again
  'clockSteps', // the server's clock is changed
  'othersBroadcast', // somebody broadcasts a payment they have seen
  'cancel', // a payer cancels an authorization
  'spendElsewhere', // a payer spends the nonce on themselves
  'drain', // a payer empties the wallet
  'forge', // somebody signs in a payer's name
] as const

// Faults that only occur if several servers share a store.
const sharedNames = [
  'leaseLapses', // a lease or a turn ends while its holder still works
  'answerOfStoreLost', // a write is stored, and its response is lost
] as const

// Faults that occur only in separate histories, so that all other histories stay as they were.
const ownNames = [
  'leaseUnknown', // the store gives no lease for now
] as const

// Faults that were added later have their own random numbers, so that the histories of most seeds stay as they were.
const laterNames = [
  'broadcastsAtVerify', // a facilitator broadcasts what it is to verify
  'bodyCut', // the body of a paid order is cut, or comes too slowly
] as const

export type Fault = (typeof names | typeof sharedNames | typeof ownNames | typeof laterNames)[number]

/** Probability of each fault, where it could happen. */
export type Faults = Readonly<Record<Fault, number>>

/** A world in which everything works. */
export const NO_FAULTS: Faults = createFaults([...names, ...sharedNames, ...ownNames, ...laterNames], () => 0)

/** Each history has its own mixture, so that rare pairs of faults get histories to themselves. */
export const drawFaults = (prng: Prng): Faults => ({
  ...NO_FAULTS,
  ...createFaults(names, () => drawProbability(prng)),
})

/** Draws the faults that were added later. */
export const drawLaterFaults = (prng: Prng): Partial<Faults> => createFaults(laterNames, () => drawProbability(prng))

/** Draws the faults between servers; with two servers, crashes are more likely. */
export const drawSharedFaults = (prng: Prng): Partial<Faults> => ({
  ...createFaults(sharedNames, () => (prng.nextBoolean(0.5) ? 0 : prng.pick([0.03, 0.1, 0.3]))),
  crash: prng.pick([0, 0.3, 0.6, 1]),
})

/** Draws the faults of histories that test the chain adapter: many, because the adapter is the subject. */
export const drawChainFaults = (prng: Prng): Partial<Faults> =>
  createFaults(['chainLags', 'logsNarrow', 'safeUnreadable', 'reorganise'], () =>
    prng.nextBoolean(0.5) ? 0 : prng.pick([0.1, 0.3, 0.6]),
  )

const drawProbability = (prng: Prng) => (prng.nextBoolean(0.75) ? 0 : prng.pick([0.03, 0.1, 0.3, 0.6]))

function createFaults(all: readonly Fault[], probability: () => number): Faults {
  const entries = all.map((name) => [name, probability()] as const)
  return Object.fromEntries(entries) as Faults
}
