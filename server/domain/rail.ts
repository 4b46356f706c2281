/** Whether payments can be taken: a function of what was heard from the facilitator and the chain. */

import type { Rail } from '../../shared/contract/service.ts'

/** What is known of the rail. */
export type RailFacts = {
  readonly fault: string | null // what the network answered that can never work
  readonly checked: boolean // facilitator and chain have answered a whole probe once
  readonly reconciled: boolean // purchases left open by an earlier run were looked at
  readonly unusableInARow: number // answers to verify, /supported or the chain that told nothing
  readonly failingForMs: number // how long probes have failed without one success
}

export const UNUSABLE_MAX = 5
export const FAILING_MAX_MS = 60_000

/** The state health shows. Only `armed` takes payments that were not seen before. */
export function railState(facts: RailFacts): Rail {
  if (facts.fault !== null) return 'misconfigured'
  if (!facts.checked || !facts.reconciled) return 'arming'
  if (facts.unusableInARow >= UNUSABLE_MAX || facts.failingForMs >= FAILING_MAX_MS) return 'arming'
  return 'armed'
}
