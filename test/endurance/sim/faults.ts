/** The possible faults around a purchase, and the probability of each in one history. */

import type { Prng } from '../../support/prng.ts'

const names = [
  'chainSilent', // the endpoint does not respond
  'chainLags', // the endpoint is some chain blocks behind
  'reorganise', // the newest chain blocks are replaced
  'chainStalls', // no chain blocks are produced for a while
  'logsNarrow', // the endpoint finds only events in the newest chain blocks
  'safeUnreadable', // the endpoint does not report its safe block
  'poolSlow', // a broadcast payment is mined only in a later chain block
  'poolDrops', // a broadcast is never mined
  'verifyDown', // the facilitator does not respond to a verify request
  'facilitatorBusy', // our own queue for the facilitator is full
  'verifyStale', // the facilitator verifies a payment that the chain would reject
  'blind', // the facilitator's own endpoint is down, so the facilitator reports signatures as invalid
  'settleUnsent', // the facilitator cannot be reached
  'requestLost', // a settle request is lost before the facilitator acts on it
  'answerLost', // the facilitator processes a settle request, but its response is lost
  'settledTwice', // a settle request arrives twice, and is broadcast twice
  'refusesGood', // the facilitator definitely rejects a valid payment, and does not broadcast it
  'refusesThenLands', // the facilitator definitely rejects a payment that it has broadcast
  'refusesVaguely', // the facilitator broadcasts a payment, then rejects it with an error that proves nothing
  'inventsHash', // the facilitator reports success without a broadcast
  'storeBusy', // the store is unavailable for the moment
  'storeFull', // the store can be read, but not written
  'storeBroken', // the disk fails at commit: after the restart, the writes may be stored or lost
  'crash', // the process crashes between two steps
  'freeze', // the process freezes for a while
  'hangUp', // a client disconnects before its response
  'answerLostOnTheWay', // a response is sent to a client that has disconnected
  'wrongTarget', // somebody sends a known payment for other blocks, again and again
  'clockSteps', // the server's clock is changed
  'othersBroadcast', // somebody broadcasts a payment they have seen
  'cancel', // a payer cancels an authorization
  'spendElsewhere', // a payer spends the nonce on another transfer
  'drain', // a payer empties the wallet
  'forge', // somebody forges a payer's signature
] as const

// Faults that can occur only if several servers share a store.
const sharedNames = [
  'leaseLapses', // another server takes a lease or an exclusive job whose holder still works
  'answerOfStoreLost', // a write is stored, but its response is lost
] as const

// Faults that were added later and occur only in some histories, so that all other histories stay as they were.
const ownNames = [
  'leaseUnknown', // the store cannot grant a lease for the moment
] as const

// Later faults that draw from their own random numbers, so that the histories of most seeds stay as they were.
const laterNames = [
  'broadcastsAtVerify', // a facilitator broadcasts a payment that it should only verify
  'bodyCut', // the body of a paid order is cut off, or arrives too slowly
] as const

export type Fault = (typeof names | typeof sharedNames | typeof ownNames | typeof laterNames)[number]

/** The probability of each fault at each moment when it could happen. */
export type Faults = Readonly<Record<Fault, number>>

/** A world in which everything works. */
export const NO_FAULTS: Faults = createFaults([...names, ...sharedNames, ...ownNames, ...laterNames], () => 0)

/** Draws a mixture of faults for one history, so that some histories have only a rare pair of faults. */
export const drawFaults = (prng: Prng): Faults => ({
  ...NO_FAULTS,
  ...createFaults(names, () => drawProbability(prng)),
})

/** Draws the faults that were added later. */
export const drawLaterFaults = (prng: Prng): Partial<Faults> => createFaults(laterNames, () => drawProbability(prng))

/** Draws the faults of histories with two servers, in which crashes are more likely. */
export const drawSharedFaults = (prng: Prng): Partial<Faults> => ({
  ...createFaults(sharedNames, () => (prng.nextBoolean(0.5) ? 0 : prng.pick([0.03, 0.1, 0.3]))),
  crash: prng.pick([0, 0.3, 0.6, 1]),
})

/** Draws the faults of histories that test the chain adapter. They are frequent, because the adapter is under test. */
export const drawChainFaults = (prng: Prng): Partial<Faults> =>
  createFaults(['chainLags', 'logsNarrow', 'safeUnreadable', 'reorganise'], () =>
    prng.nextBoolean(0.5) ? 0 : prng.pick([0.1, 0.3, 0.6]),
  )

const drawProbability = (prng: Prng) => (prng.nextBoolean(0.75) ? 0 : prng.pick([0.03, 0.1, 0.3, 0.6]))

function createFaults(all: readonly Fault[], probability: () => number): Faults {
  const entries = all.map((name) => [name, probability()] as const)
  return Object.fromEntries(entries) as Faults
}
