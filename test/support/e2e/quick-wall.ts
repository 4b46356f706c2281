/** The service as a separate process with shorter intervals and time limits, so that tests of outages are short. */

import { main } from '../../../server/main.ts'
import { TIMES } from '../../../server/times.ts'
import { scaleLimit } from '../machine.ts'

const quarterWaits = (waitsMs: readonly number[]) => waitsMs.map((ms) => ms / 4)

/**
 * A time limit that grows with the slowness of the machine, but is never longer than `ownMs`, the service's own limit.
 */
const limitWait = (quietMs: number, ownMs: number) => Math.min(scaleLimit(quietMs), ownMs)

await main({
  ...TIMES,
  firstProbesEveryMs: 100,
  suspicionProbedAfterMs: 200,
  uneasyProbesEveryMs: 250,
  probesEveryMs: 400,
  probeTimeoutMs: limitWait(1000, TIMES.probeTimeoutMs),
  probesDueEveryMs: 50,
  storeOpensWithinMs: limitWait(500, TIMES.storeOpensWithinMs),
  storeChecksEveryMs: 250,
  storeReadTimeoutMs: limitWait(700, TIMES.storeReadTimeoutMs),
  // This is longer than the time limit of the write check, so that a wait for a standby is reported as such.
  databaseAnswerTimeoutMs: limitWait(3500, TIMES.databaseAnswerTimeoutMs),
  leaseMs: limitWait(3000, TIMES.leaseMs),
  leaseRenewedEveryMs: 1000,
  unansweredPurchaseWaitsMs: TIMES.unansweredPurchaseWaitsMs.map((ms) => limitWait(Math.min(ms, 300), ms)),
  logPolledEveryMs: 200,
  publishedEveryMs: 100,
  settleGapMs: 500,
  settlementWaitsMs: quarterWaits(TIMES.settlementWaitsMs),
  nextBlockWaitsMs: quarterWaits(TIMES.nextBlockWaitsMs),
  chainCallTimeoutMs: limitWait(2000, TIMES.chainCallTimeoutMs),
  chainLagWaitsMs: quarterWaits(TIMES.chainLagWaitsMs),
  endpointRestMs: 500,
})
