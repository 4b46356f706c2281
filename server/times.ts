/** Intervals and time limits of the service, in milliseconds. */

/** Operators cannot set these times. */
export const TIMES = {
  /**
   * Intervals of probes: before the first success, after a purchase failed, while something is wrong, and otherwise.
   */
  firstProbesEveryMs: 1000,
  // Anybody can make verifications fail, so a suspicion alone must not cause a flood of probes.
  suspicionProbedAfterMs: 2000,
  uneasyProbesEveryMs: 5000,
  // Together with the time limit of a probe, this interval ensures that an outage is reported within fifteen seconds.
  probesEveryMs: 8000,
  // This limit is short, so that an outage is known within seconds, however patient buyers are.
  probeTimeoutMs: 5000,
  /** How often to check whether a probe is due: a failed purchase makes one due earlier. */
  probesDueEveryMs: 1000,

  // A store normally opens within a second, but it cannot open while its database server waits for a missing standby.
  storeOpensWithinMs: 5000,
  storeChecksEveryMs: 2000,
  storeReadTimeoutMs: 2000,
  // This limit is for a database server that does not respond at all. The server's own time limits are shorter, so that
  // a server that still responds can say what happened.
  databaseAnswerTimeoutMs: 6000,

  // A lease outlasts a pause of some seconds in its process, but is short enough for the payers who wait after a crash.
  leaseMs: 15_000,
  leaseRenewedEveryMs: 5000,
  // In total, these waits are longer than the lease of a crashed process.
  unansweredPurchaseWaitsMs: [50, 100, 200, 400, 800, 1500, ...Array.from({ length: 8 }, () => 2000)],
  // A change whose notification is lost is seen within this time.
  logPolledEveryMs: 1000,

  // The contract allows the canvas read to be a few seconds old. This interval limits the cost of many repaints. It is
  // shorter than a second, so that several instances show a change within a second: each instance must receive and
  // compress the change.
  publishedEveryMs: 900,

  // One payment is settled again at most this often, however many copies of its request arrive.
  settleGapMs: 3000,
  // Public endpoints lag behind a facilitator's by up to a few seconds, so a fresh settlement is checked several times.
  settlementWaitsMs: [250, 250, 500, 1000, 1000],
  // Base makes a block every two seconds; waiting much longer for one makes no sense.
  nextBlockWaitsMs: [250, 250, 500, 1000, 1000, 1000, 1000, 1000, 1000, 1000],

  chainCallTimeoutMs: 3000,
  // A query takes several calls, and each may be made twice.
  chainDeadlineMs: 8000,
  chainLagWaitsMs: [150, 350, 500, 1000, 1000],
  /** How long an endpoint that returns 429 gets no calls, if its response gives no waiting time. */
  endpointRestMs: 5000,
}

/** Shorter times are for tests of whole processes. */
export type Times = Readonly<typeof TIMES>

/**
 * Returns the result of `work`, or `otherwise` if `work` takes longer than `ms` milliseconds. A later result is
 * ignored; the signal that `work` got is aborted, so that the work can stop early.
 */
export async function runWithTimeout<T>(ms: number, work: (late: AbortSignal) => Promise<T>, otherwise: T): Promise<T> {
  const late = new AbortController()
  let timer: Timer | undefined
  const deadline = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      late.abort()
      resolve(otherwise)
    }, ms)
  })
  try {
    return await Promise.race([work(late.signal), deadline])
  } finally {
    clearTimeout(timer)
  }
}
