/** The service as a process of its own that looks more often and waits less, so that tests of outages are short. */

import { main } from '../../../server/main.ts'
import { TIMES } from '../../../server/times.ts'

const quarter = (waitsMs: readonly number[]) => waitsMs.map((ms) => ms / 4)

await main({
  ...TIMES,
  firstProbesEveryMs: 100,
  suspicionProbedAfterMs: 200,
  uneasyProbesEveryMs: 250,
  probesEveryMs: 400,
  probeTimeoutMs: 1000,
  probesDueEveryMs: 50,
  storeOpensWithinMs: 500,
  storeChecksEveryMs: 250,
  storeReadTimeoutMs: 700,
  // Longer than a commit is tried for: one that waits for a standby is told as that.
  databaseAnswerTimeoutMs: 3500,
  leaseMs: 3000,
  leaseRenewedEveryMs: 1000,
  unansweredPurchaseWaitsMs: TIMES.unansweredPurchaseWaitsMs.map((ms) => Math.min(ms, 300)),
  logPolledEveryMs: 200,
  publishedEveryMs: 100,
  settleGapMs: 500,
  settlementWaitsMs: quarter(TIMES.settlementWaitsMs),
  nextBlockWaitsMs: quarter(TIMES.nextBlockWaitsMs),
  chainCallTimeoutMs: 2000,
  chainLagWaitsMs: quarter(TIMES.chainLagWaitsMs),
  endpointRestMs: 500,
})
