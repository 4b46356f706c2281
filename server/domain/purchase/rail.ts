/** Whether payments can be taken: a function of what probes of the facilitator and the chain found. */

import type { Rail } from '../../../shared/contract/service.ts'

/** What is known of the rail. */
export type RailFacts = {
  readonly fault: string | null // what the network answered that can never work
  readonly checked: boolean // facilitator and chain have answered a whole probe once
  readonly reconciled: boolean // purchases left open by an earlier run were looked at
  readonly stalled: boolean // the chain makes no blocks
  readonly failedProbes: number // in a row
  readonly failingForMs: number // how long probes have failed without one success
}

export const FAILED_PROBES_MAX = 5
export const FAILING_MAX_MS = 60_000

/** The state health shows. Only `armed` takes payments that were not seen before. */
export function railState(facts: RailFacts): Rail {
  if (facts.fault !== null) return 'misconfigured'
  if (!facts.checked || !facts.reconciled || facts.stalled) return 'arming'
  if (facts.failedProbes >= FAILED_PROBES_MAX || facts.failingForMs >= FAILING_MAX_MS) return 'arming'
  return 'armed'
}
